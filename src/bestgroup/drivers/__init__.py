"""What runs an algorithm: live sessions, replay of tapes, exact and jump simulation."""

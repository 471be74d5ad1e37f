"""Simulation round by round, compiled."""

"""Simulation that jumps over the rounds in which nothing can happen."""

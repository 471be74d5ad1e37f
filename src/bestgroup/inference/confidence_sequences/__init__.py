"""Intervals for one arm and dim that hold at all times, one module per noise model."""

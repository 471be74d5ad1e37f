"""Adaptive for goals that compare weighted worths in one or several directions."""

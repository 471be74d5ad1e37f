"""Answers about data and algorithms: certify, plan, compare, calibrate."""

"""Pareto groups, more and more groups: the paper's first figure."""

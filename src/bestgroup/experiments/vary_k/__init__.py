"""Pareto groups, more and more arms a group: the paper's second figure."""

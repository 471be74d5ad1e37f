"""`adaptive` for Pareto groups."""

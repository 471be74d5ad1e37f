"""Random instances of a given shape, number of Pareto groups and least gap."""

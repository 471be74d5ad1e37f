"""Log e-values against comparisons of arms and of groups."""

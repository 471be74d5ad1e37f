"""`adaptive` for the best group."""

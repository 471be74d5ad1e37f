"""The best group for five weight vectors: the paper's table."""

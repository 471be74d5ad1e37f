"""Whole stories: a table from its first look to its certificate, with everything that agrees."""

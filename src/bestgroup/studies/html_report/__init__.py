"""A study as one HTML file: the answer, what it rests on, the figures, and a digest of the data."""

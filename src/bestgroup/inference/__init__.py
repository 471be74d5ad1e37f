"""What data prove: tallies, radii, confidence sequences, e-values, certificates."""

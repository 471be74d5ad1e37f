"""What a tally proves about every group, why, and what is missing."""

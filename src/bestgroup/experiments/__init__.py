"""The experiments of section 5 of the paper: what runs (sweep), how it is read (analysis)."""

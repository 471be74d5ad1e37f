"""bestgroup inside other tools; each module needs the extra of its name."""

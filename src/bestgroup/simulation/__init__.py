"""Drivers of known instances: replay on a tape, and simulation."""

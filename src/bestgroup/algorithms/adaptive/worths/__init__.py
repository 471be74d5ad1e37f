"""The part of `adaptive` that knows limits and every worth of a group."""

"""Observations from the files of other tools."""

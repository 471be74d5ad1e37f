"""Proof files: what an answer rests on, written down so that somebody else can check it."""

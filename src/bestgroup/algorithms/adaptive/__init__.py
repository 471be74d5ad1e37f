"""`adaptive`: sample where evidence is missing, stop when it is there."""

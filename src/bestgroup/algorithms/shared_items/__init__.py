"""The algorithms on shared items: every arm goes through the same items in the same order."""

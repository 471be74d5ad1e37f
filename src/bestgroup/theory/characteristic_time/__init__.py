"""T*: the least expected number of pulls of any algorithm, with a certified gap."""

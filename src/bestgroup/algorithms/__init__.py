"""Pure state machines, one file an algorithm; they import core only."""

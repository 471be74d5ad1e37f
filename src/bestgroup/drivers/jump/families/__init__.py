"""What each family of algorithms adds to the jump engine."""

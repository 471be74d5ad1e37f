"""TE+: triple elimination with radii of pairs."""

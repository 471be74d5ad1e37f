"""The paper's definitions, gaps and bounds, and the limit that no algorithm beats."""

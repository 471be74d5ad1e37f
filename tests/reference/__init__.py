"""An oracle for the product's algorithms and definitions that shares no code with them."""

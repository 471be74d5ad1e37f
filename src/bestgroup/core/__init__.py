"""The paper's definitions and theory: pure functions and kernels, no I/O, no clock, no draws."""

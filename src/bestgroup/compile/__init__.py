"""The kernel decorator and everything that touches the compiler's internals."""

"""What holds for all tests."""

import contextlib
import signal

# Jobs in the background of a shell ignore Ctrl-C, and so would all processes that tests start.
with contextlib.suppress(ValueError):  # not in the main thread
    signal.signal(signal.SIGINT, signal.default_int_handler)

"""What holds for all tests."""

import contextlib
import os
import signal

# Two files of this name cannot both be searched for doctests.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# Jobs in the background of a shell ignore Ctrl-C, and so would all processes that tests start.
with contextlib.suppress(ValueError):  # not in the main thread
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Studies that compile in the background would take the processors from other tests.
os.environ.setdefault("BESTGROUP_WARM", "off")

"""`few_collections`: fewer passes of Python's garbage collector while code is compiled.

The compiler makes millions of objects that live for a while, and every few hundred of them Python
looks for cycles, again and again in all that there is. A tenth of the time of a large kernel goes
into that, more in a process that holds much else; with rare looks fifty MB more are in use meanwhile.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_FEW = (200_000, 20, 50)  # new objects before a look, and how often older ones are looked at, too
_lock = threading.Lock()
_threads = 0
_before = gc.get_threshold()


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """Have the collector look rarely, until the last thread that asked for it is done."""
    global _threads, _before
    with _lock:
        _threads += 1
        if _threads == 1:
            _before = gc.get_threshold()
            if _before[0] > 0:  # 0: whoever runs this has turned it off
                gc.set_threshold(*(max(few, own) for few, own in zip(_FEW, _before, strict=True)))
    try:
        yield
    finally:
        with _lock:
            _threads -= 1
            if _threads == 0:
                gc.set_threshold(*_before)

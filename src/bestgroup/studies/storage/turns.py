"""A lock that is handed on in the order in which it was asked for.

SQLite lets one writer in and has the others look again after a while; whoever has just left comes
first. Within a process nobody is overtaken here.
"""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class Turns:
    """First come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._line: deque[threading.Event] = deque()

    def __enter__(self) -> Turns:
        with self._lock:
            if not self._taken:
                self._taken = True
                return self
            mine = threading.Event()
            self._line.append(mine)
        try:
            mine.wait()
        except BaseException:  # Ctrl-C while waiting: the turn goes to the next one
            with self._lock:
                left = mine in self._line
                if left:
                    self._line.remove(mine)
            if not left:
                self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._taken = False

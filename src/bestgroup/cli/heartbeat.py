"""A line at a terminal whenever a command works on without saying anything: nobody waits in silence.

Imports, compilation and drawing take seconds, more where other work shares the machine. So the line
comes from here, and not from each command: a thread looks when something was last written, and whether
the process has used the processor since. Where it has not, it waits for somebody, and nothing is said.
What is written next takes the line away.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

SILENCE = 1.2  # seconds after which the line comes
_BUSY = 0.01  # seconds of the processor since the last look that are work
_CLEAR = "\r\x1b[2K"
_AT_START = (
    "\n",
    "\r",
    "\x1b[2K",
    "\x1b[K",
    "\x1b[?25h",
)  # what leaves the cursor where lines begin


class _Watched:
    """A stream of a terminal that notes when it is written to."""

    def __init__(self, stream: TextIO, heart: Heart) -> None:
        self._stream, self._heart = stream, heart

    def write(self, text: str) -> int:
        """Write a text, in place of the line if that is there."""
        if os.getpid() != self._heart.pid:  # forked off: who held the lock there is not here
            return self._stream.write(text)
        with self._heart.lock:
            self._heart.note(text)
            return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Heart:
    """Writes the line, and takes it away."""

    def __init__(self, screen: TextIO, silence: float) -> None:
        self.lock, self.pid = threading.RLock(), os.getpid()
        self._screen, self._silence = screen.fileno(), silence
        self._begun = self._written = time.monotonic()
        self._used = time.process_time()
        self._shown, self._free = False, True  # whether the cursor is where lines begin
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def note(self, text: str) -> None:
        """Take the line away before a text, which is about to be written."""
        if self._shown:
            self._show(_CLEAR)
            self._shown = False
        if text:
            self._written, self._free = time.monotonic(), text.endswith(_AT_START)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Take the line away for good."""
        self._over.set()
        self._thread.join()
        with self.lock:
            self.note("")

    def _run(self) -> None:
        while not self._over.wait(self._silence / 4):
            with self.lock:
                self._look()

    def _look(self) -> None:
        used, now = time.process_time(), time.monotonic()
        busy, self._used = used - self._used > _BUSY * self._silence, used
        if now - self._written < self._silence or not self._free:
            return
        if busy and self._is_in_front():
            self._shown = True
            self._show(f"{_CLEAR}bestgroup: at work, {now - self._begun:.0f} s")
        else:
            self.note("")

    def _show(self, text: str) -> None:
        """Write to the screen itself: nothing of it is left in a stream if the terminal has gone."""
        try:
            os.write(self._screen, text.encode())
        except OSError:
            self._over.set()

    def _is_in_front(self) -> bool:
        """Return whether the terminal is ours: of a job in the background it is somebody else's."""
        try:
            return os.tcgetpgrp(self._screen) == os.getpgrp()
        except (AttributeError, OSError):  # Windows; not the terminal that we were started from
            return True


@contextmanager
def heartbeat(silence: float = SILENCE) -> Iterator[None]:
    """Say that work goes on after so many seconds without output, at a terminal."""
    out, err = sys.stdout, sys.stderr
    dumb = os.environ.get("TERM") == "dumb"  # it would show what takes the line away
    if err is None or dumb or not err.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        yield
        return
    heart = Heart(err, silence)
    sys.stderr = watched = _Watched(err, heart)  # type: ignore[assignment]
    if out is not None and out.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = _Watched(out, heart)  # type: ignore[assignment]
    heart.start()
    try:
        yield
    finally:
        heart.stop()
        if sys.stderr is watched:
            sys.stderr = err
        if isinstance(sys.stdout, _Watched):
            sys.stdout = out

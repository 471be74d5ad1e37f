"""A progress bar with rate and time left, on the standard error of a terminal or in a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from bestgroup.simulation.notebook import NotebookLine, in_notebook, shows_progress

_EVERY = 0.2  # seconds between two lines in a notebook


class Progress:
    """Counts finished pieces of work; shows a bar if asked to, or where people look."""

    def __init__(self, total: int, label: str, show: bool | None = None) -> None:
        self._total, self._label = total, label
        self._show = shows_progress(show)
        self._bar: Any = None
        self._task: Any = None
        self._line: NotebookLine | None = None
        self._done, self._begun, self._written = 0, time.monotonic(), 0.0

    def __enter__(self) -> Progress:
        if not self._show:
            return self
        if in_notebook():
            self._line = NotebookLine()
            return self
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            ProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar
        from rich.text import Text

        class Rate(ProgressColumn):
            """Pieces a second."""

            def render(self, task: Any) -> Text:
                return Text(f"{task.speed:,.1f}/s" if task.speed else "")

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            Rate(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._label, total=self._total)
        return self

    def advance(self, pieces: int) -> None:
        """Count finished pieces."""
        if self._bar is not None:
            self._bar.update(self._task, advance=pieces)
        self._done += pieces
        now = time.monotonic()
        if self._line is not None and now - self._written > _EVERY:
            self._written = now
            rate = self._done / max(now - self._begun, 1e-9)
            words = f"{self._label}: {self._done:,} of {self._total:,}, {rate:,.1f}/s"
            self._line.show(words, self._done / max(self._total, 1))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._line is not None:
            self._line.clear()


@contextmanager
def narrowing(label: str, show: bool | None = None) -> Iterator[Callable[[float], None] | None]:
    """Show how far a search has come that does not know its length; yields what takes the present gap."""
    if not shows_progress(show):
        yield None
        return
    if in_notebook():
        line = NotebookLine()
        yield lambda gap: line.show(f"{label}: bounds {gap:.2%} apart")
        line.clear()
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label)
        yield lambda gap: bar.update(task, description=f"{label}: bounds {gap:.2%} apart")

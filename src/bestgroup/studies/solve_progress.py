"""What `solve` shows while it runs: what is proven, the rate, and about how many pulls are left."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import Any

from bestgroup.simulation.notebook import NotebookLine, in_notebook, shows_progress
from bestgroup.studies.catalog import Study

_EVERY = 0.5  # seconds between two looks
_FORECAST = 5.0  # seconds between two forecasts, which read all statistics


class SolveProgress:
    """A line on the standard error of a terminal, or in the output of a notebook's cell."""

    def __init__(self, study: Study, show: bool | None, budget: int | None) -> None:
        self._study, self._budget = study, budget
        self._show = shows_progress(show)
        self._bar: Any = None
        self._task: Any = None
        self._line: NotebookLine | None = None
        self._begun = time.monotonic()
        self._looked = self._foreseen = -math.inf
        self._left: float | None = None
        self._before = study.status(forecast=False).told if self._show else 0

    def __enter__(self) -> SolveProgress:
        if self._show and in_notebook():
            self._line = NotebookLine()
        elif self._show:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("starting", total=None)
        return self

    def update(self) -> None:
        """Look at the study, if the last look is long enough ago."""
        now = time.monotonic()
        if not self._show or now - self._looked < _EVERY:
            return
        self._looked = now
        foresee = now - self._foreseen > _FORECAST
        status = self._study.status(forecast=foresee)
        if foresee:
            self._foreseen, self._left = now, status.forecast
        # What was told before this call took other time.
        rate = (status.told - self._before) / max(now - self._begun, 1e-9)
        words = (
            f"{status.told:,} pulls ({rate:,.0f}/s)  in {status.groups_in}, out {status.groups_out}, "
            f"undecided {status.undecided}"
        )
        total = None
        if self._left is not None and math.isfinite(self._left):
            words += f"  about {self._left:,.0f} more"
            if rate > 0:
                words += f", {duration(self._left / rate)}"
            total = status.told + self._left
        if self._budget is not None:
            total = min(self._budget, total or self._budget)
        if self._line is not None:
            self._line.show(words, status.told / total if total else None)
        elif self._bar is not None:
            self._bar.update(self._task, description=words, completed=status.told, total=total)

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


def duration(seconds: float) -> str:
    """Return a time that is left, for people.

    >>> duration(42.0), duration(600.0), duration(9000.0), duration(4e5)
    ('42 s', '10 min', '2.5 h', '4.6 days')
    """
    for size, unit in ((86400.0, "days"), (3600.0, "h")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 100 else f"{seconds:.0f} s"

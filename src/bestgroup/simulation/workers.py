"""Runs spread over processes or a cluster, through joblib, and written down as they finish."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from bestgroup.errors import BestGroupError, InvalidInput
from bestgroup.problem.arrays import positive_int
from bestgroup.simulation.clusters import backend, gives_back_early
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.results import open_results
from bestgroup.simulation.runs import Job, Runs, join

T = TypeVar("T")
R = TypeVar("R")
Piece = tuple[int, int]  # first run, number of runs
_TRIES = 4  # how often runs are handed out again when worker processes die


def check_workers(workers: Any) -> int | str:
    """Return `workers` if it is a number of processes or the address of a cluster."""
    if isinstance(workers, str):
        scheme, _, rest = workers.partition("://")
        if scheme in ("dask", "ray") and rest:
            return workers
        raise InvalidInput(
            "workers must be a number of processes, 'dask://host:port' or 'ray://host:port'; "
            f"got {workers!r}"
        )
    return positive_int(workers, "workers")


def collect_runs(
    job: Job, total: int, workers: int | str, bar: Progress, path: str | PathLike[str] | None
) -> Runs:
    """Return runs 0, ..., total - 1 of a job; those in the file at `path` are not done again."""
    if path is None:
        done = dict(_spread(job, _pieces(0, total, workers), workers, bar))
        return join([done[piece] for piece in sorted(done)])
    with open_results(path, job) as file:
        missing = file.missing(total)
        bar.advance(total - len(missing))
        pieces = [
            piece
            for first, last in _stretches(missing)
            for piece in _pieces(first, last + 1, workers)
        ]
        for piece, runs in _spread(job, pieces, workers, bar):
            file.append(piece[0], runs)
        return file.read(total)


def _pieces(first: int, stop: int, workers: int | str) -> list[Piece]:
    """Return pieces of work: large enough to amortise, small enough to share and to report."""
    share = 8 * workers if isinstance(workers, int) else 64
    size = max(1, min(1000, (stop - first) // share))
    return [(k, min(size, stop - k)) for k in range(first, stop, size)]


def _stretches(indices: Any) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of consecutive indices."""
    if len(indices) == 0:
        return
    breaks = np.flatnonzero(np.diff(indices) != 1)
    starts = np.concatenate([[0], breaks + 1])
    stops = np.concatenate([breaks, [len(indices) - 1]])
    for a, b in zip(starts, stops, strict=True):
        yield int(indices[a]), int(indices[b])


def _spread(
    job: Job, pieces: list[Piece], workers: int | str, bar: Progress
) -> Iterator[tuple[Piece, Runs]]:
    """Yield each piece with its runs, in any order."""
    for piece, runs in each(partial(_work, job), pieces, workers):
        bar.advance(piece[1])
        yield piece, runs


def _work(job: Job, piece: Piece) -> Runs:
    return job.chunk(*piece)


def each(
    function: Callable[[T], R], items: Sequence[T], workers: int | str
) -> Iterator[tuple[T, R]]:
    """Yield each item with function(item), in any order; a dead worker's items are done again."""
    if workers == 1 or (isinstance(workers, int) and len(items) == 1):
        for item in items:
            yield item, function(item)
        return
    left = list(items)
    for attempt in range(_TRIES):
        try:
            for item, result in _parallel(function, list(left), workers):
                left.remove(item)
                yield item, result
            return
        except (BestGroupError, KeyboardInterrupt):
            raise
        except Exception as error:
            # A process that was killed takes its items along; they give the same when done again.
            if not _is_death(error):
                raise
            if attempt == _TRIES - 1:
                raise BestGroupError(
                    f"worker processes died {_TRIES} times, the last with {type(error).__name__}; "
                    "they may lack memory: try fewer workers"
                ) from None
            forget_processes()


def _parallel(
    function: Callable[[T], R], items: list[T], workers: int | str
) -> Iterator[tuple[T, R]]:
    from joblib import Parallel, delayed

    with backend(workers) as count:
        if not gives_back_early(workers):
            yield from _in_portions(function, items, count)
            return
        parallel = Parallel(n_jobs=count, return_as="generator_unordered")
        finished: Any = parallel(delayed(_paired)(function, item) for item in items)
        try:
            for pair in finished:  # noqa: UP028  (`yield from` would close it before the filter)
                yield pair
        except GeneratorExit:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of work given up, as is meant
                finished.close()
            raise


def _in_portions(function: Callable[[T], R], items: list[T], count: int) -> Iterator[tuple[T, R]]:
    """Yield as `_parallel` does, where results come back all at once: a few items at a time."""
    from joblib import Parallel, delayed, effective_n_jobs

    size = 2 * effective_n_jobs(count)
    with Parallel(n_jobs=count) as parallel:
        for first in range(0, len(items), size):
            work = (delayed(_paired)(function, item) for item in items[first : first + size])
            pairs: Any = parallel(work)
            yield from pairs


def _paired(function: Callable[[T], R], item: T) -> tuple[T, R]:
    return item, function(item)


def _is_death(error: Exception) -> bool:
    """Return whether an error says that a worker process has gone."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(
        names
        & {
            "TerminatedWorkerError",
            "BrokenProcessPool",
            "KilledWorker",
            "CancelledError",
            "CommClosedError",
            "RayActorError",
            "WorkerCrashedError",
        }
    )


def forget_processes() -> None:
    """End this computer's worker processes, which are at rest or have failed, without waiting."""
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(loky, "_executor", None)  # asking for it would make another one
    if executor is not None:
        with contextlib.suppress(Exception):
            executor.shutdown(wait=False, kill_workers=True)

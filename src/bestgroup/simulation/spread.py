"""Runs spread over processes or a cluster, through joblib, and written down as they finish."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from bestgroup.core.arrays import positive_int
from bestgroup.errors import BestGroupError, InvalidInput, Unreachable
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.results import open_results
from bestgroup.simulation.runs import Job, Runs, join

T = TypeVar("T")
R = TypeVar("R")
Piece = tuple[int, int]  # first run, number of runs
_TRIES = 4  # how often runs are handed out again when worker processes die
CLUSTER_WAIT = 15.0  # seconds for a cluster to answer


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
            _forget_processes()


def _parallel(
    function: Callable[[T], R], items: list[T], workers: int | str
) -> Iterator[tuple[T, R]]:
    from joblib import Parallel, delayed

    with _backend(workers) as count:
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
        }
    )


def _forget_processes() -> None:
    with contextlib.suppress(Exception):
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=False, kill_workers=True)


@contextlib.contextmanager
def _backend(workers: int | str) -> Iterator[int]:
    """Set joblib's backend and yield its number of jobs."""
    if isinstance(workers, int):
        yield workers
        return
    scheme, _, address = workers.partition("://")
    with (_dask if scheme == "dask" else _ray)(address):
        yield -1


@contextlib.contextmanager
def _dask(address: str) -> Iterator[None]:
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInput("workers='dask://...' needs pip install 'bestgroup[dask]'") from None
    from joblib import parallel_config

    target = address if "://" in address else f"tcp://{address}"
    try:
        client = Client(target, timeout=CLUSTER_WAIT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise Unreachable(
            f"no Dask scheduler answers at {target} ({type(error).__name__}); "
            "check the address, or give a number of processes as workers"
        ) from None
    try:
        _await_worker(client, target)
        with parallel_config(backend="dask", client=client):
            yield
    finally:
        client.close()


def _await_worker(client: Any, target: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CLUSTER_WAIT)
    except TimeoutError:
        raise Unreachable(
            f"the Dask cluster at {target} has no workers; start some, or give a number of "
            "processes as workers"
        ) from None


@contextlib.contextmanager
def _ray(address: str) -> Iterator[None]:
    try:
        import ray  # pyright: ignore[reportMissingImports]
        from ray.util.joblib import register_ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InvalidInput("workers='ray://...' needs pip install 'bestgroup[ray]'") from None
    from joblib import parallel_config

    try:
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise Unreachable(
            f"no Ray cluster answers at {address} ({type(error).__name__}); "
            "check the address, or give a number of processes as workers"
        ) from None
    register_ray()
    with parallel_config(backend="ray"):
        yield

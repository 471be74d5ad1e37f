"""Clusters as joblib's backends: Dask and Ray."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

from bestgroup.errors import InvalidInput, Unreachable

CLUSTER_WAIT = 15.0  # seconds for a cluster to answer


def gives_back_early(workers: int | str) -> bool:
    """Return whether results come back one by one; Ray's backend gives them all at once."""
    return not str(workers).startswith("ray://")


@contextlib.contextmanager
def backend(workers: int | str) -> Iterator[int]:
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

    ours = not ray.is_initialized()
    try:
        if ours:
            _knock(address)
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError) as error:
        raise Unreachable(
            f"no Ray cluster answers at {address} ({type(error).__name__}); give the address that "
            "'ray start --head' prints, on a machine of the cluster, or a number of processes"
        ) from None
    try:
        register_ray()
        with parallel_config(backend="ray"):
            yield
    finally:
        if ours:
            ray.shutdown()


def _knock(address: str) -> None:
    """Raise an OSError if nobody listens at host:port; Ray itself would try for a minute."""
    host, colon, port = address.rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CLUSTER_WAIT).close()

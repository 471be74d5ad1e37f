"""What holds for all tests."""

import contextlib
import gc
import os
import signal

import pytest

# Two files of this name cannot both be searched for doctests.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# Jobs in the background of a shell ignore Ctrl-C, and so would all processes that tests start.
with contextlib.suppress(ValueError):  # not in the main thread
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Studies that compile in the background would take the processors from other tests.
os.environ.setdefault("BESTGROUP_WARM", "off")

# There is a process for each processor: threads of linear algebra would only wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a process a file at a time, and those of the browser at once: they share a server."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid):
            folder = "tests/browser"
            return folder if nodeid.startswith(f"{folder}/") else super()._split_scope(nodeid)

    return OneBrowser(config, log)


@pytest.fixture(scope="module", autouse=True)
def no_algorithm_stays():
    """Forget the algorithms that a file of tests has registered."""
    from bestgroup.algorithms import registry

    before = {name: dict(kinds) for name, kinds in registry._registered.items()}
    yield
    registry._registered.clear()
    registry._registered.update(before)


@pytest.fixture(autouse=True)
def what_stays_is_searched_once():
    """Have the garbage collector pass over what is there after a test in which it searched all.

    The compiler leaves millions of objects. Each search through them takes more than a second, in
    whatever test it falls; what a test has left behind is still found, here.
    """
    before = searches()
    yield
    if searches() > before:
        gc.collect()
        gc.freeze()


def searches():
    """Return how often the garbage collector has searched everything."""
    return gc.get_stats()[2]["collections"]

"""kill -9 of workers, and of the server, at random moments: nothing lost, nothing twice."""

import pytest

from crash.laboratory import ALONE, ON_ITEMS, Trial, undisturbed
from servers import Server, storage

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def wanted():
    return undisturbed()


def kill_workers(kind, kills, folder, wanted, setting=ALONE):
    done, seed = 0, 0
    while done < kills:
        trial = Trial(storage(kind, folder), folder, seed, setting)
        while done < kills and trial.running():
            trial.kill_one()
            done += 1
        trial.finish()
        trial.check(wanted)
        seed += 1


def kill_server(kills, folder, wanted):
    """The server dies in the middle of transactions and comes back; workers wait for it."""
    server = Server()
    done, seed = 0, 0
    while done < kills:
        trial = Trial(server.database(), folder, 100 + seed)
        while done < kills and trial.running():
            trial.kill_one()
            server.kill()
            server.start()
            done += 2
        trial.finish()
        trial.check(wanted)
        seed += 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_workers(kind, tmp_path, wanted):
    kill_workers(kind, 10, tmp_path, wanted)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_workers_on_shared_items(kind, tmp_path):
    kill_workers(kind, 6, tmp_path, undisturbed(ON_ITEMS), ON_ITEMS)


def test_killed_server(tmp_path, wanted):
    kill_server(4, tmp_path, wanted)


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_workers_killed_two_hundred_times(kind, tmp_path, wanted):
    kill_workers(kind, 200, tmp_path, wanted)


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_workers_on_shared_items_killed_a_hundred_times(kind, tmp_path):
    kill_workers(kind, 100, tmp_path, undisturbed(ON_ITEMS), ON_ITEMS)


@pytest.mark.verify
def test_server_killed_many_times(tmp_path, wanted):
    kill_server(40, tmp_path, wanted)

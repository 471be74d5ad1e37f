"""A study to try things on, and a worker inside the server that measures for it.

The groups are the vaccines of the COV-BOOST trial, an arm is a dose after a prime, and a value is a
draw with the trial's means and variances. The worker is like any other: it asks, draws by the
ticket's seed, and tells, a little at a time so that one can watch.
"""

from __future__ import annotations

import logging
import threading
from functools import cache

import numpy as np

from bestgroup.analysis.datasets import cov_boost
from bestgroup.errors import BestGroupError, InvalidInput
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.instance import Instance
from bestgroup.problem.problem import Problem
from bestgroup.service.hub import Hub, Watched
from bestgroup.studies.catalog import create_study

log = logging.getLogger("bestgroup.service")
NAME = "demo: booster vaccines"
OWNER = "the server's own worker"
PACE = 0.2  # seconds between two tells
PULLS = 24  # at a time
MOST = 20  # demo studies that get a name
EPSILON, DELTA = 0.3, 0.05


@cache
def truth() -> Instance:
    """Return the trial by vaccine."""
    return cov_boost(group_by="vaccine")


def demo_problem() -> Problem:
    """Return the demo's problem."""
    known = truth()
    groups = dict(zip(known.groups, map(list, known.arms), strict=True))
    return Problem(groups, dict.fromkeys(known.dims, "max"), noise=known.noise)


def make_demo(hub: Hub) -> str:
    """Create a demo study and return its name, which is new."""
    taken = {row.name for row in hub.listed()}
    names = [NAME, *(f"{NAME} {k}" for k in range(2, MOST + 1))]
    name = next((name for name in names if name not in taken), None)
    if name is None:
        raise InvalidInput(f"there are {MOST} demo studies already; remove one first")
    goal = ParetoGroups(EPSILON)
    rest = {"algorithm": "adaptive", "batch": PULLS, "seed": len(taken)}
    create_study(name, demo_problem(), goal, DELTA, hub.store, **rest)
    hub.refresh()
    return name


class DemoWorkers:
    """The built-in workers of one server, at most one for each study."""

    def __init__(self, closing: threading.Event) -> None:
        self._closing, self._lock = closing, threading.Lock()
        self._at_work: set[str] = set()

    def start(self, watched: Watched) -> None:
        """Have a worker measure for a demo study, unless one does."""
        if not self.knows(watched):
            raise InvalidInput(f"{watched.study.name!r} is no demo study: start a worker for it")
        name = watched.study.name
        with self._lock:
            if name in self._at_work:
                return
            self._at_work.add(name)
        threading.Thread(target=self._work, args=(watched,), daemon=True).start()

    @staticmethod
    def knows(watched: Watched) -> bool:
        """Return whether a study has the demo's name, groups, arms and dims."""
        own = watched.study
        return own.name.startswith(NAME) and own.problem.to_dict() == demo_problem().to_dict()

    def works(self, name: str) -> bool:
        """Return whether a worker is at work."""
        with self._lock:
            return name in self._at_work

    def _work(self, watched: Watched) -> None:
        try:
            while not self._closing.wait(PACE) and work_once(watched):
                pass
        except BestGroupError as error:  # most likely the study was removed
            log.info("the demo's worker has stopped: %s", error)
        except Exception:
            log.exception("demo")
        finally:
            with self._lock:
                self._at_work.discard(watched.study.name)


def work_once(watched: Watched) -> bool:
    """Ask, draw and tell once; returns whether the study goes on."""
    study, known = watched.study, truth()
    tickets = study.ask(PULLS, owner=OWNER, lease=60.0)
    if not tickets:
        return watched.head().state == "running"
    pairs = []
    for ticket in tickets:
        i, j = study.problem.index(ticket.group, ticket.arm)
        mean = known.means[i][j]
        rows = [known.law.sample(np.random.default_rng(s), mean, 1)[0] for s in ticket.seeds]
        pairs.append((ticket, rows))
    watched.activity.note(OWNER, study.tell_many(pairs))
    return True

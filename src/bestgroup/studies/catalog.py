"""Live studies: `create_study`, `load_study`, and what one can do with a `Study`.

A study is a problem, a question and an algorithm in a storage. Any number of processes ask it for
tickets and tell it values; whoever completes a plan steps the algorithm and writes the next tickets
in the same transaction. What was told is never lost and never counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bestgroup._version import __version__
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import check_writable, replacing
from bestgroup.problem.arrays import probability, seed_of
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.problem import Problem
from bestgroup.studies.log import last_told
from bestgroup.studies.roster import check_reserved
from bestgroup.studies.runner import Runner
from bestgroup.studies.spec import StudySpec, choose
from bestgroup.studies.storage import backup, open_store, restore
from bestgroup.studies.storage.records import Head
from bestgroup.studies.study import Study, note

MOST_PAIRS = 200_000_000  # of groups, times dims: 200 MB for each set of them
STORAGE = "sqlite:///bestgroup.db"  # in the folder of the process

__all__ = [
    "Study",
    "audit_trail",
    "backup_studies",
    "create_study",
    "delete_study",
    "list_studies",
    "load_study",
    "restore_studies",
]


def create_study(
    name: str,
    problem: Problem,
    goal: Goal,
    delta: float = 0.05,
    storage: Any = STORAGE,
    *,
    algorithm: str | Algorithm = "auto",
    batch: Any = None,
    horizon: int = 0,
    seed: int = 0,
    who: str | None = None,
) -> Study:
    """Return a new study in a storage: "sqlite:///FILE", "postgresql://..." or "memory".

    `batch` is how many pulls an adaptive algorithm plans at a time; the others plan rounds.
    `horizon` is how many pulls of each planned arm may be handed out beyond the plan, so that no
    worker waits at a round's end: pulls that may turn out not to be needed. `seed` is the root of
    the tickets' seeds. All of this is pinned, with the version of the algorithm. `who` stands in
    the audit trail, by default the user of this process.

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> from bestgroup.problem.noise import Bounded
    >>> problem = Problem({"A": ["a1"], "B": ["b1"]}, {"profit": "max"}, Bounded(0, 1))
    >>> study = create_study("doctest", problem, ParetoGroups(0.5), 0.1, "memory", algorithm="te")
    >>> [(ticket.group, ticket.arm, ticket.index) for ticket in study.ask(8)]
    [('A', 'a1', 0), ('B', 'b1', 0)]
    >>> delete_study("doctest", "memory")
    """
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise InvalidInput("a study's name must be a text of 1 to 200 characters")
    if not isinstance(problem, Problem):
        raise InvalidInput(f"a Problem is needed; got {type(problem).__name__}")
    goal = check_goal(goal, [dim.name for dim in problem.decided])
    _check_pairs(problem)
    if isinstance(horizon, bool) or not isinstance(horizon, int) or not 0 <= horizon <= 10**6:
        raise InvalidInput(f"horizon must be an integer from 0 to 10**6; got {horizon!r}")
    level = probability(delta)
    chosen = choose(algorithm, Setting.of(problem, goal, level), batch)
    check_reserved(problem, goal, chosen)
    spec = StudySpec(
        name=name,
        problem=problem,
        goal=goal,
        delta=level,
        algorithm=chosen.name,
        algorithm_version=chosen.version,
        options=chosen.options(),
        horizon=horizon,
        seed=seed_of(seed),
        library=__version__,
        guarantee=asdict(chosen.guarantee(Setting.of(problem, goal, level))),
    )
    head, slots, entries = Runner(spec).first()
    store = open_store(storage, create=True)
    key = store.create(name, spec.to_json(), head, slots, entries)
    note(store, who, "create", (name, key), f"{problem.shape.groups} groups, {chosen}")
    return Study(store, key, spec)


def _check_pairs(problem: Problem) -> None:
    """Refuse more groups than can be compared with each other: before anything is stored."""
    groups, dims = problem.shape.groups, problem.shape.dims
    if groups * groups * dims > MOST_PAIRS:
        most = math.isqrt(MOST_PAIRS // dims)
        raise InvalidInput(
            f"a study compares all groups with each other: with {dims} dims it takes up to {most:,} "
            f"groups; got {groups:,}"
        )


def load_study(name: str, storage: Any = STORAGE) -> Study:
    """Return a study that was created before, here or by another process."""
    store = open_store(storage)
    key, spec = store.find(name)
    return Study(store, key, StudySpec.from_json(spec))


def glance_study(name: str, storage: Any = STORAGE) -> tuple[StudySpec, Head, float | None]:
    """Return what a study is pinned to, where it stands and when it was told last; cheap."""
    store = open_store(storage)
    key, spec = store.find(name)
    head, last = store.read(key, lambda session: (session.head, last_told(session)))
    return StudySpec.from_json(spec).at(head), head, last


def list_studies(storage: Any = STORAGE) -> list[dict[str, Any]]:
    """Return name, state and numbers of every study in a storage."""
    return [row._asdict() for row in open_store(storage).listed()]


def backup_studies(path: Any, storage: Any = STORAGE, names: Sequence[str] = ()) -> list[str]:
    """Copy studies, all of them or those named, into one file while workers go on; returns names.

    The file is an SQLite storage of its own: it can be opened, looked at and restored from. Nothing
    else is a copy of a study that is open: what was told last is not in the database's main file.
    """
    file = check_writable(Path(path))
    with replacing(file) as temporary:
        temporary.unlink()
        return backup(open_store(storage), temporary, names)


def restore_studies(
    path: Any, storage: Any = STORAGE, names: Sequence[str] = (), *, replace: bool = False
) -> list[str]:
    """Put the studies of a backup into a storage, all or none; returns their names.

    A study of the same name is refused unless `replace` says that it goes.
    """
    return restore(open_store(storage, create=True), Path(path), names, replace)


def delete_study(
    name: str, storage: Any = STORAGE, *, identity: str | None = None, who: str | None = None
) -> None:
    """Remove a study and all that was told it; only that of an identity, if one is given."""
    store = open_store(storage)
    key, _ = store.find(name)
    store.delete(name, identity or key)
    note(store, who, "delete", (name, identity or key))


def audit_trail(storage: Any = STORAGE, most: int = 1000) -> list[dict[str, Any]]:
    """Return who created, deleted or imported what, the newest first."""
    return [event._asdict() for event in open_store(storage).trail(most)]

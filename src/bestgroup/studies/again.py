"""`certify_as_study`: what an algorithm decides from rows that a study was told.

The proof of `certify` does not know who collected the rows, and may leave open what a study has decided
from them. What an algorithm decides depends on nothing but each arm's values in their order: given the
same rows it decides the same, with the same proof.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bestgroup.algorithms.protocol import Algorithm
from bestgroup.analysis.certify import Certificate
from bestgroup.files.observations import Table
from bestgroup.problem.goals import Goal
from bestgroup.problem.problem import Problem
from bestgroup.studies.catalog import create_study
from bestgroup.studies.storage.memory import MemoryStore
from bestgroup.studies.table import INDEX

FIXED = "the algorithm, its options and the seed were fixed before the values were seen"


def certify_as_study(
    observations: Any,
    goal: Goal,
    problem: Problem,
    delta: float = 0.05,
    algorithm: str | Algorithm = "auto",
    *,
    batch: Any = None,
    seed: int = 0,
    columns: Any = None,
) -> Certificate:
    """Return what a study with this algorithm decides from these rows, and what they prove beyond it.

    The rows are those of a study (`export`, `Solution.save`), or any table that `certify` takes: the
    algorithm is given each arm's values in their order, and takes as many as it asks for. Of an
    exported table, with the algorithm, `batch` and seed of its study, it decides what the study did.
    The seed matters where arms share items, whose order it draws.

    >>> import bestgroup as bg
    >>> problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(1.0))
    >>> found = bg.solve(problem, bg.BestGroup([1]), lambda group, arm: {"a": 5.0, "b": 0.0}[arm])
    >>> certify_as_study(found.to_frame(), bg.BestGroup([1]), problem).accepted
    ('A',)
    """
    study = create_study(
        "rows", problem, goal, delta, MemoryStore(), algorithm=algorithm, batch=batch, seed=seed
    )
    by_index = _numbers_pulls(observations, problem, columns)
    study.import_observations(observations, columns=columns, by_index=by_index)
    found = study.certificate()
    both = None if found.together is None else found.together.resting_on(FIXED)
    return replace(found, guarantee=found.guarantee.resting_on(FIXED), together=both)


def _numbers_pulls(source: Any, problem: Problem, columns: Any) -> bool:
    """Return whether a table has a column `index` that numbers the pulls of each arm.

    One with another number in every row numbers the rows of the table, as that of a data frame does.
    """
    dims = [dim.name for dim in problem.dims]
    if INDEX in dims or INDEX not in Table(source, dims, columns).columns:
        return False
    seen: set[float] = set()
    for portion in Table(source, [*dims, INDEX], columns, gaps=dims).portions():
        numbers = portion.values[:, -1].tolist()
        fresh = len(seen) + len(numbers)
        seen.update(numbers)
        if len(seen) < fresh:
            return True
    return False

"""Outcomes of runs as arrays, and `Job`, which makes them: the same wherever it is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestgroup._version import __version__
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.drivers.decisions import at_stop
from bestgroup.drivers.exact.driver import run_once
from bestgroup.drivers.jump import engine as jump
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.instance import Instance

NO_LIMIT = 2**62


class Runs(NamedTuple):
    """Outcomes of runs, one entry a run."""

    answers: Bools  # [n, N]     the groups that a run names
    counts: Ints  # [n, N, K]    pulls of each arm, padded
    rounds: Ints  # [n]
    finished: Bools  # [n]
    distance: Floats  # [n]      bound on the total variation distance to the exact law
    status: Ints  # [n, N]       what a run had decided when it stopped, a Status each


def join(pieces: Sequence[Runs]) -> Runs:
    """Return the runs of all pieces, in their order."""
    return Runs(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))


@dataclass(frozen=True)
class Job:
    """What every run needs; sent to worker processes."""

    instance: Instance
    setting: Setting
    algorithm: Algorithm
    seed: int
    max_pulls: int
    engine: str

    def chunk(self, first: int, count: int) -> Runs:
        """Return runs first, ..., first + count - 1."""
        if self.engine == "jump":
            keys = (self.seed, first, count, self.max_pulls)
            found = jump.run_many(self.instance, self.setting, self.algorithm, *keys)
            status = at_stop(found.answers, found.rejected, found.finished, self.setting.goal)
            return Runs(*found[:5], status)
        return join([self._exact(index) for index in range(first, first + count)])

    def _exact(self, index: int) -> Runs:
        run = run_once(
            self.instance, self.setting, self.algorithm, (self.seed, index), self.max_pulls
        )
        answer = np.zeros(self.instance.shape.groups, np.bool_)
        answer[list(run.answer)] = True
        finished = np.array([run.finished])
        status = np.zeros((1, len(answer)), np.int64) if run.status is None else run.status[None]
        if run.finished:
            status = at_stop(answer[None], ~answer[None], finished, self.setting.goal)
        return Runs(
            answer[None],
            run.counts[None],
            np.array([run.rounds]),
            finished,
            np.zeros(1),
            status,
        )

    def digest(self) -> str:
        """Return a text that changes whenever the runs would."""
        parts = {
            "version": __version__,
            "means": [rows.tolist() for rows in self.instance.means],
            "law": _stable(self.instance.law, "law"),
            "noise": repr(self.setting.noise),
            "goal": repr(self.setting.goal),
            "delta": self.setting.delta,
            "algorithm": [self.algorithm.name, self.algorithm.version],
            "options": {k: _stable(v, k) for k, v in self.algorithm.options().items()},
            "seed": self.seed,
            "max_pulls": self.max_pulls,
            "engine": self.engine,
            "kept": ["status"],
        }
        if self.instance.table is not None:
            parts["items"] = repr(self.setting.items)
            parts["table"] = hashlib.sha256(self.instance.table.tobytes()).hexdigest()
            parts["clusters"] = [own.tolist() for own in self.instance.clusters]
        if self.instance.measure is not None:
            parts["measure"] = repr(self.instance.measure)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _stable(value: Any, what: str) -> str:
    text = repr(value)
    if " at 0x" in text:
        raise InvalidInput(
            f"{what} must have a __repr__ that says what it is, so that a results file can tell "
            f"one specification from another; got {text}"
        )
    return text

"""`save_replay_proof`: a proof file of what an algorithm decides on a reward tape."""

from __future__ import annotations

import csv
from typing import Any

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.drivers.replay import Tape, Trace, replay
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import replacing
from bestgroup.problem.arrays import probability
from bestgroup.problem.goals import Goal
from bestgroup.problem.noise import Noise, SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.problem.status import Status
from bestgroup.proof.build import ask
from bestgroup.proof.format import read_key, write_proof
from bestgroup.studies.proofs import COLUMNS, study_document
from bestgroup.studies.table import check_table_name


def save_replay_proof(
    tape: Any,
    goal: Goal,
    algorithm: str | Algorithm = "te",
    delta: float = 0.01,
    *,
    proof: Any,
    rows: Any,
    noise: Noise | None = None,
    key: Any = None,
) -> Trace:
    """Replay an algorithm on a tape, and write its proof file and the rows that it has pulled (CSV).

    Groups and arms are called 1, 2, ..., dims d1, d2, ...; `bestgroup verify` checks the two files.
    """
    reel = tape if isinstance(tape, Tape) else Tape(tape)
    model = SubGaussian(1.0) if noise is None else noise
    trace = replay(reel, goal, algorithm, delta, noise=model)
    if trace.guarantee.level != "proven":
        raise InvalidInput(
            f"nothing is proven, so there is no proof file: {trace.guarantee.statement}"
        )
    secret = None if key is None else read_key(key)
    shape = reel.shape
    problem = Problem(
        {str(i + 1): [str(j + 1) for j in range(size)] for i, size in enumerate(shape.sizes)},
        {f"d{d + 1}": "max" for d in range(shape.dims)},
        model,
    )
    file = check_table_name(rows)
    if file.suffix.lower() != ".csv":
        raise InvalidInput(f"{file}: give a name that ends in .csv")
    with replacing(file) as part, part.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["group", "arm", "index", *(dim.name for dim in problem.dims)])
        for i, counts in enumerate(trace.pulls_by_arm):
            for j, count in enumerate(counts.tolist()):
                values = reel.values(i, j, 0, count).tolist()
                writer.writerows([i + 1, j + 1, k, *row] for k, row in enumerate(values))
    spare = Status.NOT_NEEDED if goal.spares_groups else Status.OUT
    status = [Status.IN if i in trace.answer else spare for i in range(shape.groups)]
    asked = ask(problem, goal, probability(delta), file, COLUMNS, status)
    setting = Setting.of(problem, goal, asked.delta)
    write_proof(study_document(asked, trace.algorithm, setting), proof, secret)
    return trace

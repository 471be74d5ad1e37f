"""A race inside real inspect_ai evaluations, offline: a canned solver replays a table."""

import csv
import gc
import gzip
import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from inspect_ai import Task, eval, eval_set
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver

import bestgroup as bg
from bestgroup.integrations.inspect import Race

TABLE = Path(bg.datasets.DIGITS)
# inspect leaves streams of its own unclosed.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BOUNDS = {"correct": (0, 1), "confidence": (0, 1)}
GOAL = bg.ParetoGroups(0.05)


@pytest.fixture(autouse=True)
def collected():
    yield
    gc.collect()  # here, where their warnings are ignored


@solver
def nothing():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", "-")
        return state

    return solve


def column(name, values):
    @scorer(metrics=[mean()], name=name)
    def made():
        async def score(state, target):
            return Score(value=values[str(state.sample_id)])

        return score

    return made()


@pytest.fixture(scope="module")
def table():
    """Scores by arm, dim and item, of the table that ships."""
    found, groups = {}, {}
    with gzip.open(TABLE, "rt", newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault(row["group"], dict())[row["arm"]] = None
            for dim in BOUNDS:
                key = (row["group"], row["arm"], dim)
                found.setdefault(key, {})[row["item"]] = float(row[dim])
    return {group: list(arms) for group, arms in groups.items()}, found


def run(race, table, folder, **options):
    tasks = tasks_of(race, table)
    given = {"max_tasks": len(tasks), "max_samples": 8, **options}
    return evaluate(tasks, folder, **given)


def tasks_of(race, table):
    groups, values = table
    return [
        Task(
            race.samples,
            solver=nothing(),
            scorer=[column(dim, values[group, arm, dim]) for dim in BOUNDS],
            early_stopping=race.arm(group, arm),
            name=f"{group} {arm}".replace(" ", "-"),
        )
        for group, arms in groups.items()
        for arm in arms
    ]


def evaluate(tasks, folder, **options):
    """Run tasks in a thread of their own: other tests of the process may have a loop running."""
    given = {"model": "mockllm/none", "log_dir": str(folder), "display": "none", **options}
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(eval, tasks, **given).result()


def samples(values, count=None):
    names = list(next(iter(values.values())))[:count]
    return [Sample(id=name, input="-") for name in names]


def test_a_table_through_real_evaluations(table, tmp_path):
    groups, values = table
    groups = {name: groups[name][:2] for name in ("neighbours", "tree", "logistic")}
    values = {key: dict(itertools.islice(column.items(), 200)) for key, column in values.items()}
    race = Race(groups, samples(values), BOUNDS, GOAL, seed=3)
    logs = run(race, (groups, values), tmp_path)
    assert all(log.status == "success" for log in logs)
    done = sum(len(log.samples) - len(log.results.early_stopping.early_stops) for log in logs)
    whole = 6 * 200
    assert done <= 0.5 * whole
    answer = race.answer()
    assert answer.final
    # As a replay of the same order: the answer of the algorithm does not depend on who runs it.
    again = bg.solve(
        race.problem,
        GOAL,
        lambda group, arm, item: [values[group, arm, dim][item] for dim in BOUNDS],
        seed=3,
        batch=6,
    )
    assert set(again.answer.groups) == set(answer.groups)
    assert again.answer.pulls == answer.pulls
    efficiency = [
        [max(np.mean(list(values[g, a, dim].values())) for a in arms) for dim in BOUNDS]
        for g, arms in groups.items()
    ]
    names = list(groups)
    truth = {names[i] for i in np.flatnonzero(bg.pareto_groups(efficiency))}
    almost = {names[i] for i in np.flatnonzero(bg.pareto_groups(efficiency, 0.05))}
    assert truth <= set(answer.groups) <= almost
    said = logs[0].results.early_stopping
    assert said.manager == "bestgroup"
    assert said.metadata["proven"] is True
    assert said.metadata["answer"] == list(answer.groups)
    assert "these 200 items" in said.metadata["guarantee"]


def test_an_eval_set_decides_as_replay_does(table, tmp_path):
    groups, values = table
    few = {name: groups[name][:1] for name in ("svm", "tree", "logistic")}
    race = Race(few, samples(values), BOUNDS, GOAL, seed=5)
    tasks = tasks_of(race, (few, values))
    given = {"model": "mockllm/none", "log_dir": str(tmp_path), "display": "none"}
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(eval_set, tasks, max_tasks=len(tasks), max_samples=8, **given)
        success, logs = work.result()
    assert success and len(logs) == 3
    stops = [log.results.early_stopping for log in logs]
    done = 3 * 400 - sum(len(stop.early_stops) for stop in stops)
    assert done <= 0.5 * 3 * 400
    # The same values in the race's order, on a tape: what bg.replay decides.
    order = [str(sample.id) for sample in race.samples]
    arms = [(group, arm) for group, arms in few.items() for arm in arms]
    tape = [
        np.array([[[values[g, a, dim][item] for dim in BOUNDS]] for item in order]) for g, a in arms
    ]
    noise = race.problem.noise
    trace = bg.replay(
        bg.Tape(tape), GOAL, bg.algorithm("adaptive", batch=len(arms)), 0.05,
        noise=noise, items=race.problem.items,
    )  # fmt: skip
    assert {arms[i][0] for i in trace.answer} == set(race.answer().groups)
    assert trace.pulls == race.answer().pulls
    assert all(stop.metadata["answer"] == list(race.answer().groups) for stop in stops)


def test_tasks_one_after_another_do_not_wait_for_each_other(table, tmp_path):
    groups, values = table
    few = {"svm": groups["svm"][:1], "tree": groups["tree"][:1]}
    race = Race(few, samples(values, 60), BOUNDS, GOAL, seed=3)
    logs = run(race, (few, values), tmp_path, max_tasks=1)
    done = [len(log.samples) - len(log.results.early_stopping.early_stops) for log in logs]
    assert max(done) == 60
    assert min(done) < 60
    assert race.answer().final


def test_other_samples_are_refused(table, tmp_path):
    groups, values = table
    few = {"svm": groups["svm"][:1]}
    race = Race(few, samples(values, 10), BOUNDS, GOAL)
    race.samples.reverse()
    race.samples.append(Sample(id="one more", input="-"))
    task = Task(
        race.samples[:-1],
        solver=nothing(),
        scorer=[column(dim, values["svm", few["svm"][0], dim]) for dim in BOUNDS],
        early_stopping=race.arm("svm", few["svm"][0]),
    )
    (log,) = evaluate(task, tmp_path)
    assert log.status == "error"
    assert "must run race.samples" in log.error.message
    with pytest.raises(bg.InvalidInput, match="no group"):
        race.arm("other", "x")

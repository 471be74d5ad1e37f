"""`bg.sweep`: cells are those of `simulate`, one file keeps them, and nothing is done twice."""

import sqlite3

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.simulation.runs import Job

BEST = bg.BestGroup([1.0, 2.0])
PARETO = bg.ParetoGroups(0.2)


def instance(groups, arms=2, seed=0):
    return bg.Instance(3.0 * np.random.default_rng(seed).random((groups, arms, 2)))


@pytest.fixture
def chunks(monkeypatch):
    """The number of runs that are really done."""
    done = []
    real = Job.chunk

    def chunk(job, first, count):
        done.append(count)
        return real(job, first, count)

    monkeypatch.setattr(Job, "chunk", chunk)
    return done


def test_cells_are_those_of_simulate():
    given = {"small": instance(2), "large": instance(3)}
    found = bg.sweep(given, ["te", "ge"], [0.1, 0.01], 3, goals=PARETO, seed=5)
    assert [(c.instance, c.delta, c.algorithm) for c in found.cells] == [
        (name, delta, algorithm)
        for name in given
        for delta in (0.1, 0.01)
        for algorithm in ("te", "ge")
    ]
    for cell in found.cells:
        sim = bg.simulate(given[cell.instance], PARETO, cell.algorithm, cell.delta, 3, 5)
        assert (cell.simulation.pulls == sim.pulls).all()
        assert cell.simulation.answers == sim.answers
        record = cell.to_record()
        assert record["pulls"] == sim.pulls.mean() and record["errors"] == sim.errors


def test_algorithms_are_left_out_where_they_do_not_answer():
    found = bg.sweep(instance(2), ["te", "eecb"], 0.1, 2, goals=[PARETO, BEST])
    assert [(c.goal_name, c.algorithm) for c in found.cells] == [
        ("ParetoGroups(epsilon=0.2)", "te"),
        ("BestGroup(weights=(1.0, 2.0), epsilon=0.0)", "eecb"),
    ]


def test_frames_have_a_row_a_cell_and_a_row_a_run():
    found = bg.sweep([instance(2), instance(3)], "te", 0.1, 2, goals=PARETO, limit=["1"])
    frame = found.to_frame()
    assert list(frame["instance"]) == ["0", "1"] and list(frame["groups"]) == [2, 3]
    assert np.isnan(frame["limit"][0])
    time = bg.characteristic_time(instance(3), PARETO, tolerance=0.01)
    assert frame["limit"][1] == time.samples(0.1)
    assert frame["times_the_limit"][1] == frame["pulls"][1] / frame["limit"][1]
    runs = found.run_frame()
    assert list(runs["run"]) == [0, 1, 0, 1]
    assert runs.groupby("instance")["pulls"].mean().tolist() == frame["pulls"].tolist()


def test_one_file_goes_on_and_grows(tmp_path, chunks):
    path = tmp_path / "all.sqlite"
    first = bg.sweep(instance(2), "te", 0.1, 2, results=path, goals=PARETO, limit=True)
    assert sum(chunks) == 2
    again = bg.sweep(instance(2), "te", 0.1, 2, results=path, goals=PARETO, limit=True)
    assert (
        sum(chunks) == 2
        and (again.cells[0].simulation.pulls == first.cells[0].simulation.pulls).all()
    )
    assert again.cells[0].limit == first.cells[0].limit
    more = bg.sweep(
        [instance(2), instance(3)], ["te", "ge"], [0.1, 0.2], 3, results=path, goals=PARETO
    )
    assert sum(chunks) == 2 * 2 * 2 * 3  # of which two were there
    assert len(list(tmp_path.iterdir())) == 1
    alone = bg.sweep(instance(3), "ge", 0.2, 3, goals=PARETO)
    assert (more.cells[-1].simulation.pulls == alone.cells[0].simulation.pulls).all()


def test_a_stopped_call_goes_on(tmp_path, chunks, monkeypatch):
    path = tmp_path / "all.sqlite"
    real = Job.chunk

    def chunk(job, first, count):
        if sum(chunks) == 5:
            raise KeyboardInterrupt
        return real(job, first, count)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "chunk", chunk)
        with pytest.raises(KeyboardInterrupt):
            bg.sweep([instance(2), instance(3)], "te", 0.1, 4, results=path, goals=PARETO)
    assert sum(chunks) == 5
    bg.sweep([instance(2), instance(3)], "te", 0.1, 4, results=path, goals=PARETO)
    assert sum(chunks) == 8


def test_two_processes_give_the_same():
    given = [instance(2), instance(3)]
    one, two = (
        bg.sweep(given, ["te", "ge"], 0.1, 4, workers=workers, goals=PARETO) for workers in (1, 2)
    )
    for a, b in zip(one.cells, two.cells, strict=True):
        assert (a.simulation.pulls == b.simulation.pulls).all()


def test_seeds_may_differ_by_instance_and_cells_are_watched():
    given, seen = {"a": instance(2), "b": instance(2)}, []
    found = bg.sweep(given, "te", 0.1, 2, goals=PARETO, seed={"a": 1, "b": 2}, watch=seen.append)
    assert {cell.instance for cell in seen} == {"a", "b"}
    for cell, seed in zip(found.cells, (1, 2), strict=True):
        sim = bg.simulate(instance(2), PARETO, "te", 0.1, 2, seed)
        assert cell.seed == seed and (cell.simulation.pulls == sim.pulls).all()


def test_pulls_that_never_change_are_not_drawn(chunks):
    slow = bg.Instance([[[0.2]], [[0.8]]], bg.laws.Bernoulli())  # no jumps: all would be drawn
    found = bg.sweep(slow, "unis", 0.1, 2, goals=bg.ParetoGroups(0.01))
    record = found.to_records()[0]
    assert record["engine"] == "formula" and record["errors"] is None
    assert record["runs"] == 0 and chunks == [] and found.run_records() == []
    assert record["pulls"] == record["least"] == record["most"] > 100_000
    drawn = bg.sweep(slow, "unis", 0.1, 1, goals=bg.ParetoGroups(0.1), engine="exact")
    assert sum(chunks) == 1 and drawn.cells[0].runs == 1


@pytest.mark.parametrize("x", [None, "groups", "arms", "dims", "delta", "instance"])
def test_the_figure_has_a_line_an_algorithm_and_the_limit(x):
    found = bg.sweep(
        [instance(2), instance(3)], ["te", "ge"], [0.1, 0.2], 2, goals=PARETO, limit=True
    )
    figure = found.plot(x)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert len(shown) == (1 if x == "delta" else 2)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(labels) == ["ge", "limit for any correct algorithm", "te"]


MISTAKES = {
    "no instance": (dict(instances=[]), "instances must be an Instance"),
    "not an instance": (dict(instances=[3]), "instances must be Instance objects; '0' is 3"),
    "no algorithm": (dict(algorithms=[]), "algorithms must be one or a list of at least one"),
    "algorithm twice": (dict(algorithms=["te", "te"]), "algorithms must differ; got 'te' twice"),
    "unknown algorithm": (dict(algorithms="guess"), "algorithm must be one of"),
    "of another goal": (
        dict(algorithms="eecb", results="runs.sqlite"),
        "eecb answers none of the goals",
    ),
    "delta": (dict(deltas=[0.1, 2.0]), "delta must lie strictly between"),
    "runs": (dict(runs=0), "runs must be at least 1; got 0"),
    "workers": (dict(workers=0), "workers must be at least 1; got 0"),
    "file": (dict(results="runs.parquet"), "the results of a sweep must end in .sqlite"),
    "folder": (dict(results="missing/runs.sqlite"), "the folder missing does not exist"),
    "limit": (dict(limit=["b"]), "limit names 'b', which is no instance of the sweep"),
    "seed": (dict(seed={"b": 1}), "seed names 'b', which is no instance of the sweep"),
    "tolerance": (dict(tolerance=2.0), "tolerance must be at least"),
    "goal": (dict(goals=[]), "goals must hold at least one goal; got none"),
    "engine": (dict(engine="quick", results="runs.sqlite"), "engine must be"),
    "x": (None, "x must be one of groups, arms, dims, delta, instance; got 'size'"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, tmp_path, monkeypatch, chunks):
    monkeypatch.chdir(tmp_path)
    change, sentence = MISTAKES[case]
    given = {
        "instances": instance(2),
        "algorithms": "te",
        "deltas": 0.1,
        "runs": 1,
        "goals": PARETO,
    }
    with pytest.raises(bg.InvalidInput) as stop:
        if change is None:
            bg.sweep(**given).plot("size")
        else:
            bg.sweep(**{**given, **change})
    assert sentence in str(stop.value) and "\n" not in str(stop.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE precious (x INTEGER)")
    before = path.read_bytes()
    with pytest.raises(bg.InvalidInput, match="not the results file of a sweep"):
        bg.sweep(instance(2), "te", 0.1, 1, results=path, goals=PARETO)
    assert path.read_bytes() == before
    bg.simulate(instance(2), PARETO, "te", 0.1, 1, results=tmp_path / "one.sqlite")
    with pytest.raises(bg.InvalidInput, match="not the results file of a sweep"):
        bg.sweep(instance(2), "te", 0.1, 1, results=tmp_path / "one.sqlite", goals=PARETO)

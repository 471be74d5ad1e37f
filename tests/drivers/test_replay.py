"""`replay` equals every fixture, round by round, with both bodies."""

from pathlib import Path

import numpy as np
import pytest

import bestgroup as bg

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").glob("*.npz"))


class Case:
    def __init__(self, path):
        with np.load(path) as data:
            self.data = {key: data[key] for key in data.files}
        self.sizes = self.data["ksizes"]
        rewards = self.data["rewards"].astype(float)
        self.tape = bg.Tape([rewards[:, i, :k] for i, k in enumerate(self.sizes)])
        self.delta = float(self.data["delta"])
        self.epsilon = float(self.data["eps"])
        table = "beta_table" in self.data
        self.radius = tuple(self.data["beta_table"].tolist()) if table else "paper"
        self.kmax = rewards.shape[2]

    def has(self, key):
        return key in self.data

    def padded(self, rounds, attribute, transpose=False):
        """Return a trace's ragged rows padded to the fixture's layout."""
        dims = self.tape.shape.dims
        shape = (len(self.sizes), dims, self.kmax) if transpose else (len(self.sizes), self.kmax)
        out = np.zeros((len(rounds), *shape), int)
        for k, entry in enumerate(rounds):
            for i, rows in enumerate(getattr(entry, attribute)):
                if transpose:
                    out[k, i, :, : len(rows)] = rows.T
                else:
                    out[k, i, : len(rows)] = rows
        return out


@pytest.fixture(scope="module", params=FIXTURES, ids=lambda path: path.stem)
def case(request):
    return Case(request.param)


# Plain bodies run on every other fixture, on the others under verify.
BODIES = [
    pytest.param(
        path,
        compiled,
        id=f"{path.stem}-{'compiled' if compiled else 'plain'}",
        marks=[] if compiled or k % 2 == 0 else [pytest.mark.verify],
    )
    for k, path in enumerate(FIXTURES)
    for compiled in (False, True)
]


def same(actual, expected):
    assert np.array_equal(np.asarray(actual), np.asarray(expected))


@pytest.mark.parametrize(("case", "compiled"), BODIES, indirect=["case"])
@pytest.mark.parametrize("name", ["TE", "AGE", "GE"])
def test_elimination(case, name, compiled):
    if not case.has(f"{name}/P"):
        pytest.skip("this fixture is for another algorithm")
    z = {key.split("/")[1]: case.data[key] for key in case.data if key.startswith(f"{name}/")}
    algorithm = bg.algorithm(name.lower(), radius=case.radius)
    trace = bg.replay(
        case.tape, bg.ParetoGroups(case.epsilon), algorithm, case.delta, compiled=compiled
    )
    rounds = trace.rounds
    assert trace.answer == frozenset(z["P"].tolist())
    assert trace.pulls == int(z["tau"]) and len(rounds) == int(z["rounds"])
    groups = z["trace_G"]
    same([r.groups for r in rounds], groups)
    same([r.accepted for r in rounds], z["trace_P"])
    same([r.standing for r in rounds], z["trace_P1"])
    same([r.rejected for r in rounds], ~groups & ~z["trace_P"])
    same([r.radius for r in rounds], z["trace_beta"])
    same([r.efficiency for r in rounds], z["trace_Rhat"])
    same([r.dims for r in rounds], z["trace_dims"] & groups[:, :, None])
    same(case.padded(rounds, "arms", True), z["trace_arms"] & groups[:, :, None, None])
    same(case.padded(rounds, "pulled"), z["trace_pulled"])
    same(trace.efficiency, z["Rhat"])
    counts = np.zeros((len(case.sizes), case.kmax), int)
    for i, row in enumerate(trace.pulls_by_arm):
        counts[i, : len(row)] = row
    same(counts, z["pulls"])


@pytest.mark.parametrize(("case", "compiled"), BODIES, indirect=["case"])
@pytest.mark.parametrize("early", [False, True], ids=["literal", "early"])
def test_equal_effect(case, early, compiled):
    for k, weights in enumerate(case.data["weights"]):
        prefix = f"EECB_w{k}" + ("_early/" if early else "/")
        if not case.has(prefix + "G"):
            continue
        z = {key[len(prefix) :]: case.data[key] for key in case.data if key.startswith(prefix)}
        algorithm = bg.algorithm("eecb", radius=case.radius, early_exit=early)
        trace = bg.replay(
            case.tape, bg.BestGroup(weights), algorithm, case.delta, compiled=compiled
        )
        rounds = trace.rounds
        assert trace.answer == frozenset(z["G"].tolist())
        assert trace.pulls == int(z["tau"]) and len(rounds) == int(z["rounds"])
        same(trace.efficiency, z["Rhat"])
        if rounds:
            same([r.groups for r in rounds], z["trace_G"])
            same([r.focus for r in rounds], z["trace_focus"])
            same([r.clock for r in rounds], z["trace_n"])
            same([r.threshold for r in rounds], z["trace_threshold"])
            same([r.efficiency for r in rounds], z["trace_Rhat"])
            same(case.padded(rounds, "arms", True), z["trace_arms"])
            same(case.padded(rounds, "pulled"), z["trace_pulled"])


def test_the_others(case):
    for k, weights in enumerate(case.data["weights"]):
        if case.has("TEL/pick"):
            algorithm = bg.algorithm("tel", radius=case.radius, pareto_epsilon=case.epsilon)
            trace = bg.replay(case.tape, bg.BestGroup(weights), algorithm, case.delta)
            assert trace.answer == {int(case.data["TEL/pick"][k])}
    for key, name in (("UniS", "unis"), ("UniS_corrected", "unis-corrected")):
        if case.has(f"{key}/P"):
            trace = bg.replay(case.tape, bg.ParetoGroups(case.epsilon), name, case.delta)
            assert trace.answer == frozenset(case.data[f"{key}/P"].tolist())
            assert trace.pulls == int(case.data[f"{key}/tau"])


def test_the_wrong_reading_of_the_efficiency_would_differ():
    """Maxima over all arms instead of active ones end fixture 13 elsewhere."""
    with np.load(next(path for path in FIXTURES if path.stem.startswith("13"))) as data:
        assert int(data["TE@rhat_all/rounds"]) != int(data["TE/rounds"])


def test_radius_as_function_table_or_object_is_one():
    tape = np.zeros((500, 2, 1, 1))
    tape[:, 0] = 1.0
    table = [2.0**-k for k in range(40)]

    class Halving:
        def radius(self, r):
            return table[r - 1]

    answers = [
        bg.replay(tape, bg.ParetoGroups(0.1), bg.algorithm("te", radius=radius), 0.1)
        for radius in (
            table,
            np.array(table),
            lambda r: table[r - 1],
            Halving(),
            lambda r, delta: delta * 10 * table[r - 1],
        )
    ]
    assert {trace.pulls for trace in answers} == {answers[0].pulls}
    assert answers[0].guarantee.level == "none"


def test_a_radius_function_is_tabulated_as_far_as_needed():
    tape = np.zeros((3000, 2, 1, 1))
    tape[:, 0] = 1.0
    algorithm = bg.algorithm("te", radius=lambda r: 1000.0 / r)
    trace = bg.replay(tape, bg.ParetoGroups(0.01), algorithm, 0.1)
    assert len(trace.rounds) == 2000
    with pytest.raises(bg.InvalidInput, match="the radius table ended"):
        bg.replay(tape, bg.ParetoGroups(0.01), bg.algorithm("te", radius=[1.0] * 5), 0.1)


def test_stuck_ties_are_named():
    tape = np.zeros((2000, 3, 1, 1))
    tape[:, 2] = -50.0
    algorithm = bg.algorithm("te", radius=lambda r: 1.0 / r)
    with pytest.raises(bg.InvalidInput, match=r"tape holds 2000 pulls|stuck"):
        bg.replay(tape, bg.ParetoGroups(0.0), algorithm, 0.1)

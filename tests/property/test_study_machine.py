"""Whatever happens to a study, it ends as `bg.replay` does on the same tape, bit for bit.

Several workers ask, tell in any order, in parts, again, late or not at all; leases end; processes
die and come back, with or without the snapshot.
"""

import itertools
import json
import tempfile

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import bestgroup as bg
from bestgroup.algorithms.registry import _BUILT_IN
from bestgroup.errors import TicketError
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.studies.catalog import Study, create_study, load_study
from bestgroup.studies.storage import open_store
from servers import storage

PARETO, BEST = bg.ParetoGroups(0.6), bg.BestGroup([1.0, 2.0], epsilon=0.4)
CASES = {
    "te": [(bg.algorithm("te", radius_scale=0.5), PARETO)],
    "age": [(bg.algorithm("age", radius_scale=0.5), PARETO)],
    "ge": [(bg.algorithm("ge", radius="mixture"), PARETO)],
    "te-plus": [("te-plus", PARETO)],
    "eecb": [(bg.algorithm("eecb", radius_scale=0.5), BEST)],
    "se": [("se", BEST)],
    "sequential-halving": [(bg.algorithm("sequential-halving", budget=500), BEST)],
    "tel": [(bg.algorithm("tel", pareto_epsilon=0.5, radius_scale=0.5), BEST)],
    "unis": [("unis", PARETO)],
    "unis-corrected": [("unis-corrected", bg.ParetoGroups(1.5))],
    "adaptive": [("adaptive", PARETO), ("adaptive", BEST)],
}
ALL = [
    pytest.param(algorithm, goal, id=f"{name}-{type(goal).__name__}")
    for name, pairs in CASES.items()
    if name in _BUILT_IN
    for algorithm, goal in pairs
]
LENGTH = 1500
names = itertools.count()


def test_every_algorithm_is_here():
    assert set(_BUILT_IN) <= set(CASES)


class Machine(RuleBasedStateMachine):
    """One study, three processes, and a pile of tickets that are not told yet."""

    algorithm: object
    goal: object
    kind: str

    @initialize(seed=st.integers(0, 2**20), horizon=st.sampled_from([0, 0, 1, 7]))
    def begin(self, seed, horizon):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 4, rng.integers(1, 4)).tolist()
        groups = {f"g{i}": [f"a{j}" for j in range(size)] for i, size in enumerate(sizes)}
        self.problem = Problem(
            groups, {"x": "max", "watched": "watch", "y": "min"}, SubGaussian(1.0)
        )
        means = [3 * rng.random((size, 3)) for size in sizes]
        self.tape = [m + 0.3 * rng.standard_normal((LENGTH, *m.shape)) for m in means]
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(storage(self.kind, self.folder.name), create=True)
        self.name = f"study {next(names)}"
        options = {"algorithm": self.algorithm, "horizon": horizon, "seed": 1}
        made = create_study(self.name, self.problem, self.goal, 0.1, self.store, **options)
        self.workers: list[Study] = [made, self.load(), self.load()]
        self.held, self.told = [], []
        self.seeds: dict[tuple[str, str, int], int] = {}

    def load(self):
        return load_study(self.name, self.store)

    def values(self, ticket, count=None):
        i, j = self.problem.index(ticket.group, ticket.arm)
        stop = ticket.index + (ticket.repeats if count is None else count)
        return self.tape[i][ticket.index : stop, j]

    @rule(w=st.integers(0, 2), n=st.integers(1, 6), repeats=st.integers(1, 5), ends=st.booleans())
    def ask(self, w, n, repeats, ends):
        for ticket in self.workers[w].ask(n, repeats, 1e-6 if ends else 600.0, f"w{w}"):
            self.held.append(ticket)
            for k, seed in enumerate(ticket.seeds):
                pull = ticket.group, ticket.arm, ticket.index + k
                assert self.seeds.setdefault(pull, seed) == seed

    @rule(w=st.integers(0, 2), data=st.data())
    def tell(self, w, data):
        if not self.held:
            return
        ticket = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        count = data.draw(st.integers(1, ticket.repeats))
        if count < ticket.repeats:
            self.held.append(ticket)
        assert 0 <= self.workers[w].tell(ticket, self.values(ticket, count)) <= count
        self.told.append((ticket, count))

    @rule(w=st.integers(0, 2), data=st.data())
    def tell_many(self, w, data):
        some = data.draw(st.permutations(self.held))[: data.draw(st.integers(0, len(self.held)))]
        self.workers[w].tell_many([(ticket.to_dict(), self.values(ticket)) for ticket in some])
        self.held = [ticket for ticket in self.held if ticket not in some]
        self.told += [(ticket, ticket.repeats) for ticket in some]

    @rule(w=st.integers(0, 2), data=st.data())
    def tell_again(self, w, data):
        if not self.told:
            return
        ticket, count = data.draw(st.sampled_from(self.told))
        before = self.workers[w].status()
        assert self.workers[w].tell(ticket, self.values(ticket, count)) == 0
        with pytest.raises(TicketError):
            self.workers[w].tell(ticket, self.values(ticket, count) + 1.0)
        assert self.workers[w].status() == before

    @rule(w=st.integers(0, 2), data=st.data())
    def fail(self, w, data):
        if not self.held:
            return
        ticket = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        try:
            self.workers[w].fail(ticket, "dropped")
        except TicketError:
            self.held.append(ticket)  # somebody else has it now, or told it

    @rule(w=st.integers(0, 2), bare=st.booleans())
    def die_and_come_back(self, w, bare):
        if bare:
            study = self.workers[w]
            self.store.write(study._key, lambda session: session.set_snapshot(None))
        self.workers[w] = self.load()

    @rule(w=st.integers(0, 2))
    def look(self, w):
        self.workers[w].explain("g0")

    @invariant()
    def nothing_is_counted_twice(self):
        if hasattr(self, "workers"):
            status = self.workers[0].status()
            assert status.pulls <= status.told

    def teardown(self):
        if not hasattr(self, "workers"):
            return
        try:
            self.finish()
            self.check()
        finally:
            self.store.close()
            self.folder.cleanup()

    def finish(self):
        rng = np.random.default_rng(len(self.told))
        turn = itertools.cycle(range(3))
        while self.workers[0].status().state == "running":
            study = self.workers[next(turn)]
            tickets = study.ask(int(rng.integers(1, 8)), int(rng.integers(1, 9)), 1e-6)
            assert tickets or self.held
            pairs = [*tickets, *self.held]
            self.held = []
            for k in rng.permutation(len(pairs)).tolist():
                study.tell(pairs[k], self.values(pairs[k]))

    def check(self):
        oriented = [
            np.stack([self.problem.to_internal(rows[:, j]) for j in range(rows.shape[1])], axis=1)
            for rows in self.tape
        ]
        trace = bg.replay(oriented, self.goal, self.algorithm, 0.1, noise=self.problem.noise)
        for study in (self.workers[0], self.load()):
            answer, status = study.answer(), study.status()
            assert answer.final and status.pulls == trace.pulls <= status.told
            assert answer.groups == tuple(f"g{i}" for i in sorted(trace.answer))
            counts = study._store.read(study._key, lambda s, t=study: t._runner.view(s).counts)
            for one, other in zip(counts, trace.pulls_by_arm, strict=True):
                assert np.array_equal(one, other)
            record = study._runner._live.record()
            if trace.efficiency is not None and trace.pulls:
                assert record["efficiency"].tobytes() == trace.efficiency.tobytes()
            for key in ("groups", "accepted", "rejected", "standing"):
                if record.get(key) is not None and trace.rounds:
                    last = getattr(trace.rounds[-1], key)
                    assert last is None or not len(last) or np.array_equal(record[key], last)
            assert study.verify() == trace.pulls
            made = study.decisions()
            assert [d["number"] for d in made] == list(range(1, len(made) + 1))
            assert made[-1]["kind"] == "answer" and json.dumps(made)
            assert {d["group"] for d in made[:-1]} == set(self.problem.groups)


def run(kind, algorithm, goal, examples, steps):
    class Case(Machine):
        pass

    Case.algorithm, Case.goal, Case.kind = algorithm, goal, kind
    Case.TestCase.settings = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        phases=[Phase.generate],  # a failure is printed as found: shrinking takes minutes
    )
    Case.TestCase().runTest()


@pytest.fixture(autouse=True)
def snapshots_after_every_plan(monkeypatch):
    monkeypatch.setattr("bestgroup.studies.runner.SNAPSHOT_AFTER", 0.0)


@pytest.mark.parametrize(("algorithm", "goal"), ALL)
def test_equals_replay_in_memory(algorithm, goal):
    run("memory", algorithm, goal, 2, 25)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize(("algorithm", "goal"), [ALL[0], ALL[-2]])
def test_equals_replay_in_a_database(kind, algorithm, goal):
    run(kind, algorithm, goal, 1, 20)


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
@pytest.mark.parametrize(("algorithm", "goal"), ALL)
def test_equals_replay_many_times(kind, algorithm, goal):
    run(kind, algorithm, goal, 100 if kind == "memory" else 15, 40)

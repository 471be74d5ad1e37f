"""Arms that come and go: a study equals its naive reference, on random tapes and at random times."""

import itertools

import numpy as np
import pytest

import bestgroup as bg
from reference.coming_naive import NaiveStudy
from servers import storage

NOISES = [bg.SubGaussian(0.5), bg.Bounded(-4, 8), bg.Gaussian()]
numbers = itertools.count()


class Play:
    """One study and its reference; everything is drawn from one generator."""

    def __init__(self, seed, place):
        self.rng = rng = np.random.default_rng(seed)
        self.means, self.values, self.told = {}, {}, {}
        self.dims = int(rng.integers(1, 3))
        groups = {
            f"g{i}": self.arms(f"g{i}", int(rng.integers(1, 3)))
            for i in range(int(rng.integers(1, 4)))
        }
        noise = NOISES[int(rng.integers(len(NOISES)))]
        if rng.random() < 0.5:
            goal = bg.ParetoGroups(0.3)
        else:
            goal = bg.BestGroup([1.0] * self.dims, epsilon=float(rng.choice([0.0, 0.3])))
        dims = {f"d{k}": "max" for k in range(self.dims)}
        self.reserve = 6
        problem = bg.Problem(groups, dims, noise, reserve=self.reserve)
        self.name = f"coming {next(numbers)}"
        self.study = bg.create_study(self.name, problem, goal, 0.2, place, seed=seed)
        self.naive = NaiveStudy(
            groups, dims, noise, self.reserve, goal, 0.2, self.tape, lambda g, a: self.prefix(g, a)
        )
        self.names = itertools.count(10)

    def arms(self, group, size):
        made = [f"a{k}" for k in range(size)]
        for arm in made:
            self.new(group, arm)
        return made

    def new(self, group, arm):
        mean = self.rng.integers(-2, 3, size=self.dims) / 2 + self.rng.normal(0, 0.05, self.dims)
        self.values[group, arm] = mean + 0.3 * self.rng.standard_normal((600, self.dims))
        self.values[group, arm] = np.clip(self.values[group, arm], -3.9, 7.9)
        self.told[group, arm] = set()

    def tape(self, group, arm, first, stop):
        return np.ascontiguousarray(self.values[group, arm][first:stop])

    def prefix(self, group, arm):
        told = self.told[group, arm]
        return next(k for k in itertools.count() if k not in told)

    def work(self):
        """Ask for some pulls, and tell some of them in any order; the rest are given back."""
        tickets = self.study.ask(int(self.rng.integers(1, 12)))
        for k in self.rng.permutation(len(tickets)):
            ticket = tickets[k]
            if self.rng.random() < 0.9:
                place = ticket.group, ticket.arm
                row = self.values[place][ticket.index]
                self.study.tell(ticket, row.tolist())
                self.told[place].add(ticket.index)
            else:
                self.study.fail(ticket)
        self.naive.go_on()

    def change(self):
        rng, naive = self.rng, self.naive
        group = str(rng.choice(list(naive.arms)))
        kind = rng.random()
        if kind < 0.35 and self.reserve:
            arm = f"b{next(self.names)}"
            self.new(group, arm)
            self.study.add_arm(group, arm)
            naive.join(group, [arm])
            self.reserve -= 1
        elif kind < 0.6 and self.reserve >= 2:
            group = f"h{next(self.names)}"
            made = self.arms(group, 2)
            self.study.add_group(group, made)
            naive.join(group, made)
            self.reserve -= 2
        elif len(naive.arms) > 1 or len(naive.arms[group]) > 1:
            whole = len(naive.arms) > 1 and rng.random() < 0.3
            arm = None if whole else str(rng.choice(naive.arms[group]))
            if arm is not None and len(naive.arms[group]) == 1 and len(naive.arms) == 1:
                return
            self.study.withdraw(group, arm)
            naive.leave(group, arm)
        naive.go_on()

    def check(self):
        study, naive = self.study, self.naive
        known = study.answer(beside=False)
        words = dict.fromkeys(known.inside, "in") | dict.fromkeys(known.outside, "out")
        words |= dict.fromkeys(known.not_needed, "not needed")
        words |= dict.fromkeys(known.undecided, "undecided")
        assert words == naive.status
        assert known.final == naive.done
        if known.final:
            assert set(known.groups) == naive.answer()
        counts = study.checkpoint().counts
        assert {arm: int(counts[naive.number(arm)]) for arm in naive.all()} == {
            arm: int(naive.tally.counts[naive.number(arm)]) for arm in naive.all()
        }


def play(seed, place="memory"):
    game = Play(seed, place)
    for _ in range(int(game.rng.integers(5, 40))):
        if game.rng.random() < 0.15:
            game.change()
        else:
            game.work()
        game.check()
        if game.rng.random() < 0.2:  # another process goes on
            game.study = bg.load_study(game.name, place)
    game.study.verify()
    bg.delete_study(game.name, place)
    return game


def test_a_study_equals_its_reference():
    for seed in range(25):
        play(seed)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_study_in_a_database_equals_its_reference(tmp_path, kind):
    place = storage(kind, tmp_path)
    for seed in range(1000, 1003):
        play(seed, place)


@pytest.mark.verify
def test_a_thousand_studies_equal_their_reference():
    changes = 0
    for seed in range(2000, 3000):
        changes += len(play(seed).study.spec.roster.changes)
    print(f"1,000 random studies, {changes} changes of arms: all equal their naive reference")
    assert changes > 1000

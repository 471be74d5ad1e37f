"""A study whose arms come and go, by the definition: no log, no numbers, everything made anew.

It shares the algorithm with the library and redoes all that is about coming and going: which bounds count,
what is consumed, what stays decided, what the answer is.
"""

from __future__ import annotations

import numpy as np

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.tally import empty_tally


class NaiveStudy:
    """Groups and arms by name; `told(group, arm)` gives how many pulls are told without a gap."""

    def __init__(self, groups, dims, noise, reserve, goal, delta, tape, told):
        self.arms = {group: list(arms) for group, arms in groups.items()}
        self.room = sum(map(len, groups.values())) + reserve
        self.dims, self.noise, self.goal, self.delta = dims, noise, goal, delta
        self.tape, self.told = tape, told
        self.status = dict.fromkeys(groups, "undecided")
        self.begin({})

    def begin(self, counts):
        """Begin with the arms that take part now; `counts` are pulls that count from the start."""
        here = sum(map(len, self.arms.values()))
        problem = bg.Problem(self.arms, self.dims, self.noise, reserve=self.room - here)
        problem.noise = problem.noise.with_dependent_arms()
        self.algorithm = bg.algorithm("adaptive")
        self.setting = Setting.of(problem, self.goal, self.delta)
        self.rule = self.algorithm.rule(self.setting)
        self.state = self.algorithm.init(self.rule)
        self.boxes = self.algorithm.statistics(self.setting)
        shape = self.setting.shape
        self.tally = empty_tally(shape.groups, shape.arms, shape.dims, self.boxes.start)
        self.kept = dict(self.status)
        self.places = [(g, a) for g in self.arms for a in self.arms[g]]
        for arm in self.places:
            self.take(arm, counts.get(arm, 0))
        first = self.algorithm.plan(self.state, self.tally, self.rule)
        self.plan = np.maximum(first - self.tally.counts, 0)
        if self.algorithm.is_done(self.state, self.rule):
            self.decide()
        if isinstance(self.goal, bg.BestGroup) and "in" in self.kept.values():
            rest = "not needed" if self.goal.epsilon else "out"
            self.status = {g: rest if w == "undecided" else w for g, w in self.status.items()}

    def number(self, arm):
        return list(self.arms).index(arm[0]), self.arms[arm[0]].index(arm[1])

    def take(self, arm, more):
        i, j = self.number(arm)
        at = int(self.tally.counts[i, j])
        if more:
            take_values(self.boxes, self.tally, i, j, self.tape(*arm, at, at + more))

    @property
    def done(self):
        words = list(self.status.values())
        if isinstance(self.goal, bg.ParetoGroups) and "undecided" not in words:
            return True
        if isinstance(self.goal, bg.BestGroup) and "in" in self.kept.values():
            return True
        return self.algorithm.is_done(self.state, self.rule)

    def go_on(self):
        """Step while the plan's pulls are told."""
        while not self.done:
            for arm in self.places:
                if (
                    self.told(*arm)
                    < self.tally.counts[self.number(arm)] + self.plan[self.number(arm)]
                ):
                    return
            for arm in self.places:
                self.take(arm, int(self.plan[self.number(arm)]))
            self.state = self.algorithm.step(self.state, self.tally, self.rule)
            self.decide()
            if not self.done:
                self.plan = self.algorithm.plan(self.state, self.tally, self.rule)

    def decide(self):
        names, record = list(self.arms), self.algorithm.record(self.state, self.rule)
        ended = self.algorithm.is_done(self.state, self.rule)
        named = self.algorithm.answer(self.state, self.rule) if ended else ()
        pareto = isinstance(self.goal, bg.ParetoGroups)
        spare = "not needed" if not pareto and self.goal.epsilon else "out"
        for i, group in enumerate(names):
            if self.status[group] != "undecided":
                continue
            if i in named or (pareto and record["accepted"][i]):
                self.status[group] = "in"
            elif ended:
                self.status[group] = spare
            elif record["rejected"][i]:
                self.status[group] = "out"

    def answer(self):
        if isinstance(self.goal, bg.ParetoGroups):
            return {group for group, word in self.status.items() if word == "in"}
        kept = {group for group, word in self.kept.items() if word == "in"}
        if kept:
            return kept
        named = self.algorithm.answer(self.state, self.rule)
        return {list(self.arms)[i] for i in named}

    def join(self, group, arms):
        for other in self.status:
            stays = self.status[other] == ("in" if other == group else "out")
            self.status[other] = self.status[other] if stays else "undecided"
        self.status.setdefault(group, "undecided")
        self.arms.setdefault(group, []).extend(arms)
        self.begin({arm: self.told(*arm) for arm in self.all()})

    def leave(self, group, arm):
        for other in self.status:
            stays = self.status[other] == ("out" if other == group else "in")
            self.status[other] = self.status[other] if stays else "undecided"
        gone = [arm] if arm else list(self.arms[group])
        self.arms[group] = [a for a in self.arms[group] if a not in gone]
        if not self.arms[group]:
            del self.arms[group], self.status[group]
        self.begin({arm: self.told(*arm) for arm in self.all()})

    def all(self):
        return [(group, arm) for group in self.arms for arm in self.arms[group]]

"""Optuna: a pruner that may look after every item without losing its error rate.

`WilcoxonPruner` tests at a fixed p after every step, so that it prunes the better of two candidates
far more often than p. `AnytimePruner` takes its place: trials report one value per item
(`trial.report(value, item)`), in an order that no value chose, and a trial is pruned once it is proven
worse, on average over the items, than the trial that was best when it began.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import optuna
from optuna.study import StudyDirection
from optuna.terminator import BaseTerminator
from optuna.trial import FrozenTrial, TrialState

from bestgroup.analysis.paired_test import PairedTest
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import positive_int

ITEMS = "bestgroup:items"  # values by item of a trial with several objectives
RIVALS = "bestgroup:rivals"  # what a trial is compared with, fixed when it begins


class AnytimePruner(optuna.pruners.BasePruner):
    """Prunes a trial that is proven worse; wrongly with probability at most `p` a trial.

    `reach` is the largest difference of two values on one item (for scores in [0, 1] it is 1), or one
    for each objective; with it "worse" is about means, and with `items`, their number, about the
    mean of these very items. Without it differences are assumed to be symmetric, as
    `WilcoxonPruner` assumes. A study with several objectives reports by `report`, since Optuna's
    own `trial.report` takes one number; a trial is then pruned when one of the trials that were
    best when it began is proven better in every objective.
    """

    def __init__(
        self,
        p: float = 0.1,
        *,
        reach: float | Sequence[float] | None = None,
        items: int | None = None,
        n_startup_steps: int = 0,
    ) -> None:
        if not 0.0 < p < 1.0:
            raise InvalidInput(f"p must be between 0 and 1; got {p!r}")
        if n_startup_steps < 0:
            raise InvalidInput(f"n_startup_steps must be 0 or more; got {n_startup_steps!r}")
        self.p, self.reach, self.items = p, reach, items
        self.n_startup_steps = n_startup_steps
        PairedTest(self._reach(0), items)  # refuses what cannot be, before the first trial
        self._tests: dict[tuple[int, int, int], PairedTest] = {}

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Return whether the trial is proven worse than one that was best when it began."""
        own = _values(trial)
        if len(own) <= self.n_startup_steps:
            return False
        rivals = self._rivals(study, trial)
        return any(self._beaten(study, trial, own, r, self.p / len(rivals)) for r in rivals)

    def report(self, trial: optuna.Trial, values: Sequence[float], item: int) -> None:
        """Keep the values of a trial with several objectives on an item."""
        found = dict(_frozen(trial).system_attrs.get(ITEMS, {}))
        found[str(item)] = [float(value) for value in values]
        trial.storage.set_trial_system_attr(trial._trial_id, ITEMS, found)

    def should_prune(self, trial: optuna.Trial) -> bool:
        """Return whether to prune a trial with several objectives."""
        return self.prune(trial.study, _frozen(trial))

    def _rivals(self, study: optuna.Study, trial: FrozenTrial) -> list[FrozenTrial]:
        """Return the trials to compare with: those that were best at the first look.

        Rivals that were chosen later would have been chosen by what this trial did.
        """
        known = trial.system_attrs.get(RIVALS)
        if known is None:
            known = [best.number for best in _best(study) if _values(best)]
            if not known:
                return []
            study._storage.set_trial_system_attr(trial._trial_id, RIVALS, known)
        trials = study.get_trials(deepcopy=False)
        return [trials[number] for number in known if number != trial.number]

    def _beaten(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        own: Mapping[str, Sequence[float]],
        rival: FrozenTrial,
        level: float,
    ) -> bool:
        theirs = _values(rival)
        common = [item for item in own if item in theirs]
        if len(common) < len(own):
            return False  # an item that the rival lacks cannot be passed over
        beaten = True
        for d, direction in enumerate(study.directions):
            sign = -1.0 if direction == StudyDirection.MINIMIZE else 1.0
            key = (trial._trial_id, rival.number, d)
            test = self._tests.setdefault(key, PairedTest(self._reach(d), self.items))
            for item in common[test.count :]:
                test.update(sign * theirs[item][d], sign * own[item][d])
            beaten = beaten and test.refutes(level)
        return beaten

    def _reach(self, d: int) -> float | None:
        if self.reach is None or isinstance(self.reach, int | float):
            return self.reach
        return self.reach[d]


def _frozen(trial: optuna.Trial) -> FrozenTrial:
    return trial.storage.get_trial(trial._trial_id)


def _values(trial: FrozenTrial) -> dict[str, list[float]]:
    """Return the values of a trial by item, in the order in which they were reported."""
    if ITEMS in trial.system_attrs:
        return trial.system_attrs[ITEMS]
    values = {str(step): [value] for step, value in trial.intermediate_values.items()}
    if not all(math.isfinite(value) for (value,) in values.values()):
        raise InvalidInput(f"trial {trial.number} reported a value that is not finite")
    return values


def _best(study: optuna.Study) -> list[FrozenTrial]:
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if not complete:
        return []
    return study.best_trials if len(study.directions) > 1 else [study.best_trial]


class AnytimeTerminator(BaseTerminator):
    """Ends a study after `patience` trials in a row that were pruned.

    Use it with `optuna.terminator.TerminatorCallback`. It spends no error probability: every pruned
    trial was proven worse, and ending claims nothing about candidates that were never tried.
    """

    def __init__(self, patience: int = 20) -> None:
        self.patience = positive_int(patience, "patience")

    def should_terminate(self, study: optuna.Study) -> bool:
        """Return whether the last trials that ended were all pruned."""
        ended = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
        last = study.get_trials(deepcopy=False, states=ended)[-self.patience :]
        pruned = [trial.state == TrialState.PRUNED for trial in last]
        return len(pruned) == self.patience and all(pruned)

"""Which arm to deploy, once a group has won, and which groups to guess before.

A group is worth in each dim what its best arm is worth there, and it may owe that to different arms
in different dims: then no single arm has it. `Deployment` says, for one group, which arm attains its
worth in each dim, whether one arm attains it in all of them, and what is proven of its arms among
themselves (`inference.certificate.within`).

**Whether one arm attains all.** If arm j attains the worth in every dim, it is a best arm in each, so
its upper bounds are among those that hold with probability 1 - delta: none is below the largest lower
bound of its group. If every arm has a dim in which it is, no arm attains all.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bestgroup.inference.certificate.explain import Explainer
from bestgroup.inference.worths import BARRED, COUNTS
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.problem import Problem
from bestgroup.problem.status import Status


@dataclass(frozen=True)
class Deployment:
    """What is known of the arms of a group: which of them to take."""

    group: str
    arm: str | None  # proven to be as good as any arm of the group: see `how`
    how: str  # "attains every dim", "best weighted mean", "not beaten", or "" if nothing is proven
    by_dim: dict[
        str, tuple[str, bool]
    ]  # dim: the arm that seems to attain the worth, and if proven
    one: bool | None  # whether one arm attains the worth in every dim; None if that is open
    arms: dict[str, str]  # arm: its status among the arms of the group
    behind: (
        float | None
    )  # best group: by how much the best single arm seems to fall short of the worth
    text: str

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Guess:
    """The answer that the values speak for, and how strongly they do."""

    groups: tuple[str, ...]
    level: float | None  # 1 over the e-value of the whole answer, at most 1; None if there is none
    text: str

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)


def guess_from(explainer: Explainer, found: tuple[float, Ints] | None) -> Guess:
    """Return the best guess from the least level of a whole answer and its statuses, if known."""
    names, decided = explainer.problem.groups, explainer.verdict.status
    if found is not None and _agree(found[1], decided):
        chosen = np.flatnonzero(found[1] == Status.IN)
    else:
        if found is not None and (found[1] != Status.UNDECIDED).all():
            found = None  # the values alone would decide otherwise than was decided
        chosen = _by_estimates(explainer)
    groups = tuple(names[i] for i in chosen)
    listed = _some(list(groups)) or "no group"
    if found is None:
        return Guess(groups, None, f"best guess, by the estimates: {listed}")
    level = min(1.0, found[0])
    if level == 1.0:
        words = f"best guess, by the estimates: {listed}; there is no evidence for all of it yet"
        return Guess(groups, level, words)
    text = (
        f"best guess: {listed}; post-hoc level {level:.2g} (an e-value of {1 / level:.3g}: if the guess "
        "is wrong, that has an expectation of at most 1; it is no probability given the data)"
    )
    return Guess(groups, level, text)


def _agree(whole: Ints, decided: Ints) -> bool:
    """Return whether statuses decide every group, and none otherwise than it was decided."""
    kept = decided != Status.UNDECIDED
    return bool((whole != Status.UNDECIDED).all() and (whole[kept] == decided[kept]).all())


def _by_estimates(explainer: Explainer) -> Ints:
    """Return the groups that are in, and those undecided that the means speak for.

    Groups that were never measured are left out.
    """
    best, goal = explainer.best, explainer.goal
    measured = np.isfinite(best).all(axis=1)
    if not measured.any():
        return np.zeros(0, np.int64)
    status = explainer.verdict.status
    known = np.flatnonzero(measured & (status != Status.OUT))
    guessed = goal.guessed(best[known], status[known] == Status.IN)
    if guessed is not None:
        return known[guessed]
    beaten = np.any(np.all(best[None, :, :] > best[:, None, :], axis=2), axis=1)
    open_ = (status == Status.UNDECIDED) & measured & ~beaten
    return np.flatnonzero((status == Status.IN) | open_)


def deployment(explainer: Explainer, i: int, status: Ints | None, trusted: bool) -> Deployment:
    """Return what to take of group i; `status` [K_i] is that of its arms, None if it cannot be told.

    Nothing is called proven unless the values are trusted.
    """
    problem, goal = explainer.problem, explainer.goal
    names = problem.arms[i]
    if status is None or not trusted:
        status = np.full(len(names), Status.UNDECIDED if len(names) > 1 else Status.IN)
    by_dim = {
        dim: (arm, proven and trusted) for dim, (arm, proven) in explainer.best_arms(i).items()
    }
    one = _one_for_all(explainer, i) if trusted else (True if len(names) == 1 else None)
    inside = [name for name, s in zip(names, status, strict=True) if s == Status.IN]
    leaders = {arm for arm, _ in by_dim.values()}
    weights = goal.worth_weights(len(explainer.names))
    arm, how, behind = None, "", None
    if len(leaders) == 1 and all(proven for _, proven in by_dim.values()):
        arm, how = next(iter(leaders)), "attains every dim"
    elif weights is not None:
        behind = _behind(explainer, i, weights)
        if inside:
            arm, how = inside[0], "best weighted mean"
    elif len(inside) == 1:
        arm, how = inside[0], "not beaten"
    words = {name: Status(s).word for name, s in zip(names, status, strict=True)}
    text = _words(explainer, i, (arm, how), by_dim, one, status, behind)
    return Deployment(problem.groups[i], arm, how, by_dim, one, words, behind, text)


def _one_for_all(explainer: Explainer, i: int) -> bool | None:
    """Return whether one arm attains the worth of group i in every dim; None if that is open."""
    size = len(explainer.problem.arms[i])
    low, high = explainer.verdict.low[i, :size], explainer.verdict.high[i, :size]
    plain = explainer.problem.measure is None  # else not every arm counts, or other arms attain
    if plain and (high < low.max(axis=0)).any(axis=1).all():
        return False
    found = explainer.best_arms(i).values()
    return True if len({arm for arm, _ in found}) == 1 and all(p for _, p in found) else None


def _behind(explainer: Explainer, i: int, weights: Floats) -> float | None:
    """Return by how much the best single arm seems to fall short of the group's weighted worth."""
    if not explainer.problem.worth.is_best:
        return None
    worth = explainer.best[i] @ weights
    own = explainer.means[i, : len(explainer.problem.arms[i]), : len(weights)] @ weights
    single = np.max(own[explainer.may_count(i)], initial=-np.inf)
    gap = float(worth - single)
    return gap if np.isfinite(gap) else None


def _words(
    explainer: Explainer,
    i: int,
    chosen: tuple[str | None, str],
    by_dim: dict[str, tuple[str, bool]],
    one: bool | None,
    status: Ints,
    behind: float | None,
) -> str:
    """Return one or two sentences on the arms of a group."""
    problem = explainer.problem
    group, names = problem.groups[i], problem.arms[i]
    if len(names) == 1:
        return f"{group}: {names[0]}, its only arm"
    arm, how = chosen
    # An arm that breaks a limit may well be better.
    those = "arms that keep the limits" if problem.limits else "arms"
    if how == "attains every dim":
        return f"{group}: {arm}; proven to be the best of its {those} in every dim"
    by = " and ".join(
        f"its {dim} to {name}{'' if proven else ' (by the estimates)'}"
        for dim, (name, proven) in by_dim.items()
    )
    parts = [f"{group}: it owes {by}"]
    if not problem.worth.is_best:
        parts = [f"{group}: {problem.worth.in_words()}"]
    if one is False:
        parts.append("no single arm has it all")
    if how == "best weighted mean":
        near = " within epsilon" if explainer.goal.epsilon else ""
        parts.append(f"{arm} is proven to have the best weighted mean of its {those}{near}")
    if behind is not None and behind > 0:
        parts.append(f"its best single arm falls short of the group's worth by about {behind:.4g}")
    if explainer.goal.worth_weights(len(explainer.names)) is None:
        parts += _front(names, status, problem, explainer.verdict.standing, i)
    known = explainer.verdict.standing
    if problem.limits and known is not None:
        kept = [name for j, name in enumerate(names) if known[i, j] == COUNTS]
        parts.append(f"proven to keep the limits: {_some(kept) if kept else 'none yet'}")
    return "; ".join(parts)


def _front(
    names: tuple[str, ...], status: Ints, problem: Problem, standing: Ints | None, i: int
) -> list[str]:
    """Return which arms are on the front of their group, as far as proven."""
    shown = []
    broken = np.zeros(len(names), np.bool_)
    if problem.limits and standing is not None:
        broken = standing[i, : len(names)] == BARRED
    counting = " that keeps the limits" if problem.limits else ""
    for chosen, what in (
        ((status == Status.IN) & ~broken, f"not beaten by another of its arms{counting}"),
        ((status == Status.OUT) & ~broken, "beaten in every dim" if not counting else "out"),
        ((status == Status.UNDECIDED) & ~broken, "open"),
        (broken, "breaks a limit"),
    ):
        arms = [name for name, is_so in zip(names, chosen, strict=True) if is_so]
        if arms:
            shown.append(f"{what}: {_some(arms)}")
    return shown


def _some(names: list[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"

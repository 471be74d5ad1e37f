"""Uniform sampling, UniS: as printed in the paper (section 5.1), and corrected.

As printed, every arm is pulled r_0 = ceil(8 / epsilon^2 log(2 A D / delta)) times, and a group is
named if no other beats it by epsilon or more. **That is not (epsilon, delta)-PAC.** r_0 gives
|R-hat - R| < epsilon / 2 only, so a group with a true gap up to 2 epsilon can be named: R_1 = x +
1.05 epsilon against R_2 = x names group 2 in about 40 % of runs at delta = 0.01. The sentence of
Appendix D holds only for groups that nothing seems to beat.

Corrected: with r_0 = ceil(32 / epsilon^2 log(2 A D / delta)) Hoeffding's inequality and a union
over the A D means give |R-hat - R| < epsilon / 4 with probability at least 1 - delta, hence |m-hat
- m| < epsilon / 2. Naming the groups with m-hat < epsilon / 2 then names every optimal one (m = 0)
and none with m > epsilon. With scales and epsilons for each dim, r_0 is the largest over dims of
the count with epsilon_d / sigma_d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import (
    Algorithm,
    Grounds,
    Kernels,
    Setting,
    all_ends,
    proven_for,
)
from bestgroup.algorithms.work import Work, predict
from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.guarantee import SINGLE_ARMS, Guarantee
from bestgroup.problem.instance import Instance


class UniformRule(NamedTuple):
    """How often every arm is pulled, and by how much a group must be beaten to be left out."""

    exists: Bools  # [N, K]
    pulls: int  # r_0
    tolerance: Floats  # [D]


class State(NamedTuple):
    """The answer, once it is there."""

    accepted: Bools  # [N]
    efficiency: Floats  # [N, D]
    done: Bools  # [1]


@kernel
def beaten(R: Floats, i: int, tolerance: Floats) -> bool:
    """Return whether some group is at least `tolerance` above group i in every dim."""
    N, D = R.shape
    for j in range(N):
        everywhere = j != i
        for d in range(D):
            # As printed: at least the tolerance, and in every dim.
            if not R[j, d] - R[i, d] >= tolerance[d]:
                everywhere = False
                break
        if everywhere:
            return True
    return False


@kernel
def plan(state: State, tally: Tally, rule: UniformRule) -> Ints:
    """Return r_0 pulls of every arm."""
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    for i in range(N):
        for j in range(K):
            # Groups of unequal size are padded; padding is never pulled.
            if rule.exists[i, j]:
                pulls[i, j] = rule.pulls
    return pulls


@kernel
def step(state: State, tally: Tally, rule: UniformRule) -> None:
    """Accept every group that is not beaten, in place."""
    N, K, D = tally.sums.shape
    for i in range(N):
        for d in range(D):
            best = -np.inf
            for j in range(K):
                if rule.exists[i, j]:
                    # All arms have r_0 pulls, so every mean counts alike.
                    best = max(best, tally.sums[i, j, d] / tally.counts[i, j])
            state.efficiency[i, d] = best
    for i in range(N):
        state.accepted[i] = not beaten(state.efficiency, i, rule.tolerance)
    state.done[0] = True


@kernel
def is_done(state: State, rule: UniformRule) -> bool:
    """Return whether the pulls are in."""
    return state.done[0]


@dataclass(frozen=True)
class Uniform(Algorithm):
    """UniS as printed in the paper; it has no guarantee, see the module."""

    name: ClassVar[str] = "unis"
    always_ends: ClassVar[bool] = True
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups,)
    kernels: ClassVar[Kernels | None] = Kernels(
        plan, step, is_done, jump="bestgroup.drivers.at_once"
    )
    needs_scale: ClassVar[bool] = True
    factor: ClassVar[float] = 8.0  # r_0 = factor / epsilon^2 log(2 A D / delta)
    share: ClassVar[float] = 1.0  # a group is left out if beaten by share * epsilon

    def check(self, setting: Setting) -> None:
        """Refuse epsilon = 0, for which r_0 is infinite."""
        super().check(setting)
        if (setting.goal.epsilons(setting.shape.dims) == 0).any():
            raise InvalidInput(f"algorithm {self.name!r} needs epsilon > 0 in every dim; got 0")

    def rule(self, setting: Setting) -> UniformRule:
        """Return r_0 and the tolerance."""
        shape = setting.shape
        epsilon = setting.goal.epsilons(shape.dims)
        scale = setting.noise.scales(shape.dims)
        log = math.log(2.0 * shape.total * shape.dims / setting.delta)
        wanted = max(
            self.factor * (s * s) / (e * e) * log if e > s * 1e-8 else math.inf
            for s, e in zip(scale.tolist(), epsilon.tolist(), strict=True)
        )
        if wanted * shape.total >= 2.0**62:
            raise InvalidInput(f"algorithm {self.name!r} would need more than 2**62 pulls here")
        pulls = math.ceil(wanted)
        return UniformRule(shape.exists, pulls, self.share * epsilon)

    def init(self, rule: UniformRule) -> State:
        """Return the state before any pull."""
        N, D = len(rule.exists), len(rule.tolerance)
        return State(np.zeros(N, np.bool_), np.zeros((N, D)), np.zeros(1, np.bool_))

    def answer(self, state: State, rule: UniformRule) -> frozenset[int]:
        """Return the groups that are not beaten."""
        return frozenset(np.flatnonzero(state.accepted).tolist())

    def record(self, state: State, rule: UniformRule) -> dict[str, Any]:
        """Return what a trace shows of the only round."""
        N, K = rule.exists.shape
        D = len(rule.tolerance)
        return {
            "groups": np.zeros(N, np.bool_),
            "dims": np.zeros((N, D), np.bool_),
            "arms": np.zeros((N, K, D), np.bool_),
            "accepted": state.accepted.copy(),
            "efficiency": state.efficiency.copy(),
        }

    def fixed_pulls(self, rule: UniformRule) -> int:
        """Return r_0 pulls of every arm."""
        return rule.pulls * int(rule.exists.sum())

    def work(self, instance: Instance, setting: Setting) -> Work:
        """Return the work of a run; by jumps a dim of an arm is one normal."""
        draws = self.fixed_pulls(self.rule(setting)) * instance.shape.dims
        return predict(instance, float(draws), walk=1.0, pair=0.0)

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return that there is none."""
        return Guarantee(
            "none",
            "UniS as printed is not (epsilon, delta)-PAC: it can name groups that are beaten by "
            "almost 2 epsilon; 'unis-corrected' is proven",
        )


@dataclass(frozen=True)
class UniformCorrected(Uniform):
    """UniS with four times the pulls and half the tolerance; PAC, see the module."""

    name: ClassVar[str] = "unis-corrected"
    factor: ClassVar[float] = 32.0
    share: ClassVar[float] = 0.5

    def grounds(self, setting: Setting) -> Grounds:
        """Return bounds of single arms at the one count that was fixed."""
        return Grounds("bounds", all_ends(setting.shape), once=self.rule(setting).pulls)

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that the module proves."""
        return proven_for(setting, *SINGLE_ARMS)

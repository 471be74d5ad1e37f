"""TEL (paper, section 5.2): finds the Pareto groups by TE, then weighs their estimates.

The sampling ignores the weights. Nothing is proven about the answer: two Pareto groups whose
weighted efficiencies are close are told apart by estimates that were never made precise enough for
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestgroup.algorithms.protocol import Rule, Setting
from bestgroup.algorithms.triple_elimination import State, TripleElimination
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import number
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.guarantee import Guarantee


@dataclass(frozen=True)
class ParetoThenWeigh(TripleElimination):
    """TEL: TE with epsilon = `pareto_epsilon`, then the largest R-hat . w of the accepted groups.

    R-hat are the last estimates, each as of the round in which its group left, resolved dims at the
    value they had. The goal's epsilon only judges the answer.
    """

    pareto_epsilon: float = 0.01

    name: ClassVar[str] = "tel"
    always_ends: ClassVar[bool] = True
    goals: ClassVar[tuple[type, ...]] = (BestGroup,)

    def __post_init__(self) -> None:
        super().__post_init__()
        epsilon = number(self.pareto_epsilon, "pareto_epsilon")
        if epsilon <= 0:
            raise InvalidInput(f"pareto_epsilon must be positive; got {epsilon:g}")
        object.__setattr__(self, "pareto_epsilon", epsilon)

    def rule(self, setting: Setting) -> Rule:
        """Return TE's rule with `pareto_epsilon`; it also carries the weights."""
        epsilon = np.full(setting.shape.dims, self.pareto_epsilon)
        return self.base_rule(setting, epsilon, self.phases)

    def answer(self, state: State, rule: Rule) -> frozenset[int]:
        """Return the accepted group with the largest weighted estimate, the first of equals."""
        scores = [
            sum(state.efficiency[i, d] * rule.weights[d] for d in range(len(rule.weights)))
            if state.accepted[i]
            else -np.inf
            for i in range(len(state.accepted))
        ]
        return frozenset({int(np.argmax(scores))})

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return that there is none."""
        return Guarantee(
            "none",
            "TEL has no proof of correctness: its estimates need not separate the weighted "
            "efficiencies of the Pareto groups (paper, section 5.2)",
        )

"""`OnItems`: what all algorithms on shared items have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting, proven_for
from bestgroup.algorithms.shared_items.rule import ItemsRule
from bestgroup.inference.confidence_sequences.boxes import BoxRule, kept_values
from bestgroup.problem.guarantee import Guarantee

_ROOM = 256  # items of an endless stream that drivers make room for at first


@dataclass(frozen=True)
class OnItems(Algorithm):
    """What all goals share: drivers keep the values themselves, in the order of the items."""

    batch: int | float = 0.01
    lockstep: bool = False
    older: bool = False  # fixed bets only, and a union over leaders

    name: ClassVar[str] = "adaptive"
    reads_values: ClassVar[bool] = True
    takes_items: ClassVar[bool] = True
    always_ends: ClassVar[bool] = True

    def statistics(self, setting: Setting) -> BoxRule:
        """Return that the values are kept."""
        assert setting.items is not None
        return kept_values(setting.shape.dims, setting.items.count or _ROOM)

    def remaining(self, state: Any, rule: Any) -> float | None:
        """Return how many items arms still need to pass, by what is seen now."""
        items = rule if isinstance(rule, ItemsRule) else rule.items
        if not state.round[0] or self.lockstep:
            return None
        return float(np.maximum(np.minimum(state.need, items.limit) - state.depth, 0.0).sum())

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that the module of the goal proves."""
        assert setting.items is not None
        return proven_for(setting, *assumptions(setting))


def assumptions(setting: Setting) -> tuple[str, ...]:
    """Return what proofs on shared items rest on, in words."""
    items = setting.items
    assert items is not None
    order = "every arm goes through the items in one order without skipping any"
    free = "arms may depend on each other in any way"
    if items.pool:
        return (
            f"means are those of these {items.count:,} items, each arm scored once on each",
            f"{order}, which was drawn at random before any value was seen",
            "what an arm scores on an item does not depend on the item's place in the order",
            free,
        )
    whole = "population that the items were drawn from" if items.count else "stream of items"
    return (
        f"means are those of the {whole}, which are independent draws",
        f"{order}, which no value chose",
        free,
    )

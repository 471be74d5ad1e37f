"""Kernels for a rule: what it never does is taken out of its compiled loop."""

from __future__ import annotations

from bestgroup.algorithms.adaptive.pareto import plain as plain  # these stand for bodies of kernels
from bestgroup.algorithms.adaptive.pareto import plain_steps as plain_steps
from bestgroup.algorithms.adaptive.pareto import plain_tests as plain_tests
from bestgroup.algorithms.adaptive.pareto.blocks import order_groups, put_leader
from bestgroup.algorithms.adaptive.pareto.certificates import (
    lack,
    lack_of_known,
    reaches,
    reaches_known,
    try_boxes,
    try_fronts,
)
from bestgroup.algorithms.adaptive.pareto.followers import follow_listed, relist
from bestgroup.algorithms.adaptive.pareto.ledger import (
    by_boxes,
    enter_sums,
    keeps_bets,
    kind_at,
    narrow_box,
)
from bestgroup.algorithms.adaptive.pareto.scores import (
    look_at_fronts,
    strength,
    strength_of_known,
    width_for_price,
)
from bestgroup.algorithms.adaptive.pareto.spread import pool_variances, set_variances
from bestgroup.algorithms.adaptive.pareto.steps import (
    KERNELS,
    AdaptiveRule,
    fill_batch,
    has_units,
)
from bestgroup.algorithms.adaptive.pareto.tree import graft_need, least_need, plant_needs
from bestgroup.algorithms.adaptive.pareto.view import (
    is_priced,
    keeps_lists,
    lists_pay,
    make_kept,
    spread_at,
    unit_of,
)
from bestgroup.algorithms.protocol import Kernels
from bestgroup.compile.binding import left_out
from bestgroup.inference.confidence_sequences.boxes import beyond_sums
from bestgroup.inference.kinds import SUBGAUSSIAN

# What a rule never does is taken out of its compiled loop: the same bits take three quarters of the
# time, and less code is compiled. Where every dim has a known scale, or boxes prove, variances are 1
# and nobody bets; where plans pull one arm there are no batches to fill.
_KNOWN_SCALES = (
    left_out(spread_at, 1.0),
    left_out(unit_of, 1.0),
    left_out(kind_at, SUBGAUSSIAN),
    left_out(keeps_bets, False),
    (strength, strength_of_known),
    (lack, lack_of_known),
    (reaches, reaches_known),
    left_out(set_variances),
    left_out(pool_variances),
    left_out(enter_sums),
)
_FEW_GROUPS = (
    left_out(keeps_lists, False),
    left_out(follow_listed),
    left_out(relist),
    left_out(plant_needs),
    left_out(graft_need),
    left_out(least_need, (0.0, -1)),
    left_out(put_leader),
    left_out(order_groups),
)
_MANY_GROUPS = (left_out(keeps_lists, True),)
_SINGLE_PULLS = (left_out(fill_batch), left_out(make_kept, 0))
_PAIRS = (left_out(by_boxes, False), left_out(narrow_box), left_out(try_boxes))
_SAME_PRICE = (
    left_out(is_priced, False),
    left_out(look_at_fronts),
    left_out(try_fronts),
    left_out(width_for_price, (0.0, 0)),
)


def kernels_for(rule: AdaptiveRule) -> Kernels:
    """Return the kernels for a rule."""
    levels = rule.levels
    instead = _MANY_GROUPS if lists_pay(len(rule.exists)) else _FEW_GROUPS
    values = beyond_sums(levels.box)
    if not has_units(rule):
        return KERNELS._replace(instead=instead + _PAIRS, values=values)
    instead += _KNOWN_SCALES
    # All three or none, and none by bets, where they would save a twentieth: whoever asks for another
    # loop waits half a minute for its compilation.
    if rule.size <= 1 and not levels.boxes and (rule.cost == rule.cost[0, 0]).all():
        instead += _SINGLE_PULLS + _PAIRS + _SAME_PRICE
    return KERNELS._replace(instead=instead, values=values)

"""Kernels for a rule: what it never does is taken out of its compiled loop."""

from __future__ import annotations

from bestgroup.algorithms.adaptive.pareto import plain as plain  # these stand for bodies of kernels
from bestgroup.algorithms.adaptive.pareto import plain_steps as plain_steps
from bestgroup.algorithms.adaptive.pareto import plain_tests as plain_tests
from bestgroup.algorithms.adaptive.pareto.blocks import order_groups, put_leader
from bestgroup.algorithms.adaptive.pareto.certificates import (
    Spread,
    lack,
    lack_of_known,
    reaches,
    reaches_known,
    try_boxes,
    try_fronts,
)
from bestgroup.algorithms.adaptive.pareto.followers import follow_listed, relist
from bestgroup.algorithms.adaptive.pareto.ledger import (
    Ledger,
    Levels,
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
    Ahead,
    State,
    fill_batch,
    has_units,
)
from bestgroup.algorithms.adaptive.pareto.tree import graft_need, least_need, plant_needs
from bestgroup.algorithms.adaptive.pareto.view import (
    Duties,
    Split,
    View,
    is_priced,
    keeps_lists,
    lists_pay,
    make_kept,
    spread_at,
    unit_of,
)
from bestgroup.algorithms.protocol import Kernels
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.kinds import SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints


@borrowing
def same_price(priced: Bools) -> bool:
    """Return False: all arms cost the same."""
    return False


@borrowing
def by_pairs(levels: Levels) -> bool:
    """Return False: evidence on pairs proves."""
    return False


@borrowing
def no_fronts(view: View, epsilon: Floats, exists: Bools, g: int) -> None:
    """Do nothing: all arms cost the same."""


@borrowing
def no_box(ledger: Ledger, tally: Tally, rule: BoxRule, i: int, j: int) -> None:
    """Do nothing: evidence on pairs proves."""


@borrowing
def unit_spread(spread: Floats, i: int, m: int, d: int) -> float:
    """Return 1."""
    return 1.0


@borrowing
def one_unit(lead_deviation: Floats, i: int, j: int, d: int) -> float:
    """Return 1."""
    return 1.0


@borrowing
def known_scale(kind: Ints, d: int) -> int:
    """Return the kind of noise with a known scale."""
    return SUBGAUSSIAN


@borrowing
def keeps_none(ledger: Ledger) -> bool:
    """Return False: no bets are made."""
    return False


@borrowing
def fill_none(state: State, rule: AdaptiveRule, ahead: Ahead, pulls: Ints) -> None:
    """Add nothing: plans pull one arm."""


@borrowing
def try_no_boxes(ledger: Ledger, duties: Duties, slack: Floats, exists: Bools, g: int) -> None:
    """Do nothing: evidence on pairs proves."""


@borrowing
def try_no_fronts(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    front: Ints,
    room: Floats,
    g: int,
) -> None:
    """Do nothing: all arms cost the same."""


@borrowing
def no_width(
    view: View, exists: Bools, kind: int, i: int, j: int, d: int, shift: float
) -> tuple[float, int]:
    """Return nothing of use: all arms cost the same."""
    return 0.0, 0


@borrowing
def no_variances(view: View, tally: Tally, kind: Ints, i: int, j: int) -> None:
    """Do nothing: variances are 1."""


@borrowing
def no_pool(view: View, tally: Tally, kind: Ints, exists: Bools) -> None:
    """Do nothing: variances are 1."""


@borrowing
def no_sums(ledger: Ledger, tally: Tally, kind: int, i: int, j: int, d: int) -> None:
    """Do nothing: no bets are made."""


@borrowing
def keeps_no_lists(first: Ints) -> bool:
    """Return False: there are few groups."""
    return False


@borrowing
def always_lists(first: Ints) -> bool:
    """Return True: there are many groups."""
    return True


@borrowing
def follow_nobody(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    moved: Bools,
    mover: int,
) -> None:
    """Do nothing: there are few groups."""


@borrowing
def relist_nothing(view: View) -> None:
    """Do nothing: there are few groups."""


@borrowing
def graft_nothing(view: View, i: int) -> None:
    """Do nothing: there are few groups."""


@borrowing
def need_nothing(view: View) -> tuple[float, int]:
    """Return nothing of use: there are few groups."""
    return 0.0, -1


@borrowing
def put_nothing(
    ledger: Ledger, d: int, g: int, leader: tuple[float, float, float], ease: tuple[float, float]
) -> None:
    """Do nothing: there are few groups."""


@borrowing
def order_nothing(ledger: Ledger, view: View, split: Split) -> None:
    """Do nothing: there are few groups."""


@kernel
def keep_nothing(view: View) -> int:
    """Return nothing of use: no plan looks ahead."""
    return 0


# What a rule never does is taken out of its compiled loop: the same bits take three quarters of the
# time, and less code is compiled. Where every dim has a known scale, or boxes prove, variances are 1
# and nobody bets; where plans pull one arm there are no batches to fill.
_KNOWN_SCALES = (
    (spread_at, unit_spread),
    (unit_of, one_unit),
    (kind_at, known_scale),
    (keeps_bets, keeps_none),
    (strength, strength_of_known),
    (lack, lack_of_known),
    (reaches, reaches_known),
    (set_variances, no_variances),
    (pool_variances, no_pool),
    (enter_sums, no_sums),
)
_FEW_GROUPS = (
    (keeps_lists, keeps_no_lists),
    (follow_listed, follow_nobody),
    (relist, relist_nothing),
    (plant_needs, relist_nothing),
    (graft_need, graft_nothing),
    (least_need, need_nothing),
    (put_leader, put_nothing),
    (order_groups, order_nothing),
)
_MANY_GROUPS = ((keeps_lists, always_lists),)
_SINGLE_PULLS = ((fill_batch, fill_none), (make_kept, keep_nothing))
_PAIRS = ((by_boxes, by_pairs), (narrow_box, no_box), (try_boxes, try_no_boxes))
_SAME_PRICE = (
    (is_priced, same_price),
    (look_at_fronts, no_fronts),
    (try_fronts, try_no_fronts),
    (width_for_price, no_width),
)


def kernels_for(rule: AdaptiveRule) -> Kernels:
    """Return the kernels for a rule."""
    levels, instead = rule.levels, ()
    if has_units(rule):
        instead += _KNOWN_SCALES
    instead += _MANY_GROUPS if lists_pay(len(rule.exists)) else _FEW_GROUPS
    # All three or none: each by itself would make eight loops of these two, and whoever asks for
    # another one waits half a minute for its compilation.
    if rule.size <= 1 and not levels.boxes and (rule.cost == rule.cost[0, 0]).all():
        instead += _SINGLE_PULLS + _PAIRS + _SAME_PRICE
    return KERNELS._replace(instead=instead)

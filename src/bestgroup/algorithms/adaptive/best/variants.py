"""Kernels for a rule: what it never does is taken out of its compiled loop."""

from __future__ import annotations

from bestgroup.algorithms.adaptive.best import units
from bestgroup.algorithms.adaptive.best.aim import aim, choose_arm, is_stale, set_means
from bestgroup.algorithms.adaptive.best.bets import decide_by_bets, note_before
from bestgroup.algorithms.adaptive.best.boxes import check_boxes, choose_box_arm
from bestgroup.algorithms.adaptive.best.costs import price_of, rate_of, spare
from bestgroup.algorithms.adaptive.best.state import LinearRule
from bestgroup.algorithms.adaptive.best.steps import KERNELS, fill_by_estimates, look_by_estimates
from bestgroup.algorithms.adaptive.best.stopping_check import check
from bestgroup.algorithms.protocol import Kernels
from bestgroup.compile.binding import left_out
from bestgroup.inference.evalues.prove import make_stack
from bestgroup.inference.evalues.search import make_pairwise, make_work
from bestgroup.inference.evalues.selection_wealth import make_hulls

# The loop of a rule is compiled in half the time that one loop for all rules takes. There are five: by
# half-normal mixtures on groups, for equal costs and for others, and on selections; by bets; by boxes.
_NO_BETS = (
    left_out(fill_by_estimates),
    left_out(look_by_estimates),
    left_out(note_before),
    left_out(decide_by_bets),
    left_out(make_hulls, 0),
)
_NO_BOXES = (left_out(choose_box_arm, (0, 0, 0)), left_out(check_boxes))
_NO_EVIDENCE = (
    left_out(choose_arm, (0, 0, 0)),
    left_out(check),
    left_out(is_stale, False),
    left_out(set_means),
    left_out(aim),
    left_out(make_pairwise, 0),
    left_out(make_work, 0),
    left_out(make_stack, 0),
)
_SAME_PRICE = (
    left_out(spare, (0.0, 0.0)),
    left_out(rate_of, 0.0),
    left_out(price_of, 1.0),
)


def kernels_for(rule: LinearRule) -> Kernels:
    """Return the kernels for a rule."""
    if rule.boxes:
        return KERNELS._replace(instead=_NO_EVIDENCE + _NO_BETS, values=True)
    if rule.by_group:
        prices = () if rule.priced else _SAME_PRICE
        return units.KERNELS._replace(instead=(left_out(make_hulls, 0), *prices))
    # Bets take so long that what costs could save them is not seen.
    bets = () if rule.bets else _NO_BETS
    return KERNELS._replace(instead=_NO_BOXES + bets, values=rule.bets)

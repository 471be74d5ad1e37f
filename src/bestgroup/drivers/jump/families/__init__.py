"""What a family of algorithms brings to the jump engine: hooks, and the rule in its memory.

The loops of the engine are written once and call *hooks*. A family binds its kernels to them, and
the result is compiled for it alone (`bind`). So a family can be read hook by hook:

* its tests: which may fire in a window (`screen`), whether one that may fire does and what follows
  (`judge`, `end_round`);
* its guards, if a test cannot fire while some pairwise comparisons hold (`guards`). Otherwise it
  says in their place which tests cannot fire for some rounds (`clears`), and when one may
  (`candidate`);
* its clock: at which counts arms are read at which rounds. All arms of TE and TE+ have as many pulls
  as there were rounds, as `envelopes` has it; those of EECB follow the clocks of their dims, and put
  other kernels in the place of these.

Hooks that have a body need not be bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bestgroup.compile.binding import hook
from bestgroup.compile.kernel import Kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import guard_risk
from bestgroup.drivers.jump.memory import Memory, Window
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.shape import Shape

NOBODY = -1  # no group, or no arm
# Kinds of items, in the order of a round: another group rejects the group; a dim of it is resolved; an
# arm leaves a dim; the group is accepted. From SIGN on, what is recorded of a pair of groups in a dim.
REJECT, RESOLVE, STALE, ACCEPT, SIGN = range(5)


class JumpRuns(NamedTuple):
    """Outcomes of runs; `distance` bounds each one's total variation distance to the exact law."""

    answers: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    distance: Floats  # [runs]
    rejected: Bools  # [runs, N]  rejected groups, also of runs that did not finish
    efficiency: Floats  # [runs, N, D]  as last known


def room_for(runs: int, sizes: tuple[int, int, int]) -> JumpRuns:
    """Return room for so many outcomes, of sizes (N, K, D)."""
    N, K, D = sizes
    return JumpRuns(
        answers=np.zeros((runs, N), np.bool_),
        counts=np.zeros((runs, N, K), np.int64),
        rounds=np.zeros(runs, np.int64),
        finished=np.zeros(runs, np.bool_),
        distance=np.zeros(runs),
        rejected=np.zeros((runs, N), np.bool_),
        efficiency=np.zeros((runs, N, D)),
    )


@dataclass(frozen=True)
class Family:
    """A family as `engine` uses it; an algorithm names its module in `Kernels.jump`."""

    hooks: Mapping[Kernel[..., Any], Kernel[..., Any]] = field(default_factory=dict)
    # (memory, rule, cells): write what hooks need of the rule, and so many cells of rounds
    load: Callable[[Memory, Any, int], None] = lambda m, rule, cells: None
    pace: Callable[[Any], int] = lambda rule: 3  # outer windows of few groups, see `Memory.pace`
    pairs: Callable[[Shape], int] = lambda shape: 0  # tests of pairs that may be items at once
    cells: int = 0  # of rounds, with boundaries of their own
    at_once: Callable[..., JumpRuns] | None = None  # instead of the loops


# Runs. `when`, `now`, `end`, `start` are rounds; items are numbers.


@bare
def begin_run(m: Memory, rule: Any, state: Any) -> None:
    """Begin a run: nothing but the sets of `Memory`, which are."""


@bare
def end_run(m: Memory, rule: Any, state: Any, limit: int, finished: bool) -> bool:
    """Write the outcome of a run to `Memory`, and return whether it is finished within the limit."""
    return finished


@bare
def is_stuck(m: Memory, rule: Any, state: Any) -> bool:
    """Return whether a run that pulls no arm any more can never be decided."""
    return False


@hook
def clock_after(state: Any, rule: Any, rounds: int, clock: Ints) -> None:
    """Set n^d, [D], so many rounds after the state's: the algorithm's `Lockstep.clock`."""


@bare
def begin_sprint(m: Memory, rule: Any, state: Any) -> None:
    """Prepare the rounds of a sprint: ask more of certificates if much was risked."""
    guard_risk(m)


@bare
def leave_window(m: Memory) -> None:
    """Go to the end of the window on top: the round is all that there is of a clock."""


# Tests.


@hook
def screen(m: Memory, rule: Any, state: Any, now: int, end: int) -> None:
    """Set envelopes over (now, end], the outer window, and make items of what may fire there."""


@bare
def is_dead(m: Memory, item: int) -> bool:
    """Return whether the sets keep an item from ever firing."""
    # Sets only shrink, so what is dead stays dead and its item is dropped for good.
    test = at.item(m, item)
    kind, i, j, d = test.kind, test.group, test.other, test.dim
    if not at.group(m, i).active:
        return True
    if kind == REJECT:
        return not at.group(m, j).active
    if kind == ACCEPT:
        return False
    if kind == STALE and not at.member(m, i, j, d).active:
        return True
    return not at.envelope(m, i, d).open or (kind >= SIGN and not at.envelope(m, j, d).open)


@hook
def judge(m: Memory, rule: Any, state: Any, item: int, when: int) -> None:
    """Let an item that may fire at a round fire, or look for its next candidate."""


@bare
def end_round(m: Memory) -> bool:
    """Do what follows from the whole of the last round with events; whether anything did."""
    return False


@bare
def reads(m: Memory, item: int, d: int) -> bool:
    """Return whether an item about a group reads its efficiency in dim d."""
    test = at.item(m, item)
    return test.kind == REJECT or test.kind == ACCEPT or test.dim == d


@hook
def is_stale(high: float, low: float, threshold: float) -> Any:
    """Return whether an arm with a mean of `low` leaves a dim of efficiency `high`."""


# Guards.


@hook
def guard(m: Memory, item: int, k: int, radii: Window) -> Any:
    """Return (i, j, d, arm, threshold): R_i^d is less than that above R_j^d, or above an arm of j."""


@bare
def guard_count(m: Memory, item: int) -> int:
    """Return the number of guards of an item."""
    return 1


@bare
def has_blocker(m: Memory, item: int) -> bool:
    """Return whether the group that keeps an item from firing, if it is about one, is in G."""
    test = at.item(m, item)
    # Other tests compare with one fixed group or arm, which `is_dead` looks at; these are tests
    # against all of G, and any member that fails them will do.
    if test.kind != RESOLVE and test.kind != ACCEPT:
        return True
    return test.other != NOBODY and at.group(m, test.other).active != 0


@bare
def find_blocker(m: Memory, item: int, beta: float) -> bool:
    """Find a group that keeps an item from firing; whether there is one."""
    return False


@bare
def is_barred(m: Memory, item: int, beta: float) -> bool:
    """Return whether the envelopes alone keep an item from firing while radii are above beta."""
    return False

"""What a family of algorithms brings to the jump engine: hooks, and the rule in its memory.

The loops of the engine are written once and call *hooks*. A family binds its kernels to them, and
the result is compiled for it alone (`bind`). So a family can be read hook by hook:

* its tests: which may fire in a window (`screen`), which of them never will (`is_dead`), which
  cannot fire for some rounds (`clears`), at which round one may (`candidate`), whether it does and
  what follows (`judge`, `end_round`);
* its guards, if a test cannot fire while some pairwise comparisons hold (`guards.py` then brings
  `clears`, `candidate` and `follow`);
* its clock: at which counts arms are read at which rounds. All arms of TE and TE+ have as many pulls
  as there were rounds (`envelopes.ROUND_CLOCK`); those of EECB follow the clocks of their dims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bestgroup.compile.binding import hook
from bestgroup.compile.kernel import Kernel
from bestgroup.compile.records import Numbers
from bestgroup.drivers.jump.memory import Memory, Radii
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.shape import Shape

DONE, CAPPED, STUCK = 0, 1, 2  # how a run ended
NOBODY = -1  # no group, or no arm


def _no_load(m: Memory, rule: Any, cells: int) -> None:
    """Write nothing."""


def _usual_pace(rule: Any) -> int:
    """Return the pace that suits most algorithms."""
    return 3


def _no_pairs(shape: Shape) -> int:
    """Return 0: tests of pairs are rare."""
    return 0


def _final(state: Any, accepted: Any, efficiency: Any) -> Any:
    """Return the state at the end of a run."""
    return state._replace(accepted=accepted, efficiency=efficiency)


class JumpRuns(NamedTuple):
    """Outcomes of runs; `distance` bounds each one's total variation distance to the exact law."""

    answers: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    distance: Floats  # [runs]
    rejected: Bools  # [runs, N]  rejected groups, also of runs that did not finish


@dataclass(frozen=True)
class Family:
    """A family as `engine` uses it; an algorithm names its module in `Kernels.jump`."""

    hooks: Mapping[Kernel[..., Any], Kernel[..., Any]] = field(default_factory=dict)
    load: Callable[[Memory, Any, int], None] = _no_load  # the rule, and so many cells of rounds
    pace: Callable[[Any], int] = _usual_pace  # outer windows of few groups, see `Memory.pace`
    pairs: Callable[[Shape], int] = _no_pairs  # tests of pairs of groups that may be items at once
    final: Callable[[Any, Any, Any], Any] = _final  # the state with these groups and efficiencies
    cells: int = 0  # of rounds, with boundaries of their own
    at_once: Callable[..., JumpRuns] | None = None  # instead of the loops


# Tests. Items are numbers; `when`, `now`, `end`, `start` are rounds.


@hook
def run(m: Memory, rule: Any, state: Any, limit: int) -> Any:
    """Do one run with at most so many pulls, and return how it ended."""


@hook
def screen(m: Memory, rule: Any, state: Any, now: int, end: int) -> None:
    """Set envelopes over (now, end], the outer window, and make items of what may fire there."""


@hook
def is_dead(m: Memory, item: int) -> Any:
    """Return whether the sets keep an item from ever firing."""


@hook
def clears(m: Memory, item: int, now: int, end: int) -> Any:
    """Return whether an item surely cannot fire in (now, end], the window on top."""


@hook
def candidate(m: Memory, item: int, start: int) -> Any:
    """Return the first round from `start` on, in the sprint, at which an item may fire, or NEVER."""


@hook
def judge(m: Memory, rule: Any, state: Any, item: int, when: int) -> None:
    """Let an item that may fire at a round fire, or look for its next candidate."""


@hook
def end_round(m: Memory) -> Any:
    """Do what follows from the whole of the last round with events; whether anything did."""


@hook
def reads(m: Memory, item: int, d: int) -> Any:
    """Return whether an item about a group reads its efficiency in dim d."""


@hook
def is_stale(high: float, low: float, threshold: float) -> Any:
    """Return whether an arm with a mean of `low` leaves a dim of efficiency `high`."""


# Guards.


@hook
def guard_count(m: Memory, item: int) -> Any:
    """Return the number of guards of an item."""


@hook
def guard(m: Memory, item: int, k: int, radii: Radii) -> Any:
    """Return (i, j, d, arm, threshold): R_i^d is less than that above R_j^d, or above an arm of j."""


@hook
def has_blocker(m: Memory, item: int) -> Any:
    """Return whether the group that keeps an item from firing, if it is about one, is in G."""


@hook
def find_blocker(m: Memory, item: int, beta: float) -> Any:
    """Find a group that keeps an item from firing; whether there is one."""


@hook
def is_barred(m: Memory, item: int, beta: float) -> Any:
    """Return whether the envelopes alone keep an item from firing while radii are above beta."""


# The clock.


@hook
def bounds_of(m: Memory, i: int, j: int, d: int, now: int, end: int) -> Any:
    """Return bounds of the mean of an arm over (now, end], which end in a known point."""


@hook
def means_of(m: Memory, i: int, j: int, d: int) -> Numbers:  # type: ignore[empty-body]
    """Return the means of an arm at the rounds of the sprint, made known; valid until asked again."""


@hook
def stays_under(m: Memory, i: int, j: int, d: int, level: float) -> Any:
    """Return whether the mean of an arm surely stays below a level in the sprint."""


@hook
def follow(m: Memory, item: int) -> Any:
    """Go on in time while an item is the only live one; returns NOT_ALONE, WENT or FOUND."""


@hook
def enter_window(m: Memory, rule: Any) -> None:
    """Prepare the window on top, the first half of the one below."""


@hook
def leave_window(m: Memory) -> None:
    """Go to the end of the window on top."""


@hook
def begin_sprint(m: Memory, rule: Any) -> None:
    """Prepare the rounds of a sprint."""


@hook
def forget_sprint(m: Memory) -> None:
    """Forget the efficiencies at the rounds of a sprint: who attains them may change."""

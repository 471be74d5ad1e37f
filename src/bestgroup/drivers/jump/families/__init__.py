"""What a family of algorithms brings to the jump engine: hooks, and the rule in its memory.

The loops of the engine are written once and call *hooks*. A family binds its kernels to them, and
the result is compiled for it alone (`bind`). So a family can be read hook by hook:

* its tests: their margins (`margin`), which may fire in a window (`screen`), whether one that may
  fire does and what follows (`judge`, `end_round`). That a test cannot fire for some rounds follows
  from its margin (`guards`), or the family says so in place of `guards.clears` and `candidate`;
* its radii, or its clock: at which counts arms are read at which rounds. All arms of TE and TE+ have
  as many pulls as there were rounds, as `envelopes` has it; those of EECB follow the clocks of their
  dims, and put other kernels in the place of these.

Hooks that have a body need not be bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bestgroup.compile.binding import hook
from bestgroup.compile.kernel import Kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import guard_risk
from bestgroup.drivers.jump.memory import ACCEPT, REJECT, STALE, Memory
from bestgroup.drivers.outcomes import Outcomes
from bestgroup.problem.arrays import Ints
from bestgroup.problem.shape import Shape


@dataclass(frozen=True)
class Family:
    """A family as `engine` uses it; an algorithm names its module in `Kernels.jump`."""

    hooks: Mapping[Kernel[..., Any], Kernel[..., Any]] = field(default_factory=dict)
    load: Callable[[Memory, Any], None] = lambda m, rule: None  # writes what hooks need of the rule
    pace: Callable[[Any], int] = lambda rule: 3  # outer windows of few groups, see `Memory.pace`
    pairs: Callable[[Shape], int] = lambda shape: 0  # tests of pairs that may be items at once
    cells: Callable[[Shape], int] = lambda shape: 0  # of rounds, with boundaries of their own
    at_once: Callable[..., Outcomes] | None = None  # instead of the loops


# Runs. `when`, `now`, `end`, `start` are rounds; items are numbers; rows are those of the clock.


@bare
def begin_run(m: Memory, rule: Any, state: Any) -> None:
    """Begin a run: nothing but the sets of `Memory`, which are."""


@bare
def end_run(m: Memory, rule: Any, state: Any, limit: int, finished: bool) -> bool:
    """Write the outcome of a run to `Memory`, and return whether it is finished within the limit."""
    return finished


@bare
def is_stuck(m: Memory, rule: Any, state: Any) -> bool:
    """Return whether a run pulls no arm any more and can never be decided."""
    return False


@hook
def clock_after(state: Any, rule: Any, rounds: int, clock: Ints) -> None:
    """Set n^d, [D], so many rounds after the state's: the algorithm's `Lockstep.clock`."""


@hook
def set_radii(m: Memory, rule: Any, row: int, now: int, end: int) -> None:
    """Write numbers below all radii of rounds now + 1, ..., end to a window."""


@bare
def is_busy(m: Memory, before: int) -> bool:
    """Return whether to go through the next rounds one by one, after a window from `before` to now."""
    return False


@bare
def rush(m: Memory, rule: Any, state: Any) -> None:
    """Go through the window round by round, with all that is read, or up to the end of the run."""


@bare
def begin_sprint(m: Memory, rule: Any, state: Any) -> None:
    """Prepare the rounds of a sprint: ask more of certificates if much was risked."""
    guard_risk(m)


# Tests.


@hook
def screen(m: Memory, rule: Any, state: Any, now: int) -> None:
    """Set envelopes from `now` to the end of the outer window, and make items of what may fire."""


@hook
def margin(m: Memory, kind: int, d: int, upper: float, lower: float, row: int) -> Any:
    """Return by how much a test that `upper` is above `lower` is passed, with the radii of a row."""


@bare
def is_dead(m: Memory, state: Any, item: int) -> bool:
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
    return not at.envelope(m, i, d).open or (kind == STALE and not at.member(m, i, j, d).active)


@bare
def find_blocker(m: Memory, item: int) -> bool:
    """Find a group that keeps an item from firing in the window on top; whether there is one."""
    return False


@hook
def judge(m: Memory, rule: Any, state: Any, item: int, when: int) -> None:
    """Let an item that may fire at a round fire, or look for its next candidate."""


@bare
def end_round(m: Memory, state: Any) -> bool:
    """Do what follows from the whole of the last round with events; whether anything did."""
    return False

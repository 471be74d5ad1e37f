"""Successive elimination by jumps: the tests of EECB, with the round as the clock of every dim."""

from __future__ import annotations

from dataclasses import replace

from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.binding import bind
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.families import clocks, equal_effect
from bestgroup.drivers.jump.memory import Memory


@bare
def _set_clock(m: Memory, rule: Rule, row: int, when: int, near: int, share: float) -> None:
    """Set a clock to that of a round."""
    for d in range(m.D):
        at.clock(m, row, d).count = when
    clocks.set_radii(m, rule, row)


@bare
def _next_clock(m: Memory, rule: Rule, row: int, before: int) -> None:
    """Set a clock to that of the round after another one's."""
    for d in range(m.D):
        at.clock(m, row, d).count = at.clock(m, before, d).count + 1
    clocks.set_radii(m, rule, row)


_CLOCK = {clocks.set_clock: _set_clock, clocks.next_clock: _next_clock}
FAMILY = replace(
    equal_effect.FAMILY,
    hooks={asked: bind(given, _CLOCK) for asked, given in equal_effect.FAMILY.hooks.items()},
)

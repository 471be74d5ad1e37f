"""Radii: how far the mean of r pulls can be from its expectation, for all r at once.

All are for scale 1; a dim with scale s uses s times the radius. Let A be the number of arms, N of
groups, D of dims. An elimination algorithm errs only if one of a list of inequalities fails:

* paper: |mean - mu| < radius(r) for all A D means and all r. Hoeffding's inequality with a union
  over r (paper, Lemma B.1) gives sqrt(2 log(4 A D r^2 / delta) / r), paper eq. (2).
* mixture, stitched: the proofs of TE and EECB use two one-sided statements only. No arm of a group
may
  look better than it is by the radius (A D events), and no best arm (i, i*_d) worse than it is (N D
  events): the best arm of a group in a dim is unknown but fixed, so no union over arms is paid for
  it. So each of D (A + N) one-sided boundaries gets delta / (D (A + N)). Lemma B.4 needs nothing
  else: R-hat is at least the mean of the best arm, and at most the largest overestimate.

One-sided normal mixture (Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021, Annals of Statistics
49(2)): for a sum S of r terms and rho > 0, the mixture of exp(u S - u^2 r / 2) over a half-normal u
with precision rho is a nonnegative supermartingale of mean at most 1, equal to 2 q exp(S^2 / (2 (r
+ rho))) Phi(x), with q = sqrt(rho / (r + rho)) and x = S / sqrt(r + rho). By Ville's inequality it
ever reaches 1 / alpha with probability at most alpha. At S = sqrt(2 (r + rho) log(1 + 1 / (2 alpha
q))) it has reached it: 1 - Phi(x) <= exp(-x^2 / 2) / 2 = alpha q / (1 + 2 alpha q), so its value is
at least 2 q (1 + 1 / (2 alpha q)) (1 + alpha q) / (1 + 2 alpha q) = (1 + alpha q) / alpha > 1 /
alpha. The radius takes the least of three rho, each at alpha / 3.

Stitched: P(some r has S_r >= 1.7 sqrt(r (log log(2 r) + 0.72 log(5.2 / alpha)))) <= alpha (Howard
et al. 2021, section 1, eq. (2), one-sided).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.errors import BestGroupError, InvalidInput
from bestgroup.problem.arrays import Floats, is_list, number, numbers
from bestgroup.problem.shape import Shape

PAPER, MIXTURE, STITCHED, TABLE = 0, 1, 2, 3
NAMES = {"paper": PAPER, "mixture": MIXTURE, "stitched": STITCHED}

_RHO_LOW, _RHO_MIDDLE, _RHO_HIGH = 2.0**8, 2.0**12, 2.0**16


FIRST_TABLE = 1024  # rounds for which a radius function is tabulated at first


class RadiusEnded(BestGroupError):
    """A radius given by a table was asked for a round beyond its end."""


class Radius(NamedTuple):
    """A radius as the kernels see it; `radius_at` evaluates it."""

    kind: int  # PAPER, MIXTURE, STITCHED or TABLE
    events: float  # A D for the paper's radius, D (A + N) for the one-sided ones
    delta: float
    factor: float  # radius_scale: 1 unless the user asks for less
    table: Floats  # radii of rounds 1, 2, ...; empty unless kind is TABLE


@kernel
def radius_at(radius: Radius, r: int) -> float:
    """Return the radius after r pulls."""
    n = float(r)
    if radius.kind == PAPER:
        value = math.sqrt(2.0 * math.log(4.0 * radius.events * n * n / radius.delta) / n)
    elif radius.kind == MIXTURE:
        alpha = radius.delta / (3.0 * radius.events)
        value = mixture_boundary(n, _RHO_LOW, alpha)
        value = min(value, mixture_boundary(n, _RHO_MIDDLE, alpha))
        value = min(value, mixture_boundary(n, _RHO_HIGH, alpha)) / n
    elif radius.kind == STITCHED:
        level = 0.72 * math.log(5.2 * radius.events / radius.delta)
        value = 1.7 * math.sqrt((math.log(math.log(2.0 * n)) + level) / n)
    else:
        if r > len(radius.table):
            raise RadiusEnded("the radius table has ended")
        value = radius.table[r - 1]
    return radius.factor * value


# A computed radius decreases but for rounding; this share of it is below all earlier ones.
_BELOW = 1.0 - 1e-12


@kernel
def radius_below(radius: Radius, r: int) -> float:
    """Return a number below every radius up to round r; a table's, which may go up, has none."""
    if radius.kind == TABLE:
        return -np.inf
    return _BELOW * radius_at(radius, r)


@kernel
def mixture_boundary(v: float, rho: float, alpha: float) -> float:
    """Return the one-sided normal-mixture boundary for a sum with variance v (see the module)."""
    return math.sqrt(2.0 * (v + rho) * math.log(1.0 + math.sqrt((v + rho) / rho) / (2.0 * alpha)))


def check_radius(radius: Any) -> Any:
    """Return `radius` if it names a radius, is a table, or can be called; otherwise refuses."""
    if isinstance(radius, str):
        if radius not in NAMES:
            raise InvalidInput(
                f"radius must be one of {', '.join(NAMES)}, a table or a function of the round; "
                f"got {radius!r}"
            )
        return radius
    if callable(radius) or callable(getattr(radius, "radius", None)):
        return radius
    table = numbers(radius, "a radius table")
    if table.ndim != 1 or table.size == 0 or (table <= 0).any():
        raise InvalidInput("a radius table must be a list of positive numbers for rounds 1, 2, ...")
    return tuple(table.tolist())


def make_radius(spec: Any, shape: Shape, delta: float, factor: float, rounds: int = 0) -> Radius:
    """Return the radius that `spec` stands for.

    `spec` is a name, a table (the radius of round r is table[r - 1]), or a function of r, or of r
    and delta, or an object with such a method `radius`; a function is tabulated for `rounds`
    rounds.
    """
    dims, arms, groups = shape.dims, shape.total, shape.groups
    if isinstance(spec, str):
        kind = NAMES[spec]
        events = float(arms * dims if kind == PAPER else dims * (arms + groups))
        return Radius(kind, events, delta, factor, np.empty(0))
    if is_list(spec):
        return Radius(TABLE, 1.0, delta, factor, np.array(spec))
    call = _one_argument(spec if callable(spec) else spec.radius, delta)
    table: list[float] = []
    for r in range(1, max(rounds, FIRST_TABLE) + 1):
        try:
            value = call(r)
        except LookupError:  # the function itself reads a table that ends here
            break
        table.append(number(value, f"the radius of round {r}"))
    if min(table, default=0.0) <= 0:
        raise InvalidInput("a radius must be positive at every round")
    return Radius(TABLE, 1.0, delta, factor, np.array(table))


def longer(spec: Any, radius: Radius) -> int:
    """Return for how many rounds to tabulate a radius function that has ended; refuses a table."""
    if isinstance(spec, str | tuple) or len(radius.table) % FIRST_TABLE:
        raise InvalidInput("the radius table ended before the algorithm did; give a longer one")
    return 4 * len(radius.table)


def _one_argument(call: Callable[..., Any], delta: float) -> Callable[[int], float]:
    try:
        needed = [
            p
            for p in inspect.signature(call).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        needed = []
    if len(needed) >= 2:
        return lambda r: call(r, delta)
    return lambda r: call(r)

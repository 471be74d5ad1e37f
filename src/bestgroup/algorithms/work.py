"""How much a run costs in either engine, as far as the specification tells it beforehand.

The unit is the time of one standard normal. The estimates follow the means as if there were no
noise; they choose an engine and promise nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Bools, Floats
from bestgroup.problem.instance import Instance
from bestgroup.theory.gaps import group_gaps


class Work(NamedTuple):
    """About how long a run takes in either engine, and how many rewards are read."""

    exact: float
    jump: float
    draws: float


GRID = np.floor(2.0 ** np.arange(0.0, 50.25, 0.25))  # rounds at which radii are compared
# Measured: normals that a reward of the exact engine and a pair of groups in the other are worth.
_EXACT_DRAW, _JUMP_PAIR = 2.0, 20.0


class Walks(NamedTuple):
    """What distances are compared with, in units of the noise, and which rewards are read."""

    exists: Bools  # [N, K]
    epsilon: Floats  # [D]
    scale: Floats  # [D]
    radii: Floats  # of the rounds of `GRID`
    drops_arms: bool


def predict(
    instance: Instance,
    draws: float,
    walk: float,
    pair: float = _JUMP_PAIR,
    draw: float = _EXACT_DRAW,
) -> Work:
    """Return the work of a run with so many rewards; the others are measured normals.

    `draw` is what a reward costs the exact engine, `walk` what a dim of an arm costs the jump
    engine, and `pair` what a pair of groups does.
    """
    shape = instance.shape
    jump = walk * shape.total * shape.dims + pair * shape.groups**2
    return Work(draw * draws, jump, draws)


def lockstep_draws(instance: Instance, walks: Walks) -> float:
    """Return about how many rewards are drawn: those of active arms in unresolved dims.

    A group leaves when the radius is Delta_i + epsilon, an arm leaves a dim when the radius is its
    distance to the best one there; all in units of the noise.
    """
    scaled = instance.efficiency / walks.scale
    group, _, _ = group_gaps(scaled)
    leave = rounds_until(group + (walks.epsilon / walks.scale).min(), walks.radii)
    lacks = (instance.efficiency[:, None, :] - instance.padded_means) / walks.scale
    stay = np.broadcast_to(leave[:, None, None], lacks.shape)
    if walks.drops_arms:
        stay = np.minimum(stay, rounds_until(np.nan_to_num(lacks), walks.radii))
    return float(stay[walks.exists].sum())


def rounds_until(levels: Floats, radii: Floats) -> Floats:
    """Return the round at which a radius, given on `GRID`, comes down to each level; at most 2^50."""
    order = np.argsort(radii)
    safe = np.maximum(levels, 1e-300)
    return np.exp(np.interp(np.log(safe), np.log(radii[order]), np.log(GRID[order])))

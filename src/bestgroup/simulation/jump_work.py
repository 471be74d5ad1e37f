"""How much a run costs in either engine, as far as the specification tells it beforehand.

The unit is the time of one standard normal. The estimates follow the means as if there were no
noise; they choose an engine and promise nothing.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Rule, Setting
from bestgroup.algorithms.triple_elimination import TripleElimination
from bestgroup.algorithms.uniform import Uniform
from bestgroup.core.arrays import Floats
from bestgroup.core.confidence import Radius, radius_at
from bestgroup.core.gaps import group_gaps
from bestgroup.core.problem import Instance

# Measured: normals that the engines' time is worth, for a reward drawn and for a walk.
_EXACT_DRAW, _JUMP_WALK, _JUMP_PAIR = 2.0, 3000.0, 20.0
_JUMP_EFFECT_WALK = 11000.0
_JUMP_GROUP_WALK = 700.0  # without the elimination of arms and dims


def is_jump_quicker(instance: Instance, setting: Setting, algorithm: Algorithm) -> bool:
    """Return whether the jump engine is expected to be quicker than the exact one."""
    if isinstance(algorithm, Uniform):
        return True
    rule = algorithm.rule(setting)
    shape = instance.shape
    if isinstance(algorithm, TripleElimination):
        draws = elimination_draws(instance, rule)
        walk = _JUMP_WALK if rule.options.arms else _JUMP_GROUP_WALK
    else:
        draws, walk = effect_draws(instance, rule), _JUMP_EFFECT_WALK
    cost = walk * shape.total * shape.dims + _JUMP_PAIR * shape.groups**2
    return _EXACT_DRAW * draws > cost


def elimination_draws(instance: Instance, rule: Rule) -> float:
    """Return about how many rewards TE, AGE or GE draw: those of active arms in unresolved dims.

    A group leaves when 2 beta = Delta_i + epsilon, an arm leaves a dim when 2 beta is its distance
    to the best one there; all in units of the noise.
    """
    scaled = instance.efficiency / rule.scale
    group, _, _ = group_gaps(scaled)
    leave = rounds_until(0.5 * (group + (rule.epsilon / rule.scale).min()), rule.radius)
    lacks = (instance.efficiency[:, None, :] - instance.padded_means) / rule.scale
    stay = np.broadcast_to(leave[:, None, None], lacks.shape)
    if rule.options.arms:
        stay = np.minimum(stay, rounds_until(0.5 * np.nan_to_num(lacks), rule.radius))
    return float(stay[rule.exists].sum())


def effect_draws(instance: Instance, rule: Rule) -> float:
    """Return about how many rewards EECB draws.

    A group leaves when 2 sum_d w^d beta(n^d) is the distance of its worth to the best one's, with
    equal terms; an arm leaves a dim as in `elimination_draws`, and is pulled by the slowest dim.
    """
    share, dims = rule.weights * rule.scale, len(rule.scale)
    worth = instance.efficiency @ rule.weights
    distance = worth.max() - worth
    others = np.delete(distance, int(worth.argmax()))
    distance[worth.argmax()] = others.min(initial=np.inf)
    slack = float(rule.epsilon @ rule.weights)
    leave = rounds_until((distance + slack)[:, None] / (2.0 * dims * share), rule.radius)
    lacks = (instance.efficiency[:, None, :] - instance.padded_means) / rule.scale
    stay = rounds_until(0.5 * np.nan_to_num(lacks), rule.radius)
    pulls = np.minimum(stay, leave[:, None, :]).max(axis=2)
    return float(pulls[rule.exists].sum()) * dims


def rounds_until(levels: Floats, radius: Radius) -> Floats:
    """Return the round at which the radius comes down to each level; at most 2^50."""
    grid = 2.0 ** np.arange(0.0, 50.25, 0.25)
    values = np.array([radius_at(radius, int(r)) for r in grid])
    order = np.argsort(values)
    safe = np.maximum(levels, 1e-300)
    return np.exp(np.interp(np.log(safe), np.log(values[order]), np.log(grid[order])))

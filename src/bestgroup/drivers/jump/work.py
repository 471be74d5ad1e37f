"""How much a run costs in either engine, as far as the specification tells it beforehand.

The unit is the time of one standard normal. The estimates follow the means as if there were no
noise; they choose an engine and promise nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Rule, Setting
from bestgroup.algorithms.te_plus.algorithm import TePlus
from bestgroup.algorithms.te_plus.radii import PairRule
from bestgroup.algorithms.triple_elimination import TripleElimination
from bestgroup.algorithms.uniform import Uniform
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.radii import radius_at
from bestgroup.problem.arrays import Floats
from bestgroup.problem.instance import Instance
from bestgroup.theory.gaps import group_gaps

# Measured: normals that the engines' time is worth, for a reward drawn and for a walk.
_EXACT_DRAW, _JUMP_WALK, _JUMP_PAIR = 2.0, 2000.0, 20.0
_JUMP_EFFECT_WALK = 11000.0
_JUMP_SIGN = 1500.0  # TE+, for a pair of groups and a dim
_EXACT_PLUS_DRAW, _EXACT_PLUS_GROUP = 6.0, 0.6  # TE+ looks at all pairs of groups
_JUMP_GROUP_WALK = 400.0  # without the elimination of arms and dims

_GRID = np.floor(2.0 ** np.arange(0.0, 50.25, 0.25))


def is_jump_quicker(instance: Instance, setting: Setting, algorithm: Algorithm) -> bool:
    """Return whether the jump engine is expected to be quicker than the exact one."""
    if isinstance(algorithm, Uniform):
        return True
    rule: Any = algorithm.rule(setting)
    shape, draw, pair = instance.shape, _EXACT_DRAW, _JUMP_PAIR
    if isinstance(algorithm, TripleElimination):
        draws = elimination_draws(instance, rule)
        walk = _JUMP_WALK if rule.options.arms else _JUMP_GROUP_WALK
    elif isinstance(algorithm, TePlus):
        draws, walk, pair = plus_draws(instance, rule), _JUMP_WALK, _JUMP_SIGN * shape.dims
        draw = _EXACT_PLUS_DRAW + _EXACT_PLUS_GROUP * shape.groups
    else:
        draws, walk = effect_draws(instance, rule), _JUMP_EFFECT_WALK
    cost = walk * shape.total * shape.dims + pair * shape.groups**2
    return draw * draws > cost


def elimination_draws(instance: Instance, rule: Rule) -> float:
    """Return about how many rewards TE, AGE or GE draw: those of active arms in unresolved dims.

    A group leaves when 2 beta = Delta_i + epsilon, an arm leaves a dim when 2 beta is its distance
    to the best one there; all in units of the noise.
    """
    radii = np.array([radius_at(rule.radius, int(r)) for r in _GRID])
    return _lockstep_draws(instance, rule, 2.0 * radii, rule.options.arms)


def plus_draws(instance: Instance, rule: PairRule) -> float:
    """Return about how many rewards TE+ draws, as `elimination_draws` with its radius of pairs."""
    radii = [rule.factor * mixture_edge(rule.variance * r, rule.alphas[0]) / r for r in _GRID]
    return _lockstep_draws(instance, rule, np.array(radii), True)


def _lockstep_draws(instance: Instance, rule: Rule | PairRule, radii: Floats, drops: bool) -> float:
    """Return the sum of the rounds of all walks, if `radii` of `_GRID` are compared with distances."""
    scaled = instance.efficiency / rule.scale
    group, _, _ = group_gaps(scaled)
    leave = _rounds_until(group + (rule.epsilon / rule.scale).min(), radii)
    lacks = (instance.efficiency[:, None, :] - instance.padded_means) / rule.scale
    stay = np.broadcast_to(leave[:, None, None], lacks.shape)
    if drops:
        stay = np.minimum(stay, _rounds_until(np.nan_to_num(lacks), radii))
    return float(stay[rule.exists].sum())


def effect_draws(instance: Instance, rule: Rule) -> float:
    """Return about how many rewards EECB draws.

    A group leaves when 2 sum_d w^d beta(n^d) is the distance of its worth to the best one's, with
    equal terms; an arm leaves a dim as in `elimination_draws`, and is pulled by the slowest dim.
    """
    radii = np.array([radius_at(rule.radius, int(r)) for r in _GRID])
    share, dims = rule.weights * rule.scale, len(rule.scale)
    worth = instance.efficiency @ rule.weights
    distance = worth.max() - worth
    others = np.delete(distance, int(worth.argmax()))
    distance[worth.argmax()] = others.min(initial=np.inf)
    slack = float(rule.epsilon @ rule.weights)
    leave = _rounds_until((distance + slack)[:, None] / (2.0 * dims * share), radii)
    lacks = (instance.efficiency[:, None, :] - instance.padded_means) / rule.scale
    stay = _rounds_until(0.5 * np.nan_to_num(lacks), radii)
    pulls = np.minimum(stay, leave[:, None, :]).max(axis=2)
    return float(pulls[rule.exists].sum()) * dims


def _rounds_until(levels: Floats, radii: Floats) -> Floats:
    """Return the round at which a radius, given on `_GRID`, comes down to each level; at most 2^50."""
    order = np.argsort(radii)
    safe = np.maximum(levels, 1e-300)
    return np.exp(np.interp(np.log(safe), np.log(radii[order]), np.log(_GRID[order])))

"""The questions: Pareto-optimal groups, the best or the m best for given weights, a map of weights.

Numbers by dim are a list in the order of the decided dims, or a mapping from names; `check_goal` puts
a mapping into the order of a problem's dims.
"""

from bestgroup.problem.goals.base import Goal, for_goal
from bestgroup.problem.goals.best import BestGroup
from bestgroup.problem.goals.pareto import ParetoGroups
from bestgroup.problem.goals.reading import KINDS, check_goal, goal_from_dict
from bestgroup.problem.goals.top import TopGroups
from bestgroup.problem.goals.weight_map import WeightMap

__all__ = [
    "KINDS",
    "BestGroup",
    "Goal",
    "ParetoGroups",
    "TopGroups",
    "WeightMap",
    "check_goal",
    "for_goal",
    "goal_from_dict",
]

"""Finds the best groups among many noisy options, with a proof, from as few samples as possible.

Everything public is here; modules load when one of their names is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bestgroup._version import __version__

if TYPE_CHECKING:
    from bestgroup import datasets, testing
    from bestgroup.algorithms.protocol import Algorithm, Setting
    from bestgroup.algorithms.registry import algorithm, register
    from bestgroup.calibration import Calibration, calibrate
    from bestgroup.certification import Certificate, certify
    from bestgroup.comparison import Comparison, compare
    from bestgroup.core import laws
    from bestgroup.core.bounds import lower_bound, upper_bound
    from bestgroup.core.dominance import (
        deficit,
        dominated,
        efficiency,
        excess,
        is_correct,
        optimal_groups,
        pareto_groups,
        strictly_dominated,
        weakly_dominated,
    )
    from bestgroup.core.gaps import gaps
    from bestgroup.core.goals import BestGroup, ParetoGroups
    from bestgroup.core.guarantee import Guarantee
    from bestgroup.core.limit import characteristic_time
    from bestgroup.core.live import Problem
    from bestgroup.core.noise import Bernoulli, Bounded, Gaussian, SubGaussian
    from bestgroup.core.problem import Instance
    from bestgroup.core.tally import Tally
    from bestgroup.errors import BestGroupError, InvalidInput, StoreError, TicketError
    from bestgroup.planning import Plan, plan
    from bestgroup.simulation.replicate import Simulation, simulate
    from bestgroup.simulation.tapes import Tape, Trace, replay
    from bestgroup.solving import Solution, solve
    from bestgroup.spec import Spec, load_spec
    from bestgroup.spec_write import save_spec
    from bestgroup.study import Study, create_study, delete_study, list_studies, load_study

_HOMES = {
    "Algorithm": "algorithms.protocol",
    "Bernoulli": "core.noise",
    "BestGroup": "core.goals",
    "BestGroupError": "errors",
    "Bounded": "core.noise",
    "Calibration": "calibration",
    "Certificate": "certification",
    "Comparison": "comparison",
    "EvaluationFailed": "errors",
    "Gaussian": "core.noise",
    "Guarantee": "core.guarantee",
    "Instance": "core.problem",
    "InvalidInput": "errors",
    "ParetoGroups": "core.goals",
    "Plan": "planning",
    "Problem": "core.live",
    "Setting": "algorithms.protocol",
    "Simulation": "simulation.replicate",
    "Solution": "solving",
    "Spec": "spec",
    "StoreError": "errors",
    "Study": "study",
    "SubGaussian": "core.noise",
    "Tally": "core.tally",
    "Tape": "simulation.tapes",
    "TicketError": "errors",
    "Trace": "simulation.tapes",
    "algorithm": "algorithms.registry",
    "calibrate": "calibration",
    "certify": "certification",
    "characteristic_time": "core.limit",
    "compare": "comparison",
    "create_study": "study",
    "datasets": "",
    "deficit": "core.dominance",
    "delete_study": "study",
    "dominated": "core.dominance",
    "efficiency": "core.dominance",
    "excess": "core.dominance",
    "gaps": "core.gaps",
    "is_correct": "core.dominance",
    "laws": "core",
    "list_studies": "study",
    "load_spec": "spec",
    "load_study": "study",
    "lower_bound": "core.bounds",
    "optimal_groups": "core.dominance",
    "pareto_groups": "core.dominance",
    "plan": "planning",
    "register": "algorithms.registry",
    "replay": "simulation.tapes",
    "save_spec": "spec_write",
    "simulate": "simulation.replicate",
    "solve": "solving",
    "strictly_dominated": "core.dominance",
    "testing": "",
    "upper_bound": "core.bounds",
    "weakly_dominated": "core.dominance",
}

__all__ = [
    "Algorithm",
    "Bernoulli",
    "BestGroup",
    "BestGroupError",
    "Bounded",
    "Calibration",
    "Certificate",
    "Comparison",
    "EvaluationFailed",
    "Gaussian",
    "Guarantee",
    "Instance",
    "InvalidInput",
    "ParetoGroups",
    "Plan",
    "Problem",
    "Setting",
    "Simulation",
    "Solution",
    "Spec",
    "StoreError",
    "Study",
    "SubGaussian",
    "Tally",
    "Tape",
    "TicketError",
    "Trace",
    "__version__",
    "algorithm",
    "calibrate",
    "certify",
    "characteristic_time",
    "compare",
    "create_study",
    "datasets",
    "deficit",
    "delete_study",
    "dominated",
    "efficiency",
    "excess",
    "gaps",
    "is_correct",
    "laws",
    "list_studies",
    "load_spec",
    "load_study",
    "lower_bound",
    "optimal_groups",
    "pareto_groups",
    "plan",
    "register",
    "replay",
    "save_spec",
    "simulate",
    "solve",
    "strictly_dominated",
    "testing",
    "upper_bound",
    "weakly_dominated",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'bestgroup' has no attribute {name!r}")
    if home in ("", "core"):
        value = importlib.import_module(f"bestgroup.{home}.{name}".replace("..", "."))
    else:
        value = getattr(importlib.import_module(f"bestgroup.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

"""`compare`: every algorithm on the same instance, next to the limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import algorithm as make_algorithm
from bestgroup.algorithms.registry import names
from bestgroup.errors import InvalidInput
from bestgroup.plots.simulation import comparison_view
from bestgroup.problem.arrays import probability
from bestgroup.problem.frames import data_frame
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.instance import Instance, check_instance
from bestgroup.problem.markup import card, folded, rows_table
from bestgroup.problem.showing import brief
from bestgroup.simulation.progress import narrowing
from bestgroup.simulation.simulate import Simulation, simulate
from bestgroup.theory.characteristic_time.limit import (
    CharacteristicTime,
    characteristic_time,
    limit_at_worst,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """What each algorithm did, and the limit: `limit` is a lower bound on the expected pulls."""

    instance: Instance
    goal: Goal
    delta: float
    time: CharacteristicTime | None
    simulations: tuple[Simulation, ...]
    left_out: tuple[
        tuple[str, str], ...
    ] = ()  # (name, why) of those that answer the goal but not here
    worst: CharacteristicTime | None = None  # T* if the dims of a pull share one noise

    @property
    def limit(self) -> float | None:
        """T* kl(delta, 1 - delta), certified; None if it was not computed or says nothing."""
        return self._pulls(self.time)

    @property
    def limit_at_worst(self) -> float | None:
        """The same if the dims of a pull share one noise, where dims may depend and that matters."""
        return self._pulls(self.worst)

    def _pulls(self, time: CharacteristicTime | None) -> float | None:
        samples = 0.0 if time is None else time.samples(self.delta)
        return samples if samples > 0 else None

    def to_records(self) -> list[dict[str, Any]]:
        """Return one plain dictionary an algorithm, in the order of the comparison."""
        base = float(self.simulations[0].pulls.mean())
        return [
            {
                "algorithm": str(sim.algorithm),
                "pulls": float(sim.pulls.mean()),
                "sd": float(sim.pulls.std(ddof=1)) if sim.runs > 1 else None,
                "ratio_to_first": float(sim.pulls.mean()) / base,
                "times_the_limit": float(sim.pulls.mean()) / self.limit if self.limit else None,
                "runs": sim.runs,
                "finished": int(sim.finished.sum()),
                "errors": sim.errors,
                "guarantee": sim.guarantee.level,
                "engine": sim.engine,
            }
            for sim in self.simulations
        ]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each algorithm."""
        return data_frame(self.to_records())

    def plot(self) -> Figure:
        """Return the mean pulls of each algorithm, with the limit as a line."""
        return comparison_view(self)

    def _repr_html_(self) -> str:
        rows = [
            (
                row["algorithm"],
                f"{row['pulls']:,.0f}",
                "" if row["times_the_limit"] is None else f"{row['times_the_limit']:,.1f}",
                f"{row['errors']} of {row['runs']:,}",
                row["guarantee"],
            )
            for row in self.to_records()
        ]
        heads = ["algorithm", ">mean pulls", ">times the limit", ">wrong answers", "guarantee"]
        limit = "" if self.limit is None else f", limit {self.limit:,.0f} pulls"
        facts = f"{brief(self.goal)}, delta = {self.delta:g}{limit}"
        left = folded("Left out", [f"{name}: {why}" for name, why in self.left_out])
        return card("Comparison", facts, rows_table(heads, rows), left)

    def __repr__(self) -> str:
        names = ", ".join(f"{row['algorithm']} {row['pulls']:,.0f}" for row in self.to_records())
        limit = "none" if self.limit is None else f"{self.limit:,.0f}"
        return f"Comparison(mean pulls: {names}; limit {limit}; delta={self.delta:g})"


def compare(
    instance: Instance,
    goal: Goal,
    algorithms: Sequence[str | Algorithm] | None = None,
    delta: float = 0.01,
    runs: int = 20,
    seed: int = 0,
    *,
    limit: bool = True,
    workers: int | str = 1,
    max_pulls: int | None = None,
) -> Comparison:
    """Return the pulls of several algorithms on one instance, next to the limit.

    `algorithms` are all that answer the goal and end by themselves, without those that cannot work
    here, such as algorithms that need a scale where none is known: `left_out` says which and why.
    `limit` False spares computing T*.
    """
    goal = check_goal(goal, check_instance(instance).decided)
    setting = Setting.for_instance(instance, goal, probability(delta))
    chosen, left_out = _choose(setting, algorithms)
    time = worst = None
    # T* is that of arms that share nothing, all of which count, and of groups worth their best arm.
    if limit and instance.items is None and instance.measure is None:
        with narrowing("limit T*") as watch:
            time = characteristic_time(instance, goal, progress=watch)
            worst = limit_at_worst(instance, goal, watch)
    simulations = tuple(
        simulate(instance, goal, one, delta, runs, seed, workers=workers, max_pulls=max_pulls)
        for one in chosen
    )
    return Comparison(instance, goal, setting.delta, time, simulations, tuple(left_out), worst)


def _choose(
    setting: Setting, given: Sequence[str | Algorithm] | None
) -> tuple[list[Algorithm], list[tuple[str, str]]]:
    """Return the algorithms, and the name and the reason of each one that is left out."""
    if given is not None:
        chosen = [make_algorithm(name) for name in given]
        for one in chosen:
            one.check(setting)
        if not chosen:
            raise InvalidInput("compare needs at least one algorithm")
        return chosen, []
    fitting: list[Algorithm] = []
    left_out: list[tuple[str, str]] = []
    for name in names():
        one = make_algorithm(name)
        if one.needs_budget or not isinstance(setting.goal, one.goals):
            continue
        try:
            one.check(setting)
            fitting.append(one)
        except InvalidInput as error:
            left_out.append((name, str(error)))
    if not fitting:
        raise InvalidInput(f"no algorithm can work here: {left_out[0][1]}")
    return fitting, left_out

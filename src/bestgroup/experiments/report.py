"""The Markdown report: what ran, the paper's numbers beside ours, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bestgroup._version import __version__
from bestgroup.experiments.points import DELTA, DIMS, EPSILON, MIN_GAP, Outcome, Plan, title


@dataclass(frozen=True)
class Section:
    """One experiment, read."""

    name: str
    title: str
    grids: Sequence[tuple[str, Any]]
    findings: Sequence[str]
    outcomes: Sequence[Outcome]
    plot: str | None  # the name of the PNG file


def markdown(plan: Plan, sections: Sequence[Section], command: str) -> str:
    """Return the report."""
    parts = [
        "# Section 5 of *Best Group Identification in Multi-Objective Bandits*, run again",
        _settings(plan, sections, command),
        _open_places(plan),
        *(_section(section) for section in sections),
        _reading(),
    ]
    return "\n\n".join(parts) + "\n"


def _settings(plan: Plan, sections: Sequence[Section], command: str) -> str:
    outcomes = [outcome for section in sections for outcome in section.outcomes]
    engines = ", ".join(sorted({o.engine for o in outcomes if o.engine != "formula"})) or "none"
    distance = max(outcome.distance for outcome in outcomes)
    lines = [
        f"- made by `{command}`, bestgroup {__version__}",
        f"- delta = epsilon = {DELTA:g}, D = {DIMS}, standard normal rewards, independent dims; "
        f"{plan.runs} runs of each algorithm on each instance, seed {plan.seed}",
        f"- instances: `Instance.random(..., min_gap={MIN_GAP:g})`, seeds in the CSV files",
        f"- engine: {engines}; "
        + (
            "the law of the runs is the exact one"
            if distance == 0
            else f"each run's law is within {distance:.1e} of the exact one (total variation)"
        ),
    ]
    known = sorted({title(o.algorithm) for o in outcomes if o.engine == "formula"})
    if known:
        lines.append(
            f"- {', '.join(known)}: the number of pulls is the same in every run, so it is computed"
            ", not drawn; its answers were not simulated"
        )
    return "\n".join(lines)


def _open_places(plan: Plan) -> str:
    return f"""## What the paper does not give

Its instances, its grids of N and K, and the number of instances behind a figure are not printed,
so the numbers cannot be the same. Each setting is run on {plan.instances} random instances of our
own, which shows how much depends on the instance. The paper's bound on the gap, "Delta_min = min
over i", lacks its argument: here it is the least group gap of the Pareto problem and, in the table,
also the least gap of the best group for each of the five weights, all above {MIN_GAP:g}."""


def _section(section: Section) -> str:
    lines = [f"## {section.title}", ""]
    if section.plot:
        lines += [f"![{section.title}]({section.plot})", ""]
    for caption, table in section.grids:
        lines += [caption, "", table.markdown(), ""]
    lines += [f"- {sentence}" for sentence in section.findings]
    lines += ["", f"Numbers: [{section.name}.csv]({section.name}.csv)."]
    return "\n".join(lines)


def _reading() -> str:
    return f"""## How to read this

- Figures: a panel for each of the first three instances of every setting; bars are one standard
  deviation over the runs of an instance.
- *limit* is T* kl(delta, 1 - delta): no algorithm that is right with probability 1 - delta on every
  instance takes fewer pulls on average (Garivier and Kaufmann 2016). It is for epsilon =
  {EPSILON:g} (Pareto groups) or 0 (best group).
- TEL has no guarantee, and UniS as printed is not (epsilon, delta)-PAC; on instances with gaps
  above 3 epsilon their errors hardly show.
- The runs are in `runs/*.sqlite`, a file for each instance and algorithm; running the same command
  again, or with more runs, goes on from there."""

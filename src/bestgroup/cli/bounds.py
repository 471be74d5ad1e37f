"""`bestgroup bounds`: how hard a known instance is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import (
    Case,
    Delta,
    Epsilon,
    Json,
    ProblemFile,
    case_record,
    case_title,
    read_case,
)

if TYPE_CHECKING:
    from bestgroup.theory.characteristic_time.limit import CharacteristicTime
    from bestgroup.theory.gaps import Gaps
    from bestgroup.theory.lower_bounds import LowerBound
    from bestgroup.theory.upper_bounds import UpperBound

MOST_ARMS = 60  # arms listed on the screen; JSON has all


@dataclass(frozen=True)
class Hardness:
    """All that theory says about a case."""

    optimal: frozenset[int]
    gaps: Gaps | None  # these three are the paper's: for its two goals
    lower: LowerBound | None
    upper: UpperBound | None
    limit: CharacteristicTime | None
    worst: CharacteristicTime | None  # with the hardest dependence of dims, where it matters


def command(
    problem: ProblemFile,
    delta: Delta = None,
    epsilon: Epsilon = None,
    limit: Annotated[
        bool, typer.Option(help="Compute the limit T*, which takes long for many arms.")
    ] = True,
    json: Json = False,
) -> None:
    """Show gaps, lower and upper bounds and the limit of a problem file with [means]."""
    case = read_case(problem, delta, epsilon)
    output.announce_compilation()
    found = _measure(case, limit)
    if json:
        output.print_json(_record(case, found))
    else:
        _show(case, found)


def _measure(case: Case, limit: bool) -> Hardness:
    import bestgroup as bg
    from bestgroup.simulation.progress import narrowing
    from bestgroup.theory.characteristic_time.limit import limit_at_worst

    instance, goal, time, worst = case.instance, case.goal, None, None
    if limit:
        with narrowing("limit T*") as watch:
            time = bg.characteristic_time(instance, goal, progress=watch)
            worst = limit_at_worst(instance, goal, watch)
    if goal.by_directions:  # the paper has neither gaps nor bounds for it
        return Hardness(bg.optimal_groups(instance, goal), None, None, None, time, worst)
    return Hardness(
        bg.optimal_groups(instance, goal),
        bg.gaps(instance, goal),
        bg.lower_bound(instance, goal, case.delta),
        bg.upper_bound(instance, goal, case.delta),
        time,
        worst,
    )


def _record(case: Case, found: Hardness) -> dict[str, Any]:
    gaps, lower, upper, limit = found.gaps, found.lower, found.upper, found.limit
    return {
        **case_record(case),
        "efficiency": case.spec.mirror(case.instance.efficiency),
        "optimal": [case.instance.groups[i] for i in sorted(found.optimal)],
        "gaps": gaps
        and {
            "group": gaps.group,
            "plus": gaps.plus,
            "minus": gaps.minus,
            "arm": gaps.arm,
            "effective": gaps.effective,
            "lift": gaps.lift,
        },
        "lower_bound": lower
        and {
            "value": lower.value,
            "by_group": lower.by_group,
            "by_arm": lower.by_arm,
            "applies": lower.applies,
            "why_not": lower.why_not,
        },
        "upper_bound": upper
        and {
            "algorithm": upper.algorithm,
            "value": upper.value,
            "by_group": upper.by_group,
            "by_arm": upper.by_arm,
            "applies": upper.applies,
            "why_not": upper.why_not,
        },
        "characteristic_time": _limit_record(limit, case),
        "characteristic_time_at_worst": _limit_record(found.worst, case),
    }


def _limit_record(limit: CharacteristicTime | None, case: Case) -> dict[str, Any] | None:
    return limit and {
        "value": limit.value,
        "lower": limit.lower,
        "upper": limit.upper,
        "gap": limit.gap,
        "allocation": limit.allocation,
        "right_answers": limit.answers,
        "pulls": limit.samples(case.delta),
    }


def _show(case: Case, found: Hardness) -> None:
    screen = output.console()
    screen.print(output.escape(case_title(case)), style="bold")
    screen.print(_group_table(case, found))
    if case.instance.shape.total <= MOST_ARMS:
        screen.print(_arm_table(case, found))
    else:
        screen.print(f"{case.instance.shape.total} arms: --json lists them")
    for sentence in _sentences(case, found):
        screen.print(output.escape(sentence))


def _group_table(case: Case, found: Hardness) -> Any:
    efficiency = case.spec.mirror(case.instance.efficiency)
    heads = [f">{d.name}{' (min)' if d.direction == 'min' else ''}" for d in case.spec.decided]
    rows = [
        (
            name,
            *(output.decimal(value) for value in efficiency[i].tolist()),
            "yes" if i in found.optimal else "",
            *_of_group(found, i),
        )
        for i, name in enumerate(case.instance.groups)
    ]
    columns = ["group", *heads, "optimal", *([">gap", ">pulls at most"] if found.gaps else [])]
    return output.table("Groups: efficiency and gap", columns, rows)


def _of_group(found: Hardness, i: int) -> tuple[str, ...]:
    if found.gaps is None or found.upper is None:
        return ()
    gap, most = float(found.gaps.group[i]), float(found.upper.by_group[i])
    return output.decimal(gap), output.count(most)


def _of_arm(found: Hardness, i: int, j: int) -> tuple[str, ...]:
    if found.gaps is None or found.upper is None:
        return ()
    gap, effective = float(found.gaps.arm[i][j]), float(found.gaps.effective[i][j])
    return (
        output.decimal(gap),
        output.decimal(effective),
        output.count(float(found.upper.by_arm[i][j])),
    )


def _arm_table(case: Case, found: Hardness) -> Any:
    # An infinite or zero T* has no best allocation.
    limit = found.limit if found.limit and 0 < found.limit.value < math.inf else None
    rows = []
    for i, group in enumerate(case.instance.groups):
        for j, arm in enumerate(case.instance.arms[i]):
            rows.append(
                (
                    group if j == 0 else "",
                    arm,
                    *_of_arm(found, i, j),
                    f"{100 * float(limit.allocation[i][j]):.1f} %" if limit else "-",
                )
            )
    bounds = [">gap", ">effective gap", ">pulls at most"] if found.gaps else []
    columns = ["group", "arm", *bounds, ">share at the limit"]
    return output.table("Arms", columns, rows)


def _sentences(case: Case, found: Hardness) -> list[str]:
    lower, upper = found.lower, found.upper
    sentences = [] if found.limit is None else [_limit_sentence(found.limit, case)]
    if found.worst is not None and math.isfinite(found.worst.value):
        sentences.append(
            "limit of the assumption that is made, dims that may depend in any way: at least "
            f"{output.count(found.worst.samples(case.delta))} pulls if the dims of a pull share one noise; "
            f"T* = {output.decimal(found.worst.value, 6)}, certified to {100 * found.worst.gap:.2g} %"
        )
    if lower is None or upper is None:
        return [*sentences, "the paper has no gaps and bounds for this question"]
    if math.isnan(lower.value):
        sentences.append(f"lower bound of the theorem: says nothing here: {lower.why_not}")
    else:
        proviso = "" if lower.applies else f"; it does not apply: {lower.why_not}"
        sentences.append(f"lower bound of the theorem: {output.count(lower.value)} pulls{proviso}")
    proviso = "" if upper.applies else f"; it does not apply: {upper.why_not}"
    sentences.append(
        f"upper bound for {upper.algorithm!r}: {output.count(upper.value)} pulls, with probability "
        f"at least 1 - delta{proviso}"
    )
    return sentences


def _limit_sentence(limit: CharacteristicTime, case: Case) -> str:
    if math.isinf(limit.value):
        return "limit: no correct algorithm can ever stop: an arbitrarily small change matters"
    unique = "" if limit.answers == 1 else f"; {limit.answers:,} answers are right"
    if case.goal.kind == "map":  # of which there are more than one can count
        unique = ""
    return (
        f"limit: every correct algorithm needs at least {output.count(limit.samples(case.delta))} pulls "
        f"on average (Gaussian rewards, independent dims); T* = {output.decimal(limit.value, 6)}, "
        f"certified to {100 * limit.gap:.2g} %{unique}"
    )

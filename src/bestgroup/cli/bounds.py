"""`bestgroup bounds`: how hard a known instance is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestgroup.cli import output, yardstick
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
    from bestgroup.core.bounds import LowerBound, UpperBound
    from bestgroup.core.gaps import Gaps

MOST_ARMS = 60  # arms listed on the screen; JSON has all


@dataclass(frozen=True)
class Hardness:
    """All that theory says about a case."""

    optimal: frozenset[int]
    gaps: Gaps
    lower: LowerBound
    upper: UpperBound
    limit: yardstick.Yardstick


def command(
    problem: ProblemFile, delta: Delta = None, epsilon: Epsilon = None, json: Json = False
) -> None:
    """Show gaps, lower and upper bounds and the limit of a problem file with [means]."""
    case = read_case(problem, delta, epsilon)
    output.announce_compilation()
    found = _measure(case)
    if json:
        output.print_json(_record(case, found))
    else:
        _show(case, found)


def _measure(case: Case) -> Hardness:
    from bestgroup.core.bounds import lower_bound, upper_bound
    from bestgroup.core.dominance import optimal_groups
    from bestgroup.core.gaps import gaps

    instance, goal = case.instance, case.goal
    return Hardness(
        optimal_groups(instance, goal),
        gaps(instance, goal),
        lower_bound(instance, goal, case.delta),
        upper_bound(instance, goal, case.delta),
        yardstick.measure(instance, goal, case.delta),
    )


def _record(case: Case, found: Hardness) -> dict[str, Any]:
    gaps, lower, upper, limit = found.gaps, found.lower, found.upper, found.limit
    return {
        **case_record(case),
        "efficiency": case.spec.mirror(case.instance.efficiency),
        "optimal": [case.instance.groups[i] for i in sorted(found.optimal)],
        "gaps": {
            "group": gaps.group,
            "plus": gaps.plus,
            "minus": gaps.minus,
            "arm": gaps.arm,
            "effective": gaps.effective,
            "lift": gaps.lift,
        },
        "lower_bound": {
            "value": lower.value,
            "by_group": lower.by_group,
            "by_arm": lower.by_arm,
            "applies": lower.applies,
            "why_not": lower.why_not,
        },
        "upper_bound": {
            "algorithm": upper.algorithm,
            "value": upper.value,
            "by_group": upper.by_group,
            "by_arm": upper.by_arm,
            "applies": upper.applies,
            "why_not": upper.why_not,
        },
        "characteristic_time": {
            "value": limit.time,
            "gap": limit.gap,
            "allocation": limit.allocation,
            "right_answers": limit.answers,
            "pulls": limit.pulls,
            "why_not": limit.why_not,
        },
    }


def _show(case: Case, found: Hardness) -> None:
    screen = output.console()
    screen.print(output.escape(case_title(case)), style="bold")
    screen.print(_group_table(case, found))
    if case.instance.shape.total <= MOST_ARMS:
        screen.print(_arm_table(case, found))
    else:
        screen.print(f"{case.instance.shape.total} arms: --json lists them")
    for sentence in _sentences(found):
        screen.print(output.escape(sentence))


def _group_table(case: Case, found: Hardness) -> Any:
    efficiency = case.spec.mirror(case.instance.efficiency)
    heads = [f">{d.name}{' (min)' if d.direction == 'min' else ''}" for d in case.spec.decided]
    rows = [
        (
            name,
            *(output.decimal(value) for value in efficiency[i].tolist()),
            "yes" if i in found.optimal else "",
            output.decimal(float(found.gaps.group[i])),
            output.count(float(found.upper.by_group[i])),
        )
        for i, name in enumerate(case.instance.groups)
    ]
    columns = ["group", *heads, "optimal", ">gap", ">pulls at most"]
    return output.table("Groups: efficiency and gap", columns, rows)


def _arm_table(case: Case, found: Hardness) -> Any:
    limit = found.limit
    rows = []
    for i, group in enumerate(case.instance.groups):
        for j, arm in enumerate(case.instance.arms[i]):
            share = math.nan if limit.allocation is None else float(limit.allocation[i][j])
            rows.append(
                (
                    group if j == 0 else "",
                    arm,
                    output.decimal(float(found.gaps.arm[i][j])),
                    output.decimal(float(found.gaps.effective[i][j])),
                    output.count(float(found.upper.by_arm[i][j])),
                    "-" if math.isnan(share) else f"{100 * share:.1f} %",
                )
            )
    columns = ["group", "arm", ">gap", ">effective gap", ">pulls at most", ">share at the limit"]
    return output.table("Arms", columns, rows)


def _sentences(found: Hardness) -> list[str]:
    lower, upper, limit = found.lower, found.upper, found.limit
    sentences = []
    if limit.why_not is not None:
        sentences.append(f"limit: not known: {limit.why_not}")
    else:
        unique = "" if limit.answers == 1 else f" ({limit.answers:g} answers are right)"
        sentences.append(
            f"limit: every correct algorithm needs at least {output.count(limit.pulls)} pulls on "
            f"average; T* = {output.decimal(limit.time, 6)}, certified to {100 * limit.gap:.2g} %"
            f"{unique}"
        )
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

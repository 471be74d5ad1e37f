"""`bestgroup certify`: what a file of observations already proves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.plot_file import check_plot, write_plot
from bestgroup.cli.problem import (
    ArmColumn,
    Delta,
    Epsilon,
    GroupColumn,
    IgnoreColumn,
    ItemColumn,
    Json,
    columns_of,
    read_numbers,
    read_options,
)
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import check_writable

if TYPE_CHECKING:
    from bestgroup.algorithms.protocol import Algorithm
    from bestgroup.analysis.certify import Certificate
    from bestgroup.problem.goals import Goal
    from bestgroup.problem.noise import Noise

MOST_GROUPS = 40
MOST_CHOICES = 10  # groups whose arms are told, and pairs that are tied


def command(
    observations: Annotated[
        Path,
        typer.Argument(
            metavar="OBSERVATIONS", help="CSV, TSV, JSON lines or Parquet: group, arm, dims."
        ),
    ],
    problem: Annotated[
        Path | None,
        typer.Option("--problem", "-p", metavar="PROBLEM", help="Problem file: goal, dims, noise."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Without a problem file: bounded:LOW,HIGH, subgaussian:SCALE, gaussian, bernoulli.",
            metavar="KIND",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Without a problem file: ask for the best group.", metavar="W,W,..."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(help="With --weights: ask for the M best groups.", metavar="M"),
    ] = None,
    mapped: Annotated[
        bool,
        typer.Option("--map", help="Without a problem file: the best group for every weight."),
    ] = False,
    delta: Delta = None,
    epsilon: Epsilon = None,
    arms_fixed: Annotated[
        bool,
        typer.Option(
            "--arms-fixed/--arms-as-they-came",
            help="Whether groups and arms were fixed before values were seen, or added on the way.",
        ),
    ] = True,
    group: GroupColumn = None,
    arm: ArmColumn = None,
    item: ItemColumn = None,
    items: Annotated[
        str | None,
        typer.Option(
            help="Without a problem file, for shared items: pool (the answer is about these), "
            "population (they are a sample), or how many the pool has.  [default: pool]",
            metavar="WHAT",
        ),
    ] = None,
    order: Annotated[
        Path | None,
        typer.Option(
            help="A text file with the items, one a line, in the order that was drawn before there "
            "were values.",
            metavar="FILE",
        ),
    ] = None,
    ignore: IgnoreColumn = None,
    minimise: Annotated[
        list[str] | None,
        typer.Option("--min", help="Without a problem file: minimise this dim.", metavar="DIM"),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(help="Without a problem file: this dim decides nothing.", metavar="DIM"),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Without a problem file: a limit that arms must keep, as in 'seconds<=2', or "
            "'seconds<=2:0.1' with a tolerance.",
            metavar="LIMIT",
        ),
    ] = None,
    worth: Annotated[
        str,
        typer.Option(
            help="Without a problem file: what a group is worth: best, mean, worst, kth:K, quantile:Q.",
            metavar="WORTH",
        ),
    ] = "best",
    as_study: Annotated[
        bool,
        typer.Option(
            "--as-study",
            help="Decide as a study of the problem file did, of which these are the rows.",
        ),
    ] = False,
    algorithm: Annotated[
        str | None,
        typer.Option(help="With --as-study: algorithm, in place of the file's.", metavar="NAME"),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="With --as-study: option of the algorithm.", metavar="KEY=VALUE"),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="With --as-study: the seed that drew the order of shared items.")
    ] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Write the Pareto view (PNG, SVG, PDF).", metavar="FILE")
    ] = None,
    dims: Annotated[
        str | None,
        typer.Option(help="Dims that the plot shows, with commas; all by default.", metavar="DIMS"),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(help="Write a proof file that others can check.", metavar="FILE"),
    ] = None,
    json: Json = False,
) -> None:
    """Show which groups are proven in or out by data that was collected in any order.

    Rows that a study exported may prove less by themselves than its algorithm did with them. With
    --as-study the algorithm of the problem file is given the rows again, and decides the same.
    """
    check_plot(plot)
    if proof is not None:
        check_writable(proof)
    import bestgroup as bg

    output.announce_compilation()
    level, goal, rest = _asked(problem, noise, (weights, top, mapped), delta, epsilon)
    rest["columns"] = columns_of(group, arm, item, ignore, rest.get("columns"))
    if as_study:
        own = minimise or watch or require or worth != "best" or items or order
        if problem is None or own or not arms_fixed:
            raise InvalidInput("--as-study takes all but the rows and columns from --problem")
        rest["algorithm"] = _algorithm_of(problem, algorithm, option)
        found = bg.certify_as_study(observations, goal, delta=level, seed=seed, **rest)
    elif algorithm is not None or option or seed:
        raise InvalidInput("--algorithm, --option and --seed are for use with --as-study")
    else:
        rest |= {"minimise": minimise or (), "watch": watch or (), "arms_fixed": arms_fixed}
        rest |= {"require": read_limits(require), "worth": read_worth(worth)}
        rest |= {
            "items": None if items is None else _read_items(items),
            "order": _read_order(order),
        }
        found = bg.certify(observations, goal, delta=level, **rest)
    if plot is not None:
        write_plot(found.plot(*(dims.split(",") if dims else ())), plot)
    digest = None if proof is None else found.save_proof(proof)
    if json:
        output.print_json(found.to_dict() | ({} if digest is None else {"proof": digest}))
    else:
        _show(found)
        if digest is not None:
            output.console().print(f"Proof file: {proof} (digest {digest})", soft_wrap=True)


def _algorithm_of(problem: Path, name: str | None, options: Sequence[str] | None) -> Algorithm:
    """Return the algorithm of a problem file, or the one that the options name in its place."""
    import bestgroup as bg

    spec = bg.load_spec(problem)
    given = read_options(options or ())
    if name is None:
        return bg.algorithm(spec.algorithm.name, **{**spec.algorithm.options(), **given})
    return bg.algorithm(name, **given)


def _asked(
    problem: Path | None,
    noise: str | None,
    asked: tuple[str | None, int | None, bool],
    delta: float | None,
    epsilon: float | None,
) -> tuple[float, Goal, dict[str, Any]]:
    """Return delta, the goal and what else `certify` takes, from a problem file or from options."""
    import bestgroup as bg

    if problem is None:
        goal = _goal_of(*asked, epsilon or 0.0)
        if noise is None:
            raise InvalidInput(
                "give a problem file with --problem, or say what the noise is with --noise"
            )
        return 0.05 if delta is None else delta, goal, {"noise": read_noise(noise)}
    if noise is not None or any(asked):
        raise InvalidInput(
            "--noise, --weights, --top and --map are for use without --problem, which has them"
        )
    spec = bg.load_spec(problem)
    goal = spec.goal if epsilon is None else spec.goal.with_epsilon(epsilon)
    level = spec.delta if delta is None else delta
    return level, goal, {"problem": spec.problem, "columns": spec.columns}


def _read_items(text: str) -> str | int:
    """Return what shared items are: "pool", "population", or the number of those in a pool."""
    if text in ("pool", "population"):
        return text
    if not text.isdecimal():
        raise InvalidInput(f"--items must be pool, population or a number; got {text!r}")
    return int(text)


def _read_order(path: Path | None) -> list[str] | None:
    """Return the names that a file has, one a line."""
    if path is None:
        return None
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"--order: {path} cannot be read: {error}") from None
    return [line.strip() for line in lines if line.strip()]


def read_limits(given: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the limits that texts such as 'seconds<=2:0.1' name.

    >>> read_limits(["seconds<=2:0.1", "right>=0.5"])
    {'seconds': [['<=', 2.0, 0.1]], 'right': [['>=', 0.5]]}
    """
    if not given:
        return None
    found: dict[str, Any] = {}
    for text in given:
        dim, sense, rest = next(
            (text.partition(sense) for sense in ("<=", ">=") if sense in text), (text, "", "")
        )
        values = [read_numbers(part, "--require") for part in rest.split(":", 1)] if rest else []
        if not dim.strip() or not sense or [len(part) for part in values] not in ([1], [1, 1]):
            raise InvalidInput(
                f"--require must be like 'seconds<=2' or 'seconds<=2:0.1'; got {text!r}"
            )
        found.setdefault(dim.strip(), []).append([sense, *(part[0] for part in values)])
    return found


def read_worth(text: str) -> Any:
    """Return the worth that a text such as 'kth:2' names.

    >>> read_worth("kth:2"), read_worth("quantile:0.9"), read_worth("mean")
    (['kth', 2], ['quantile', 0.9], 'mean')
    """
    kind, _, rest = text.partition(":")
    if not rest:
        return kind
    value = read_numbers(rest, "--worth")[0]
    return [kind, int(value) if kind == "kth" and value.is_integer() else value]


def _goal_of(weights: str | None, top: int | None, mapped: bool, epsilon: float) -> Goal:
    """Return the question that options ask."""
    import bestgroup as bg

    if mapped:
        if weights is not None or top is not None:
            raise InvalidInput("--map is about all weights; leave out --weights and --top")
        return bg.WeightMap(epsilon=epsilon)
    if weights is None:
        if top is not None:
            raise InvalidInput("--top needs --weights: best groups are those of the largest worth")
        return bg.ParetoGroups(epsilon)
    given = read_numbers(weights, "--weights")
    return bg.BestGroup(given, epsilon) if top is None else bg.TopGroups(top, given, epsilon)


def read_noise(text: str) -> Noise:
    """Return the noise model that a text names.

    >>> read_noise("bounded:0,1")
    Bounded(low=0.0, high=1.0, method='betting', dependence='arbitrary', arms='independent', difference=None)
    """
    from bestgroup.problem.noise import noise_from_numbers

    try:
        return noise_from_numbers(text)
    except InvalidInput as error:
        raise InvalidInput(f"--noise {error}") from None


def show_arms(found: Certificate) -> None:
    """Print the best guess, which arms of the groups that are in to take, and which groups are tied."""
    console = output.console()
    if found.undecided and found.pulls:
        words = str(found.guess())
        console.print(output.escape(f"  {words[0].upper()}{words[1:]}."))
    for choice in found.deploy()[:MOST_CHOICES]:
        console.print(output.escape(f"  Take from {choice}"))
    epsilon = found.goal.epsilon
    slack = min(epsilon) if isinstance(epsilon, tuple) else epsilon
    if slack > 0 and (tied := found.ties()):
        pairs = len(found.problem.groups) * (len(found.problem.groups) - 1) // 2
        shown = "; ".join(f"{one} and {other}" for one, other in tied[:MOST_CHOICES])
        more = "" if len(tied) <= MOST_CHOICES else "; ..."
        words = f"Proven within epsilon of each other: {len(tied)} of {pairs} pairs ({shown}{more})"
        console.print(output.escape(f"  {words}"))


def _show(found: Certificate) -> None:
    console = output.console()
    low, high = found.intervals
    dims = found.problem.decided
    explainer = found.explainer
    rows = []
    for i, name in enumerate(found.problem.groups[:MOST_GROUPS]):
        explanation = explainer.group(i)
        cells = [output.interval(low[i, d], high[i, d]) for d in range(len(dims))]
        rows.append((name, explanation.status, output.count(found.tally.counts[i].sum()), *cells))
    heads = ["group", "status", ">pulls", *(f">{dim.name} ({dim.direction})" for dim in dims)]
    console.print(output.table(None, heads, rows))
    if len(found.problem.groups) > MOST_GROUPS:
        console.print(f"... and {len(found.problem.groups) - MOST_GROUPS} more groups (see --json)")
    console.print(output.escape(str(found)))
    show_arms(found)
    for name in found.undecided[:10]:
        console.print(output.escape(f"  {found.explain(name)}"))
    forecast = found.forecast()
    if found.undecided and forecast is not None and math.isfinite(forecast):
        console.print(f"To decide all: about {forecast:,.0f} more pulls, if gaps are as they look.")
    for note in found.notes:
        console.print(f"Note: {note}.")
    console.print(output.escape(f"Guarantee: {found.guarantee}"))
    if found.together is not None:
        console.print(output.escape(f"With what the rows prove beyond: {found.together}"))

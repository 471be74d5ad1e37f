"""`bestgroup study`: live studies from the shell, for people and for scripts.

`ask` prints a line of JSON for each ticket; add "values" to a line and give it to `tell`:

    bestgroup study ask NAME -n 8 --json | my-lab | bestgroup study tell NAME
"""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.certify import show_arms
from bestgroup.cli.problem import (
    AlgorithmName,
    AlgorithmOptions,
    Delta,
    Json,
    ProblemFile,
    read_options,
)
from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from bestgroup.studies.catalog import Study
    from bestgroup.studies.report import Explanation

app = typer.Typer(
    name="study",
    help="Live studies: ask for what to measure, tell the result, see what is proven.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
Storage = Annotated[
    str,
    typer.Option(
        envvar="BESTGROUP_STORAGE",
        metavar="URL",
        help="sqlite:///FILE or postgresql://...",
    ),
]
Lease = Annotated[
    float, typer.Option(help="Seconds after which a ticket may go to another worker.")
]
DEFAULT = "sqlite:///bestgroup.db"  # as in `bestgroup.studies.catalog`, which is imported late


def load(name: str, storage: str) -> Study:
    """Return a stored study."""
    if storage == "memory":
        raise InvalidInput(
            "the storage memory ends with each command; give --storage sqlite:///..."
        )
    from bestgroup.studies.catalog import load_study

    return load_study(name, storage)


@app.command("create", short_help="Create a study from a problem file.")
def create(
    problem: ProblemFile,
    name: Annotated[
        str | None, typer.Option(help="Name, in place of the file's.", metavar="NAME")
    ] = None,
    storage: Storage = DEFAULT,
    algorithm: AlgorithmName = None,
    option: AlgorithmOptions = None,
    delta: Delta = None,
    horizon: Annotated[
        int, typer.Option(help="Pulls of each planned arm to hand out beyond the plan.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Root of the tickets' seeds.")] = 0,
    json: Json = False,
) -> None:
    """Create a study from a problem file; [means] and [evaluate] are not needed."""
    from bestgroup.algorithms.protocol import Setting
    from bestgroup.files.parts import configure
    from bestgroup.files.problem_file import load_spec
    from bestgroup.studies.catalog import create_study

    spec = load_spec(problem)
    chosen = spec.algorithm
    if algorithm is not None or option:
        own = {} if algorithm not in (None, chosen.name) else chosen.options()
        options = {**own, **read_options(option or [])}
        level = spec.delta if delta is None else delta
        setting = Setting.of(spec.problem, spec.goal, level)
        chosen = configure(algorithm or chosen.name, options, setting)
    study = create_study(
        name or spec.name,
        spec.problem,
        spec.goal,
        spec.delta if delta is None else delta,
        storage,
        algorithm=chosen,
        horizon=horizon,
        seed=seed,
    )
    if json:
        output.print_json(study.status().to_dict())
    else:
        output.console().print(
            output.escape(f"created {study.name} in {storage}, algorithm {chosen}")
        )


@app.command("ask", short_help="What to measure next.")
def ask(
    name: Name,
    n: Annotated[int, typer.Option("-n", "--number", help="Tickets at most.")] = 1,
    repeats: Annotated[int, typer.Option(help="Pulls in a ticket at most.")] = 1,
    lease: Lease = 600.0,
    owner: Annotated[
        str | None, typer.Option(help="Who measures; shown in the status.", metavar="WHO")
    ] = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Lease tickets; with --json a line for each, for a pipe. No line: nothing to do now."""
    study = load(name, storage)
    tickets = [ticket.to_dict() for ticket in study.ask(n, repeats, lease, owner)]
    if json:
        for ticket in tickets:
            print(jsonlib.dumps(ticket, ensure_ascii=False))
        return
    if not tickets:
        state = study.status(forecast=False).state
        print("nothing to hand out now" if state == "running" else f"the study is {state}")
        return
    columns = ["group", "arm", ">index", ">repeats", ">seed"]
    rows = [[t["group"], t["arm"], t["index"], t["repeats"], t["seed"]] for t in tickets]
    output.console().print(output.table(None, columns, rows))


@app.command("tell", short_help="Give results.")
def tell(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="JSON lines; by default the standard input."),
    ] = None,
    batch: Annotated[int, typer.Option(help="Lines in one transaction.")] = 1,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Take lines of JSON: a ticket from ask with "values" added, one row or one for each pull."""
    if batch < 1:
        raise InvalidInput(f"--batch must be at least 1; got {batch}")
    study = load(name, storage)
    fresh = lines = 0
    waiting: list[tuple[Any, Any]] = []
    for place, entry in read_lines(file):
        if "values" not in entry:
            raise InvalidInput(f"{place}: the entry 'values' is missing")
        waiting.append((entry, entry["values"]))
        lines += 1
        if len(waiting) == batch:
            fresh += study.tell_many(waiting)
            waiting = []
    fresh += study.tell_many(waiting)
    if json:
        output.print_json({"lines": lines, "new": fresh})
    else:
        print(f"{fresh} new observations from {lines} lines", file=sys.stderr)


def read_lines(file: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON objects of a file or of the standard input, with their place in words."""
    if file is not None and not file.is_file():
        raise InvalidInput(f"{file}: there is no such file")
    stream = sys.stdin if file is None else file.open(encoding="utf-8")
    where = "standard input" if file is None else str(file)
    try:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield f"{where}, line {number}", parse_line(line, f"{where}, line {number}")
    finally:
        if file is not None:
            stream.close()


def parse_line(line: str, place: str) -> dict[str, Any]:
    """Return the JSON object in a line."""
    try:
        entry = jsonlib.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInput(f"{place}: this is not JSON") from None
    if not isinstance(entry, dict):
        raise InvalidInput(f"{place}: must be a JSON object; got {type(entry).__name__}")
    return entry


@app.command("fail", short_help="Give tickets back.")
def fail(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="JSON lines; by default the standard input."),
    ] = None,
    reason: Annotated[str, typer.Option(help="What went wrong.")] = "",
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Take lines of JSON, tickets from ask; their pulls are handed out again."""
    study = load(name, storage)
    count = 0
    for _, entry in read_lines(file):
        study.fail(entry, reason or str(entry.get("reason", "")))
        count += 1
    if json:
        output.print_json({"failed": count})
    else:
        print(f"{count} tickets are free again", file=sys.stderr)


@app.command("status", short_help="Where a study stands.")
def status(name: Name, storage: Storage = DEFAULT, json: Json = False) -> None:
    """Show where a study stands."""
    found = load(name, storage).status().to_dict()
    if json:
        output.print_json(found)
        return
    screen = output.console()
    failures = found.pop("failures")
    warnings = found.pop("warnings")
    workers = found.pop("workers")
    left = found.pop("forecast")
    found["pulls left, about"] = "not foreseen yet" if left is None else f"{left:,.0f}"
    if found["cost"] is None:
        del found["cost"]
    screen.print(output.table(None, ["", ""], [(k.replace("_", " "), v) for k, v in found.items()]))
    for owner, pulls in workers.items():
        screen.print(output.escape(f"{owner}: {pulls} pulls"))
    for warning in warnings:
        screen.print(output.escape(f"warning: {warning}"))
    for f in failures[:20]:
        where = f"{f['group']}, {f['arm']}, pull {f['index']}"
        screen.print(output.escape(f"failed {f['times']} times: {where}: {f['reason']}"))


@app.command("answer", short_help="What is known so far.")
def answer(name: Name, storage: Storage = DEFAULT, json: Json = False) -> None:
    """Show which groups are in, out and undecided, and what that is worth."""
    study = load(name, storage)
    found = study.answer()
    proof = None if found.final else study.certificate()
    if json:
        beyond = None if proof is None else proof.to_dict()["beyond"]
        output.print_json({**found.to_dict(), "beyond": beyond})
        return
    screen = output.console()
    parts = [("in", found.inside), ("out", found.outside), ("undecided", found.undecided)]
    if found.not_needed:
        parts.insert(2, ("not needed", found.not_needed))
    if found.final:
        screen.print(
            output.escape(f"answer: {', '.join(found.groups) or 'no group'}"), style="bold"
        )
    for word, groups in parts:
        screen.print(output.escape(f"{word}: {', '.join(groups) or '-'}"))
    price = "" if found.cost is None else f", cost: {found.cost:,.6g}"
    screen.print(f"pulls: {found.pulls}, told: {found.told}{price}")
    screen.print(output.escape(f"guarantee: {found.guarantee}"))
    show_arms(study.certificate())
    if proof is not None and proof.together is not None:
        screen.print(output.escape(f"beyond that:{proof.beyond_words()}"))
        screen.print(output.escape(f"guarantee of both: {proof.together}"))
    for sentence in () if proof is None else proof.contradictions:
        screen.print(output.escape(f"contradiction: {sentence}"), style="bold")


_SHOWN = 8  # comparisons of a proof


def proof_text(found: Explanation) -> str:
    """Return the comparisons of arms that an algorithm's decision rests on, the first few."""
    lines = [f"the proof of {found.status!r} compares {len(found.proof)} pairs of arms:"]
    for entry in found.proof[:_SHOWN]:
        better, worse = (" of ".join(reversed(entry[side])) for side in ("better", "worse"))
        how = "better than" if entry["slack"] == 0 else f"less than {entry['slack']:g} worse than"
        lines.append(f"  {entry['dim']}: {better} is {how} {worse}")
    if len(found.proof) > _SHOWN:
        lines.append(f"  and {len(found.proof) - _SHOWN} more (--json shows all)")
    return "\n".join(lines)


@app.command("explain", short_help="What is known of a group.")
def explain(
    name: Name,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="Name of the group.")],
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Show what is known of a group, and since when it is decided."""
    found = load(name, storage).explain(group)
    if json:
        output.print_json(found.to_dict())
        return
    screen = output.console()
    screen.print(output.escape(str(found)))
    dims = list(found.efficiency or {})
    rows = [
        [a["arm"], a["pulls"], *(output.decimal(a["mean"][d]) if a["mean"] else "-" for d in dims)]
        for a in found.arms
    ]
    screen.print(output.table(None, ["arm", ">pulls", *(f">{d}" for d in dims)], rows))
    if found.proof:
        screen.print(output.escape(proof_text(found)))

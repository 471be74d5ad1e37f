"""The rest of `bestgroup study`: lists, tables, deletion, and the loop for scripts."""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.plot_file import check_plot, write_plot
from bestgroup.cli.problem import Json
from bestgroup.cli.study import DEFAULT, Name, Storage, app, load, parse_line
from bestgroup.errors import BestGroupError, InvalidInput
from bestgroup.files.json_values import plain

if TYPE_CHECKING:
    from bestgroup.studies.catalog import Study

__all__ = ["app"]


@app.command("list", short_help="All studies of a storage.")
def list_(storage: Storage = DEFAULT, json: Json = False) -> None:
    """Show all studies of a storage."""
    from bestgroup.studies.catalog import list_studies

    rows = list_studies(storage)
    if json:
        output.print_json(rows)
        return
    columns = ["name", "state", ">plan", ">pulls", ">told"]
    table = [[r["name"], r["state"], r["plan"], r["pulls"], r["told"]] for r in rows]
    output.console().print(output.table(None, columns, table))


@app.command("course", short_help="What was proven after how many pulls.")
def course(
    name: Name,
    storage: Storage = DEFAULT,
    plot: Annotated[
        Path | None, typer.Option(help="Draw it: .png, .svg or .pdf.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Show how many groups were in, out and undecided after how many pulls."""
    check_plot(plot)
    study = load(name, storage)
    rows = study.proven_by_now()
    if plot is not None:
        write_plot(study.plot(), plot)
    if json:
        output.print_json(rows)
        return
    heads = [f">{key}" for key in rows[0]]
    output.console().print(output.table(None, heads, [list(row.values()) for row in rows]))


@app.command("import", short_help="Take observations made elsewhere.")
def import_(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV or Parquet.")],
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Take a table with the columns group, arm and one for each dim."""
    fresh = load(name, storage).import_observations(file)
    if json:
        output.print_json({"new": fresh})
    else:
        print(f"{fresh} new observations", file=sys.stderr)


@app.command("export", short_help="Write all observations to a file.")
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends in .csv or .parquet.")],
    problem: Annotated[
        Path | None,
        typer.Option(help="Also write the study's problem file, for certify.", metavar="FILE"),
    ] = None,
    chain: Annotated[
        Path | None,
        typer.Option(help="Also write the links of the log, for verify (CSV).", metavar="FILE"),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Sign the last link by this key.", metavar="FILE")
    ] = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Write all observations to a CSV or Parquet file, and say how to certify them again."""
    from bestgroup.proof.chain import read_chain

    study = load(name, storage)
    if problem is not None:
        _save_problem(study, problem)
    rows = study.export(file, chain=chain, key=key)
    less = study.certificate().not_from_data()
    again = None if study.spec.is_elsewhere() else _again(study, file, problem)
    if json:
        record = {"rows": rows, "not_proven_by_the_rows_alone": list(less), "again": again}
        if chain is not None:
            record["link"] = read_chain(chain).last
        output.print_json(record)
        return
    print(f"{rows} rows in {file}", file=sys.stderr)
    if chain is not None:
        print(
            f"links in {chain}; who writes the last one down, {read_chain(chain).last}, can tell later "
            "whether a row was changed since",
            file=sys.stderr,
        )
    if less:
        print(
            f"certify leaves {', '.join(less)} undecided from these rows alone; the study's decisions "
            f"stand: {study.spec.algorithm} proves with what it fixed while it ran"
            + ("" if again is None else f", and decides the same again with\n  {again}"),
            file=sys.stderr,
        )


@app.command("proof", short_help="Write a proof file of what is decided.")
def proof(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The proof file (JSON) to write.")],
    key: Annotated[
        Path | None, typer.Option(help="Sign it by the key in this file.", metavar="FILE")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Also write its rows, as export does, of the same moment.", metavar="FILE"
        ),
    ] = None,
    chain: Annotated[
        Path | None, typer.Option(help="Also write the links of the log.", metavar="FILE")
    ] = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Write what is decided as a file that others can check with the rows of the study."""
    digest = load(name, storage).save_proof(file, key=key, rows=rows, chain=chain)
    if json:
        output.print_json({"digest": digest})
        return
    there = "`study export` writes its rows" if rows is None else f"its rows are in {rows}"
    print(f"proof in {file} (digest {digest}); {there}", file=sys.stderr)


def _save_problem(study: Study, path: Path) -> None:
    from bestgroup.files.write import save_spec

    spec = study.spec
    save_spec(
        path,
        spec.problem,
        spec.goal,
        spec.delta,
        name=spec.name,
        algorithm=spec.algorithm,
        options=spec.options,
    )


def _again(study: Study, file: Path, problem: Path | None) -> str:
    """Return the command that decides from the exported rows what the study did."""
    from bestgroup.algorithms.registry import algorithm

    spec = study.spec
    words = [
        "bestgroup",
        "certify",
        str(file),
        "--problem",
        str(problem or "PROBLEM"),
        "--as-study",
    ]
    if problem is None:
        words += ["--algorithm", spec.algorithm]
        usual = algorithm(spec.algorithm).options()
        for key, value in spec.options.items():
            if usual.get(key) != value:
                words += ["--option", f"{key}={value}"]
    if spec.seed and spec.problem.items is not None:
        words += ["--seed", str(spec.seed)]
    return shlex.join(words)


@app.command("report", short_help="Write the study as one HTML file.")
def report(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends in .html.")],
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Write a file to keep, send or print: the answer, what it rests on, figures, a digest."""
    from bestgroup.files.replacing import replacing
    from bestgroup.studies.html_report.page import report_html

    if file.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"{file}: give a name that ends in .html")
    text = report_html(load(name, storage))
    with replacing(file) as scratch:
        scratch.write_text(text, encoding="utf-8")
    if json:
        output.print_json({"file": str(file), "bytes": len(text.encode())})
    else:
        print(f"the report is in {file}", file=sys.stderr)


@app.command("delete", short_help="Remove a study.")
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    storage: Storage = DEFAULT,
) -> None:
    """Remove a study and all that was told it."""
    if not yes and not (sys.stdin.isatty() and typer.confirm(f"remove the study {name!r}?")):
        raise InvalidInput("nothing was removed; give --yes to remove a study without being asked")
    from bestgroup.studies.catalog import delete_study

    delete_study(name, storage)


@app.command("loop", short_help="Stay open for a script: JSON lines in and out.")
def loop(name: Name, storage: Storage = DEFAULT) -> None:
    """Answer each line of JSON on the standard input with one on the standard output.

    {"do": "ask", "n": 8}                       -> {"tickets": [...], "state": "running"}
    {"do": "tell", "ticket": {...}, "values": [...]} -> {"new": 1, "state": "running"}
    {"do": "fail" or "heartbeat", "ticket": {...}}, {"do": "status" or "answer"},
    {"do": "explain", "group": "..."}. A mistake is answered with {"error": "..."}.
    """
    study = load(name, storage)
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            reply = respond(study, parse_line(line, f"line {number}"))
        except BestGroupError as error:
            reply = {"error": str(error)}
        print(jsonlib.dumps(plain(reply), ensure_ascii=False), flush=True)


def respond(study: Study, request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request."""
    given = dict(request)
    what = given.pop("do", None)
    if what not in _REPLIES:
        raise InvalidInput(f"do must be one of {', '.join(_REPLIES)}; got {what!r}")
    try:
        return _REPLIES[what](study, **given)
    except TypeError as error:
        raise InvalidInput(f"{what}: {error}") from None


def _ask(study: Study, **given: Any) -> dict[str, Any]:
    tickets = study.ask(**given)
    reply: dict[str, Any] = {"tickets": [ticket.to_dict() for ticket in tickets]}
    if not tickets:
        reply["state"] = study.status(forecast=False).state
    return reply


_REPLIES: dict[str, Any] = {
    "ask": _ask,
    "tell": lambda study, ticket, values: {"new": study.tell(ticket, values)},
    "fail": lambda study, ticket, reason="": {"failed": study.fail(ticket, reason) is None},
    "heartbeat": lambda study, ticket, lease=600.0: {"expires": study.heartbeat(ticket, lease)},
    "status": lambda study: study.status().to_dict(),
    "answer": lambda study: study.answer().to_dict(),
    "explain": lambda study, group: study.explain(group).to_dict(),
}

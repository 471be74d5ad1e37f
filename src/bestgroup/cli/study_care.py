"""Looking after studies: `bestgroup study check`, `repair`, `backup`, `restore` and `leases`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.cli.study import DEFAULT, Name, Storage, load
from bestgroup.cli.study_rest import app
from bestgroup.errors import Damaged, InvalidInput

if TYPE_CHECKING:
    from bestgroup.studies.catalog import Study

__all__ = ["app"]

Names = Annotated[
    list[str] | None,
    typer.Option("--study", help="Only this study; may be repeated.", metavar="NAME"),
]


@app.command("check", short_help="Whether what is stored is whole.")
def check(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="By default all studies.")
    ] = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Read all that is stored, hold it against its checksums and replay the log.

    Exits with 2 if anything is wrong, and says which block, of which arm, which pulls.
    """
    from bestgroup.studies.catalog import list_studies
    from bestgroup.studies.storage import open_store

    store = open_store(storage)
    faults = store.faults()
    names = [name] if name is not None else [row["name"] for row in list_studies(store)]
    found = {one: _findings(one, store) for one in names}
    if json:
        output.print_json({"storage": faults, "studies": found})
    else:
        for line in faults:
            print(output.visible(line))
        for one, lines in found.items():
            print(output.visible(f"{one}: {'as it was stored' if not lines else ''}".rstrip()))
            for line in lines:
                print(output.visible(f"  {line}"))
    wrong = sum(map(len, found.values())) + len(faults)
    if wrong:
        many = "one thing is" if wrong == 1 else f"{wrong} things are"
        raise Damaged(f"{many} wrong; `bestgroup study repair NAME` puts a study right")


def _findings(name: str, store: object) -> list[str]:
    from bestgroup.errors import StoreError
    from bestgroup.studies.catalog import load_study

    try:
        return [str(finding) for finding in load_study(name, store).check()]
    except StoreError as error:
        return [str(error)]


@app.command("repair", short_help="Repair what check has found.")
def repair(name: Name, storage: Storage = DEFAULT, json: Json = False) -> None:
    """Repair a study: all but damaged observations follows from its log.

    Observations that a checksum vouches for are kept, the others are dropped and asked for again,
    with the same seeds. Make a backup first: what is dropped is gone.
    """
    lines = [str(finding) for finding in load(name, storage).repair()]
    if json:
        output.print_json({"mended": lines})
        return
    for line in lines:
        print(output.visible(line))
    print("nothing was wrong" if not lines else f"repaired {len(lines)}", file=sys.stderr)


@app.command("backup", short_help="Copy studies into one file.")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An SQLite file to write.")],
    study: Names = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Copy all studies of a storage into one file, while workers go on.

    `cp` does not do: what was told last is not in the database's own file yet.
    """
    from bestgroup.studies.catalog import backup_studies

    _say(backup_studies(file, storage, study or ()), f"in {file}", json)


@app.command("restore", short_help="Put the studies of a backup back.")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that backup has written.")],
    study: Names = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove studies of the same names.")
    ] = False,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Put the studies of a backup into a storage, all or none; also from SQLite to PostgreSQL."""
    from bestgroup.studies.catalog import restore_studies

    _say(restore_studies(file, storage, study or (), replace=replace), f"in {storage}", json)


def _say(names: list[str], where: str, json: bool) -> None:
    if json:
        output.print_json({"studies": names})
    else:
        print(f"{len(names)} studies {where}", file=sys.stderr)


@app.command("audit", short_help="Who created, deleted, imported or repaired what.")
def audit(
    storage: Storage = DEFAULT,
    most: Annotated[int, typer.Option(help="Lines at most, the newest first.", min=1)] = 100,
    json: Json = False,
) -> None:
    """Show the audit trail of a storage."""
    from bestgroup.studies.catalog import audit_trail

    rows = audit_trail(storage, most)
    if json:
        output.print_json(rows)
        return
    keys = ("who", "what", "study", "identity", "detail")
    table = [
        (time.strftime("%F %T", time.gmtime(row["at"])), *(row[key] for key in keys))
        for row in rows
    ]
    output.console().print(output.table(None, ["time (UTC)", *keys], table))


@app.command("leases", short_help="Who has which pulls, and for how long.")
def leases(
    name: Name,
    release: Annotated[
        bool, typer.Option("--release", help="End them: the pulls are handed out again.")
    ] = False,
    owner: Annotated[str | None, typer.Option(help="Only those of WHO.", metavar="WHO")] = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Show the leases of a study, or end them, all or those of one owner."""
    study = load(name, storage)
    if release:
        free = study.release(owner)
        if json:
            output.print_json({"released": free})
        else:
            print(f"{free} pulls are free again", file=sys.stderr)
        return
    found = [lease for lease in study.leases() if owner in (None, lease.owner)]
    if json:
        output.print_json([lease._asdict() for lease in found])
        return
    if owner is not None and not found:
        raise InvalidInput(f"{owner!r} has no leases")
    rows = [
        (lease.owner, lease.group, lease.arm, lease.index, lease.repeats, _left(lease.seconds))
        for lease in found
    ]
    columns = ["owner", "group", "arm", ">index", ">repeats", "ends"]
    output.console().print(output.table(None, columns, rows))


def _left(seconds: float) -> str:
    return f"in {seconds:,.0f} s" if seconds > 0 else f"overdue since {-seconds:,.0f} s"


GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="Name of the group.")]
Cost = Annotated[
    float | None, typer.Option(help="Of a pull, if the problem gives costs.", metavar="COST")
]


@app.command("add-arm", short_help="Let an arm join a group.")
def add_arm(
    name: Name,
    group: GroupName,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="Name of the arm.")],
    cost: Cost = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Let an arm join a group of a study whose problem has a reserve."""
    study = load(name, storage)
    study.add_arm(group, arm, cost=cost)
    _show_change(study, json)


@app.command("add-group", short_help="Let a new group join.")
def add_group(
    name: Name,
    group: GroupName,
    arms: Annotated[list[str], typer.Argument(metavar="ARM...", help="Its arms.")],
    cost: Cost = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Let a new group join a study whose problem has a reserve."""
    study = load(name, storage)
    study.add_group(group, arms, cost=cost)
    _show_change(study, json)


@app.command("withdraw", short_help="Let an arm, or a group, leave.")
def withdraw(
    name: Name,
    group: GroupName,
    arm: Annotated[
        str | None, typer.Argument(metavar="[ARM]", help="By default the whole group.")
    ] = None,
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Let an arm, or a whole group, leave a study whose problem has a reserve."""
    study = load(name, storage)
    study.withdraw(group, arm)
    _show_change(study, json)


def _show_change(study: Study, json: bool) -> None:
    """Show what has changed, what stays decided, and how many arms may still join."""
    known, roster = study.answer(beside=False), study.spec.roster
    assert roster is not None
    if json:
        output.print_json(
            {"changes": study.changes(), "left": roster.left, "answer": known.to_dict()}
        )
        return
    for word, groups in (("in", known.inside), ("out", known.outside), ("open", known.undecided)):
        print(output.visible(f"{word}: {', '.join(groups) or '-'}"))
    print(f"{roster.left} more arms may join")

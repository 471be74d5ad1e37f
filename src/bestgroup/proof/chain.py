"""The chain of tells: that no observation of a study was changed, left out or put in since it was told.

The log of a study keeps a link for every tell, which commits to the one before. Exported beside the rows
as a table of its own, the links are computed again from the rows: the first one that differs says which
tell was changed. Whoever has written down a link while the study ran, or has the key by which the last
one is signed, knows that all before it is as it was then (docs/proof-format.md).
"""

from __future__ import annotations

import csv
import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.files.replacing import check_writable, replacing
from bestgroup.problem.arrays import Bools, Floats
from bestgroup.problem.pull_range import PullRange
from bestgroup.proof.format import Proof, Refused
from bestgroup.proof.observations import INDEX
from bestgroup.studies.storage.checksums import chain_bytes
from bestgroup.studies.storage.records import Block, Stored

MARK, VERSION = "bestgroup-chain", 1
_COLUMNS = ["tell", "group", "arm", "first", "count", "at", "link"]


class Link(NamedTuple):
    """A tell: its number, which pulls of which arm, when, and the link that commits to it."""

    number: int
    pulls: PullRange
    at: float
    link: str


class Chain(NamedTuple):
    """All tells of a study, in their order."""

    identity: str
    dims: tuple[str, ...]  # all of them, watched ones too
    links: list[Link]
    signature: str | None

    @property
    def last(self) -> str:
        """The last link; empty if nothing was told."""
        return self.links[-1].link if self.links else ""


class _Arm:
    """The rows of an arm, by index, and which of them a tell has accounted for."""

    def __init__(self, values: Floats, index: Floats) -> None:
        self.values, self.index = values, index.astype(np.int64)
        self.told: Bools = np.zeros(len(index), np.bool_)


def signature_of_link(identity: str, tells: int, link: str, key: bytes) -> str:
    """Return the HMAC-SHA-256 of the last link of a study."""
    text = "\x1f".join((f"{MARK}-{VERSION}", identity, str(tells), link))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def write_chain(
    path: Any, identity: str, dims: Sequence[str], blocks: Sequence[Block], key: bytes | None = None
) -> str:
    """Write the chain of a study beside its export; returns the last link."""
    file = check_writable(Path(path))
    last = blocks[-1].chain.hex() if blocks else ""
    with replacing(file) as part, part.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([MARK, VERSION, identity, *dims])
        writer.writerow(_COLUMNS)
        for block in blocks:
            writer.writerow([block.number, *block.pulls, repr(block.at), block.chain.hex()])
        signed = [] if key is None else [signature_of_link(identity, len(blocks), last, key)]
        writer.writerow(["end", len(blocks), last, *signed])
    return last


def read_chain(path: Any) -> Chain:
    """Return the chain in a file; raises InvalidInput where it is none, Refused where it is cut."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise InvalidInput(f"{path}: is no chain of tells: it is no CSV text") from None
    if len(rows) < 2 or rows[0][:2] != [MARK, str(VERSION)] or rows[1] != _COLUMNS:
        raise InvalidInput(f"{path}: is no chain of tells, as `study export --chain` writes it")
    end = rows[-1]
    if end[:1] != ["end"] or not 3 <= len(end) <= 4:
        raise Refused("chain", "the chain of tells is cut: its last line is missing")
    try:
        links = [
            Link(int(row[0]), PullRange(*map(int, row[1:5])), float(row[5]), row[6])
            for row in rows[2:-1]
        ]
    except (ValueError, IndexError, TypeError):
        raise Refused("chain", "a line of the chain of tells cannot be read") from None
    for k, found in enumerate(links, start=1):
        if found.number != k:
            raise Refused("chain", f"tell {k} is left out of the chain")
    if end[1:3] != [str(len(links)), links[-1].link if links else ""]:
        raise Refused("chain", f"the chain ends at tell {len(links)}, and had {end[1]}")
    return Chain(rows[0][2], tuple(rows[0][3:]), links, end[3] if len(end) > 3 else None)


def check_chain(
    proof: Proof, path: Any, observations: Any, *, key: bytes | None = None, witness: str = ""
) -> list[str]:
    """Check the rows of a table against a chain of tells; returns what was found, in words.

    `witness` is a link that was written down while the study ran.
    """
    chain = read_chain(path)
    arms = _arms(proof, chain, observations)
    before = b""
    for found in chain.links:
        data = _told(proof, arms, found)
        before = chain_bytes(before, Stored(found.number, found.pulls, data, found.at))
        if before.hex() != found.link:
            raise Refused("chain", f"{_place(proof, found)} was changed since it was told")
    for (i, j), arm in arms.items():
        if not arm.told.all():
            index = int(arm.index[int(np.argmin(arm.told))])
            name = f"{proof.groups[i]}, {proof.arms[i][j]}, {INDEX} {index}"
            raise Refused("chain", f"the row {name} was never told")
    rows = sum(found.pulls.size for found in chain.links)
    passed = [f"all {rows:,} rows are as they were told, in {len(chain.links):,} tells"]
    stated = proof.document["data"].get("chain")
    last = {"tells": len(chain.links), "link": before.hex()}
    if stated is not None and stated != last:
        raise Refused("chain", "the last link is not the one that the proof states")
    passed += _signed(chain, key, stated is not None)
    return [*passed, *_witnessed(chain, witness)]


def _signed(chain: Chain, key: bytes | None, stated: bool) -> list[str]:
    if key is None:
        return []
    if chain.signature is None:
        if stated:  # the proof is signed, and states the last link
            return ["the proof, which is signed by the key, states the last link"]
        raise Refused("chain", "the chain of tells is not signed by this key")
    own = signature_of_link(chain.identity, len(chain.links), chain.last, key)
    if not hmac.compare_digest(own, chain.signature):
        raise Refused("chain", "the chain of tells is not signed by this key")
    return ["the last link is signed by the key"]


def _witnessed(chain: Chain, witness: str) -> list[str]:
    if not witness:
        return []
    rows = 0
    for found in chain.links:
        rows += found.pulls.size
        if found.link == witness.strip().lower():
            return [
                f"the first {found.number:,} tells, {rows:,} rows, are those that the link "
                f"{found.link} was written down for"
            ]
    raise Refused(
        "chain",
        f"no tell has the link {witness}: what was told up to then was changed, or this is another study",
    )


def _arms(proof: Proof, chain: Chain, observations: Any) -> dict[tuple[int, int], _Arm]:
    """Return the rows of a table by arm, which must stand as an export has them."""
    columns = proof.document["data"]["columns"]
    roles = {key: columns[key] for key in ("group", "arm", "item") if columns.get(key)}
    try:
        table = Table(observations, (*chain.dims, columns.get("index") or INDEX), roles)
        portions = list(table.portions())
    except InvalidInput as error:
        raise Refused("chain", str(error)) from None
    places = {
        (group, arm): (i, j)
        for i, group in enumerate(proof.groups)
        for j, arm in enumerate(proof.arms[i])
    }
    values = [portion.values for portion in portions]
    whole = np.concatenate(values) if values else np.zeros((0, len(chain.dims) + 1))
    names = [key for p in portions for key in zip(p.groups, p.arms, strict=True)]
    if len(set(names) - set(places)):
        raise Refused("chain", "the table has an arm that the problem has not")
    at = np.array([places[name] for name in names], np.int64).reshape(-1, 2)
    order = [(i, j, k) for (i, j), k in zip(at.tolist(), whole[:, -1].tolist(), strict=True)]
    for k in range(1, len(order)):
        if not order[k - 1] < order[k]:
            where = f"{names[k][0]}, {names[k][1]}, {INDEX} {whole[k, -1]:g}"
            raise Refused("chain", f"row {k} ({where}) does not stand where the export had it")
    found: dict[tuple[int, int], _Arm] = {}
    starts = [k for k in range(len(order)) if k == 0 or order[k][:2] != order[k - 1][:2]]
    stops = [*starts[1:], len(order)] if starts else []  # before the first tell there is no row
    for start, stop in zip(starts, stops, strict=True):
        i, j, _ = order[start]
        found[i, j] = _Arm(whole[start:stop, :-1], whole[start:stop, -1])
    return found


def _told(proof: Proof, arms: dict[tuple[int, int], _Arm], found: Link) -> bytes:
    """Return the values of a tell, as the log has them; refuses if one of them is missing."""
    i, j, first, size = found.pulls
    arm = arms.get((i, j))
    start = 0 if arm is None else int(np.searchsorted(arm.index, first))
    here = [] if arm is None else arm.index[start : start + size].tolist()
    if here != list(range(first, first + size)):
        gone = next(k for k in range(first, first + size) if k not in set(here))
        raise Refused("chain", f"row {INDEX} {gone} of {_place(proof, found)} was left out")
    assert arm is not None
    if arm.told[start : start + size].any():
        raise Refused("chain", f"{_place(proof, found)} has rows that were told before")
    arm.told[start : start + size] = True
    return np.ascontiguousarray(arm.values[start : start + size], dtype="<f8").tobytes()


def _place(proof: Proof, found: Link) -> str:
    i, j, first, size = found.pulls
    known = 0 <= i < len(proof.groups) and 0 <= j < proof.sizes[min(i, len(proof.groups) - 1)]
    arm = f"{proof.groups[i]}, {proof.arms[i][j]}" if known else "an unknown arm"
    span = f"{INDEX} {first}" if size == 1 else f"{INDEX} {first} to {first + size - 1}"
    return f"tell {found.number} ({arm}, {span})"

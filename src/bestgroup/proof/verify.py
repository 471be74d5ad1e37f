"""`verify_proof`: whether a proof file and a table of observations prove what the file says.

Nothing of the file is believed: levels follow from shares whose sum is checked in rational numbers, every
e-value is computed again from the rows with outward rounding, parameters must have been fixed before the
rows that they are used on, and the answer is derived again from the claims.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.proof import (
    boxes,
    directions,
    item_bounds,
    item_selections,
    item_worths,
    items,
    pairs,
    selections,
)
from bestgroup.proof.boxes import Tick
from bestgroup.proof.chain import check_chain
from bestgroup.proof.format import Proof, Refused, digest_of, parse, read_document, signature_of
from bestgroup.proof.goals import Status
from bestgroup.proof.observations import Observations, read_observations, treated
from bestgroup.proof.words import assumptions_of, statement_of

Checker = Callable[[Proof, Observations, Tick], Status]
METHODS: dict[str, Checker] = {
    "boxes": boxes.check,
    "pairs": pairs.check,
    "selections": selections.check,
    "directions": directions.check,
    "items": items.check,
    "pool": items.check_pool,
    "item selections": item_selections.check,
    "item units": item_worths.check,
    "item bounds": item_bounds.check,
}


@dataclass(frozen=True)
class Verification:
    """What was checked, and what failed."""

    verified: bool
    digest: str  # of the proof file as it was read
    passed: tuple[str, ...]  # the checks that passed, in words
    failed: str | None = None  # the check that failed
    why: str | None = None
    claim: int | None = None  # the number of the claim at which it failed, from 0
    proof: Proof | None = field(default=None, repr=False)
    chained: bool = False  # whether the rows were held against a chain of tells

    def lines(self) -> list[str]:
        """Return one page: what was proven under which assumptions, or what failed where."""
        lines = [f"passed: {words}" for words in self.passed]
        if not self.verified:
            where = "" if self.claim is None else f" at claim {self.claim}"
            return [*lines, f"FAILED: {self.failed}{where}: {self.why}", "NOT verified"]
        assert self.proof is not None
        answer, names = self.proof.answer, self.proof.groups
        for key, word in (("in", "in"), ("out", "out"), ("not_needed", "not needed")):
            chosen = [names[i] for i in answer[key]]
            if chosen:
                more = f" and {len(chosen) - 12} more" if len(chosen) > 12 else ""
                lines.append(f"{word}: {', '.join(chosen[:12])}{more}")
        lines += self._map_lines()
        lines.append(f"proven: {self.proof.document['statement']}")
        lines += [f"provided that {words}" for words in self.proof.document["assumptions"]]
        lines.append(
            "not shown: that the rows are real, that none was left out before it was told, that what is "
            "assumed holds"
            if self.chained
            else "not shown: that the rows are real, that none was left out, that what is assumed holds"
        )
        return [*lines, f"verified {self.digest}"]

    def _map_lines(self) -> list[str]:
        """Return at how many weights each group is proven best, for a map."""
        assert self.proof is not None
        mapped = self.proof.document["answer"].get("mapped")
        if mapped is None:
            return []
        count, names = mapped["of"], self.proof.groups
        parts = [f"{names[i]} at {n}" for i, n in mapped["groups"]]
        more = f" and {len(parts) - 12} more groups" if len(parts) > 12 else ""
        each = f": {', '.join(parts[:12])}{more}" if parts else ""
        return [f"mapped: {mapped['some']} of {count} weights of an even grid{each}"]

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain JSON."""
        return {
            "verified": self.verified, "digest": self.digest, "passed": list(self.passed),
            "failed": self.failed, "why": self.why, "claim": self.claim, "lines": self.lines(),
            "answer": None if self.proof is None else {
                key: [self.proof.groups[i] for i in found] for key, found in self.proof.answer.items()
            },
        }  # fmt: skip


def verify_proof(
    path: Any,
    observations: Any,
    *,
    key: bytes | None = None,
    chain: Any = None,
    witness: str = "",
    tick: Tick | None = None,
) -> Verification:
    """Return whether a proof file holds for a table of observations.

    `key` is that of a signed proof; with it a proof without its signature is refused. `chain` is the
    file of tells that the table was exported with, `witness` a link that was written down before.
    """
    document = read_document(path)
    return verify_document(document, observations, key=key, chain=chain, witness=witness, tick=tick)


def verify_document(
    document: dict[str, Any],
    observations: Any,
    *,
    key: bytes | None = None,
    chain: Any = None,
    witness: str = "",
    tick: Tick | None = None,
) -> Verification:
    """Return whether a proof, as it was read from its file, holds for a table of observations."""
    digest, passed = digest_of(document), []
    proof: Proof | None = None
    try:
        proof = parse(document)
        passed.append(f"the file has the format bestgroup-proof, version {document['version']}")
        passed += _identity(document, digest, key)
        rows = _rows(proof, observations)
        passed.append(
            f"the {rows.rows:,} rows of the table are those that the proof is about, in their order"
        )
        if chain is not None:
            passed += check_chain(proof, chain, observations, key=key, witness=witness)
        if proof.method.get("kind") not in METHODS:
            raise Refused("format", f"there is no method {proof.method.get('kind')!r}")
        found = METHODS[proof.method["kind"]](proof, rows, tick or (lambda _: None))
        passed.append("the shares add up to at most delta, in rational numbers")
        passed.append("every parameter was fixed before the rows that it is used on")
        passed.append(
            f"each of {len(proof.claims):,} claims has reached its level, with outward rounding"
        )
        _answer(proof, found)
        passed.append("the answer follows from the claims")
    except Refused as refused:
        return Verification(
            False, digest, tuple(passed), refused.check, refused.why, refused.claim, proof
        )
    return Verification(True, digest, tuple(passed), proof=proof, chained=chain is not None)


def _identity(document: dict[str, Any], digest: str, key: bytes | None) -> list[str]:
    if document.get("digest") != digest:
        raise Refused("digest", "the file was changed after it was written")
    passed = ["the digest of the file is the one that it states"]
    signature = document.get("signature")
    if key is None:
        if signature is not None:
            passed.append("the file is signed; the signature was not checked, as no key was given")
        return passed
    value = signature.get("value") if isinstance(signature, dict) else None
    if not isinstance(value, str) or not hmac.compare_digest(value, signature_of(document, key)):
        raise Refused("signature", "the file is not signed by this key")
    return [*passed, "the signature is that of the key"]


def _rows(proof: Proof, observations: Any) -> Observations:
    data = proof.document["data"]
    try:
        rows = read_observations(observations, proof.dims, dict(data["columns"]), proof.gaps)
    except InvalidInput as error:
        raise Refused("data", str(error)) from None
    except (KeyError, TypeError) as error:
        raise Refused("format", f"the columns of the table are not told ({error})") from None
    if rows.rows != data.get("rows"):
        raise Refused(
            "data", f"the table has {rows.rows:,} rows, the proof is about {data.get('rows')}"
        )
    if rows.digest != data.get("digest"):
        raise Refused("data", "the rows, or their order, are not those that the proof is about")
    if proof.gaps and proof.method.get("kind") != "boxes":
        raise Refused("format", "values may be missing where bounds of single arms prove only")
    try:
        treated(rows, [treatment.of for treatment in proof.treatments])
    except ValueError:
        raise Refused("data", "a value that is not positive has no logarithm") from None
    known = {(g, a) for g, arms in zip(proof.groups, proof.arms, strict=True) for a in arms}
    known |= proof.gone
    for arm, columns in rows.values.items():
        if arm not in known:
            raise Refused(
                "data", f"the table has an arm that the problem has not: {arm[0]}, {arm[1]}"
            )
        _in_range(proof, arm, columns)
    return rows


def _in_range(proof: Proof, arm: tuple[str, str], columns: list[list[float]]) -> None:
    for noise, column in zip(proof.noise, columns, strict=True):
        wrong = noise.against(column)
        if wrong is not None:
            raise Refused("data", f"a value of {arm[0]}, {arm[1]} {wrong}")


def _answer(proof: Proof, found: Status) -> None:
    stated = proof.answer["in"], proof.answer["out"], proof.answer["not_needed"]
    if tuple(map(sorted, stated)) != tuple(map(sorted, found[:3])):
        raise Refused("answer", "the claims give another answer than the one that is stated")
    if proof.document["answer"].get("mapped") != found.mapped:
        raise Refused("answer", "other weights are mapped than the answer states")
    if proof.document.get("assumptions") != assumptions_of(proof):
        raise Refused("answer", "the assumptions in words are not those that the method rests on")
    if proof.document.get("statement") != statement_of(proof):
        raise Refused("answer", "the statement in words is not what the answer, goal and delta say")

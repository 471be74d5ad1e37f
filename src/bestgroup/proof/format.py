"""The proof file: reading it with every entry checked, writing it, its digest.

docs/proof-format.md describes it, schema.json is its JSON Schema. A number stands for the double that
is nearest to it, wherever it is written.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import check_writable, replacing
from bestgroup.problem.worth import BEST, Worth, check_worth
from bestgroup.proof.goal_kinds import read_goal
from bestgroup.proof.goals import ProofGoal
from bestgroup.proof.noise import DimNoise, number, read_noise

FORMAT, VERSION = "bestgroup-proof", 2
# 1 has the same meaning, without limits, other worths and goals; 3 and 4 have what older readers lack.
VERSIONS = (1, VERSION, 3, 4)
MOST_CLAIM = 64  # bytes of a claim in the file
_PROBLEM = {"groups", "dims", "worth", "limits", "gone"}
_SIGNED = ("digest", "signature")


class Refused(Exception):
    """A check that failed, with the number of the claim, if it was one."""

    def __init__(self, check: str, why: str, claim: int | None = None) -> None:
        super().__init__(why)
        self.check, self.why, self.claim = check, why, claim


@dataclass(frozen=True)
class Treatment:
    """What is done to the values of a dim before they are judged."""

    clip: tuple[float, float] | None = None  # they are moved into this range
    log: bool = False  # then their natural logarithm is taken

    def of(self, values: list[float]) -> list[float]:
        """Return values as they are judged; raises ValueError where there is no logarithm."""
        if self.clip is not None:
            low, high = self.clip
            values = [min(max(x, low), high) for x in values]
        return [math.log(x) for x in values] if self.log else values


class Limited(NamedTuple):
    """A limit where larger is better: sign (mean - at) <= 0 keeps it, up to a tolerance."""

    dim: int
    sign: int
    at: Fraction
    tolerance: Fraction


@dataclass(frozen=True)
class Proof:
    """A proof file as it was read, every entry of the expected kind."""

    document: dict[str, Any]
    groups: tuple[str, ...]
    arms: tuple[tuple[str, ...], ...]
    dims: tuple[str, ...]
    signs: tuple[int, ...]  # 1 for a dim that is maximised, -1 for one that is minimised
    noise: tuple[DimNoise, ...]
    independent_arms: bool
    independent_dims: bool
    goal: ProofGoal
    delta: Fraction
    method: dict[str, Any]
    claims: list[list[Any]] = field(repr=False)
    answer: dict[str, list[int]]
    treatments: tuple[Treatment, ...] = ()  # of the values of each dim, before anything else
    gaps: bool = False  # a value may be missing in a row
    D: int = 0  # how many dims decide, the first ones; the others only have a limit
    worth: Worth = BEST
    limits: tuple[Limited, ...] = ()
    gone: frozenset[tuple[str, str]] = frozenset()  # arms in the table that have left

    @property
    def epsilon(self) -> tuple[float, ...]:
        """The slack: one for each dim, or one."""
        return self.goal.epsilon

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the dims; none where they are not weighed."""
        return self.goal.weights

    @property
    def ranks(self) -> list[int]:
        """Of each group, the rank from the top of the arm that it is worth; 0 for the average."""
        return [self.worth.rank(size) for size in self.sizes]

    @property
    def plain(self) -> bool:
        """Whether all arms count and a group is worth its best arm."""
        return self.worth.is_best and not self.limits

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many arms each group has."""
        return tuple(map(len, self.arms))

    @property
    def total(self) -> int:
        """How many arms there are."""
        return sum(self.sizes)


def canonical(document: dict[str, Any]) -> bytes:
    """Return the bytes that the digest is of: without digest and signature, keys sorted, no spaces."""
    kept = {key: value for key, value in document.items() if key not in _SIGNED}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return text.encode("ascii")


def digest_of(document: dict[str, Any]) -> str:
    """Return the SHA-256 of a proof, in hexadecimal digits."""
    return hashlib.sha256(canonical(document)).hexdigest()


def signature_of(document: dict[str, Any], key: bytes) -> str:
    """Return the HMAC-SHA-256 of a proof by a key that writer and checker share."""
    return hmac.new(key, canonical(document), hashlib.sha256).hexdigest()


def read_key(path: Any) -> bytes:
    """Return the key in a file."""
    try:
        key = Path(path).read_bytes().strip()
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(key) < 16:
        raise InvalidInput(f"{path}: a key must have 16 bytes or more; this one has {len(key)}")
    return key


def write_proof(document: dict[str, Any], path: Any, key: bytes | None = None) -> str:
    """Write a proof with its digest, a claim, or the measurements of a leader, a line; returns the digest."""
    file = check_writable(Path(path))
    whole = {**document, "digest": digest_of(document)}
    if key is not None:
        whole["signature"] = {"kind": "hmac-sha256", "value": signature_of(document, key)}
    claims = [_line(row) for row in whole["claims"]]
    long = next((k for k, row in enumerate(claims) if len(row) > MOST_CLAIM), None)
    if long is not None:
        raise InvalidInput(f"claim {long} takes more than {MOST_CLAIM} bytes: {claims[long]}")
    kept, method = {"claims": claims}, whole["method"]
    if "measurements" in method:
        kept["measurements"] = [_line(own) for own in method["measurements"]]
        method = {**method, "measurements": []}
    text = json.dumps({**whole, "claims": [], "method": method}, ensure_ascii=False, indent=1)
    for name, rows in kept.items():
        text = _with_lines(text, name, rows)
    with replacing(file) as part, part.open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
    return str(whole["digest"])


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _with_lines(text: str, name: str, rows: list[str]) -> str:
    """Return the text of an object, an entry of which was an empty list and now has a line for each row."""
    head, tail = text.split(f'"{name}": []')
    return head + f'"{name}": [\n' + ",\n".join(rows) + "\n]" + tail


def read_document(path: Any) -> dict[str, Any]:
    """Return the JSON object in a file; NaN and infinities are refused, as JSON has none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is no proof file: it is not UTF-8 text") from None

    def refuse(word: str) -> float:
        raise InvalidInput(f"{path}: {word} is no number in JSON")

    try:
        found = json.loads(text, parse_constant=refuse, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"{path}: is no proof file: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidInput(f"{path}: is no proof file: it has no format {FORMAT!r}")
    if found.get("version") not in VERSIONS:
        raise InvalidInput(
            f"{path}: has version {found.get('version')!r} of the format; this program reads "
            f"{', '.join(map(str, VERSIONS))}"
        )
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; one in which a name stands twice could mean two things."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise InvalidInput("a proof file with a name that stands twice in an object is refused")
    return made


def parse(document: dict[str, Any]) -> Proof:
    """Return a proof; raises `Refused` where an entry is not what it must be."""
    try:
        return _parse(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise Refused(
            "format", f"an entry is missing or is not what it must be ({error})"
        ) from None


def _parse(document: dict[str, Any]) -> Proof:
    problem, noise = document["problem"], document["noise"]
    _need(document.get("version") in VERSIONS, "the version must be 1, 2, 3 or 4")
    groups = tuple(_text(name) for name, _ in problem["groups"])
    arms = tuple(tuple(map(_text, members)) for _, members in problem["groups"])
    dims = tuple(_text(entry[0]) for entry in problem["dims"])
    directions = [entry[1] for entry in problem["dims"]]
    treatments = tuple(_treatment(entry) for entry in problem["dims"])
    _need(bool(groups) and bool(dims) and all(arms), "there are no groups, arms or dims")
    _need(len(set(groups)) == len(groups) and len(set(dims)) == len(dims), "a name stands twice")
    _need(all(len(set(a)) == len(a) for a in arms), "an arm stands twice in a group")
    D = sum(way != "watch" for way in directions)
    _need(
        set(directions[:D]) <= {"max", "min"} and D > 0, "dims that only have a limit must be last"
    )
    worth, limits = check_worth(problem.get("worth")), problem.get("limits", [])
    known = {"groups", "dims"} if document["version"] == 1 else _PROBLEM
    _need(set(problem) <= known, "a problem has no such entry")
    worth.check_sizes([len(own) for own in arms], groups)
    signs = tuple(-1 if way == "min" else 1 for way in directions)
    bounds = tuple(_limit(entry, signs) for entry in limits)
    _need(not bounds or worth.kind in ("best", "kth"), "limits go with worths of a fixed rank")
    limited = {bound.dim for bound in bounds}
    _need(limited >= set(range(D, len(dims))), "a dim that does not decide has no limit")
    gone = [(_text(name), _text(arm)) for name, own in problem.get("gone", []) for arm in own]
    here = {(name, arm) for name, own in zip(groups, arms, strict=True) for arm in own}
    _need(len(set(gone)) == len(gone) and not here & set(gone), "an arm that has left stands twice")
    models = tuple(read_noise(given) for given in noise["dims"])
    _need(len(models) == len(dims), "there must be one noise model for each dim")
    _need(noise["arms"] in ("independent", "arbitrary"), "arms must be independent or arbitrary")
    _need(noise["dependence"] in ("independent", "arbitrary"), "dims likewise")
    goal = read_goal(document["goal"], D, len(groups), document["version"])
    plain = worth.is_best and not bounds
    _need(plain or goal.measured, f"{goal.kind} goes with the best arms of groups")
    delta = Fraction(number(document["delta"]))
    _need(0 < delta < 1, "delta must lie between 0 and 1")
    claims, answer = document["claims"], document["answer"]
    _need(isinstance(claims, list) and all(isinstance(c, list) for c in claims), "claims are lists")
    _need(isinstance(document["method"], dict), "method must be an object")
    answer = {
        key: [_index(i, len(groups)) for i in answer[key]] for key in ("in", "out", "not_needed")
    }
    return Proof(
        document, groups, arms, dims, signs, models, noise["arms"] == "independent",
        noise["dependence"] == "independent", goal, delta,
        document["method"], claims, answer, treatments, _flag(document["data"].get("gaps", False)),
        D, worth, bounds, frozenset(gone),
    )  # fmt: skip


def _limit(entry: list[Any], signs: tuple[int, ...]) -> Limited:
    """Return a limit [dim, "<=" or ">=", at, tolerance], mirrored where the dim is minimised."""
    d, sense, at, tolerance = entry
    d, sign = _index(d, len(signs)), {"<=": 1, ">=": -1}[sense]
    _need(number(tolerance) >= 0.0, "a tolerance must not be negative")
    return Limited(d, sign * signs[d], signs[d] * Fraction(number(at)), Fraction(tolerance))


def _treatment(entry: list[Any]) -> Treatment:
    """Return the treatment of a dim: [name, direction] or [name, direction, {"clip", "log"}]."""
    _need(len(entry) in (2, 3), "a dim is a name, a direction and, maybe, a treatment")
    given = entry[2] if len(entry) == 3 else {}
    _need(set(given) <= {"clip", "log"}, "a treatment is to clip or to take the logarithm")
    clip = None
    if "clip" in given:
        low, high = given["clip"]
        clip = number(low), number(high)
        _need(clip[0] < clip[1], "a range must not be empty")
    return Treatment(clip, _flag(given.get("log", False)))


def _flag(value: Any) -> bool:
    _need(isinstance(value, bool), f"{value!r} is neither true nor false")
    return bool(value)


def _need(holds: bool, why: str) -> None:
    if not holds:
        raise ValueError(why)


def _text(value: Any) -> str:
    _need(isinstance(value, str), f"{value!r} is no name")
    return str(value)


def _index(value: Any, size: int) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    _need(whole and 0 <= value < size, f"{value!r} is no index below {size}")
    return int(value)


def fraction(given: Any) -> Fraction:
    """Return a share, written as [numerator, denominator]."""
    top, bottom = given
    for part in (top, bottom):
        _need(isinstance(part, int) and not isinstance(part, bool), f"{part!r} is no integer")
    _need(top >= 0 and bottom > 0, "a share must not be negative")
    return Fraction(top, bottom)


def integers(row: list[Any], limits: tuple[int, ...]) -> list[int]:
    """Return the first entries of a claim, each an index below its limit."""
    _need(len(row) >= len(limits), "a claim is too short")
    return [_index(value, limit) for value, limit in zip(row, limits, strict=False)]


def check_processes(
    proof: Proof,
    serves: Mapping[str, Collection[str]],
    check: Callable[[Proof, dict[str, Any]], None],
    method: dict[str, Any] | None = None,
) -> None:
    """Refuse processes that do not exist, are no proof for the noise, or are not fixed beforehand.

    `serves` has the kinds of noise that a process is a proof for; `check` looks at its parameters.
    """
    try:
        found = (proof.method if method is None else method)["process"]
        if len(found) != len(proof.dims):
            raise ValueError("there must be a process for each dim")
        for process, noise in zip(found, proof.noise, strict=True):
            if noise.kind not in serves[process["name"]]:
                raise ValueError(f"{process['name']} is no proof for {noise.kind} noise")
            if process["fixed_at"] != 0:
                raise ValueError("its parameters must be fixed before the first observation")
            check(proof, process)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise Refused("parameters", f"a process cannot be used: {error}") from None

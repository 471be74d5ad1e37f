"""What a proof says in words: made from its problem, goal and method, so that no word can be changed."""

from __future__ import annotations

from bestgroup.problem.guarantee import SYMMETRIC_SUMS
from bestgroup.problem.measure import Measure, words_of
from bestgroup.problem.require import Limit
from bestgroup.proof.format import Proof, Treatment

ROWS = (
    "no observation was left out or picked because of its value",
    "how long an evaluation takes, and whether it fails, says nothing about its value",
)
MISSING = "whether a value is missing has nothing to do with what it is"
FIXED = "groups, arms, dims, weights, epsilon and delta were fixed before the values were seen"
MEASURED = "limits, and what a group is worth, were fixed before the values were seen, too"
AS_THEY_CAME = (
    "groups and arms may have been added because of what was seen; the table has them in the order in "
    "which they were first pulled; dims and delta were fixed before the values were seen"
)
ROOM = (
    "arms may have come and gone because of what was seen, no more of them than delta is for; given all "
    "that is known when an arm comes, its pulls have its mean and that noise; dims and delta were fixed "
    "before the values were seen"
)
SCOUTED = (
    "the counts at which the warm-up ended follow from the values up to then, and were not chosen by "
    "later ones"
)
SHARED_OUT = (
    "the shares of delta of comparisons, and the counts from which values count, follow from the values "
    "up to then, and were not chosen by later ones"
)
NAMED = (
    "the counts at which leaders were named follow from the values up to then, and were not chosen by "
    "later ones"
)
PLANNED = (
    "leaders, their shares of delta, and the arms and pulls of each measurement of a leader follow from "
    "the values up to then, and were not chosen by later ones"
)
PRICED = "the arms that stand for a leader were chosen for their costs, by the values up to then"
ONE_ARM = (
    "given the arm's own earlier pulls, its next pull has its mean and that noise",
    "pulls of different arms may depend on each other in any way",
)
ALL_ARMS = (
    "given the past, the next pull of an arm has its mean and that noise",
    "pulls of different arms are independent",
)


def statement_of(proof: Proof) -> str:
    """Return what holds with which probability, and what is meant by the worth of a group."""
    return _statement(proof) + words_of(_measure(proof))


def _measure(proof: Proof) -> Measure | None:
    """Return which arms count and what a group is worth, as the rest of the library says it."""
    if proof.plain:
        return None
    names = [(proof.dims[d], *rest) for d, *rest in proof.document["problem"].get("limits", [])]
    limits = tuple(Limit(name, sense, float(at), float(slack)) for name, sense, at, slack in names)
    return Measure(proof.D, proof.worth, (), limits)


def _statement(proof: Proof) -> str:
    percent = f"with probability at least {1 - float(proof.delta):.10g}"
    if proof.method["kind"] == "pool":
        percent = "for certain"
    return proof.goal.statement(percent)


def assumptions_of(proof: Proof) -> list[str]:
    """Return all that a proof rests on."""
    words = [
        f"{name}: {noise.words()}" for name, noise in zip(proof.dims, proof.noise, strict=True)
    ]
    words += [_treatment_words(*pair) for pair in zip(proof.dims, proof.treatments, strict=True)]
    words = [word for word in words if word] + ([MISSING] if proof.gaps else [])
    words.append(
        "dims of one pull are independent"
        if proof.independent_dims
        else "dims of one pull may depend on each other in any way"
    )
    kind = proof.method["kind"]
    process = proof.method.get("process")
    if isinstance(process, dict) and process.get("name") == "symmetric and sums":
        words.append(SYMMETRIC_SUMS)
    measured = [] if proof.plain else [MEASURED]
    if kind in ("items", "item selections", "item units", "item bounds", "pool"):
        return [*words, *_items_words(proof), FIXED, *measured, *ROWS]
    # A bound of an average adds up pulls of several arms.
    words += ONE_ARM if kind == "boxes" and "sums" not in proof.method else ALL_ARMS
    if proof.method.get("budget") in ("scouted", "named"):
        words.append(SCOUTED if kind == "pairs" else SHARED_OUT)
    if proof.method.get("budget") == "leaders":
        words += [NAMED, PRICED] if "costs" in proof.method else [NAMED]
    if proof.method.get("budget") == "measured":
        words.append(PLANNED)
    fixed = {"as they came": AS_THEY_CAME, "room": ROOM}.get(proof.method.get("budget", ""), FIXED)
    return [*words, fixed, *measured, *ROWS]


def _items_words(proof: Proof) -> list[str]:
    """Return what is meant by a mean, and what is assumed of the order of the items."""
    if proof.method["kind"] == "pool":
        words = "means are those over the items of the pool, all of which every arm was scored on"
        return [words, *_repeats_words(proof)]
    clusters = proof.method.get("clusters")
    what = "items" if clusters is None else "clusters of items"
    words = "means are those over all items of the pool, whether they were scored or not"
    if proof.method["target"] != "pool":
        words = f"{what} are independent draws, and means are expectations"
        if clusters is not None:
            words += f" of an item, where no cluster has more than {clusters['largest']} of them"
    order = f"the order of the {what} was drawn at random before any value was seen"
    if proof.method["ordered_by"] == "digest":
        order = "their order is that of a digest of their names, which no value chose"
    if proof.method.get("budget") == "terms":
        order += "; terms and leaders follow from the values on the items before them"
    fixed = [] if clusters is None else ["which items make a cluster was fixed beforehand"]
    return [
        words,
        order,
        *fixed,
        "arms may depend on each other in any way",
        *_repeats_words(proof),
    ]


def _repeats_words(proof: Proof) -> list[str]:
    """Return what is done with several rows for one item."""
    many = proof.method.get("repeats", 1)
    return [] if many == 1 else [
        f"the mean of {many} rows is the value of an arm on an item, a number fixed beforehand"
    ]  # fmt: skip


def _treatment_words(name: str, treatment: Treatment) -> str:
    """Return what is done to the values of a dim, in words; none if nothing is."""
    parts: list[str] = []
    if treatment.clip is not None:
        parts.append(f"clipped to {treatment.clip[0]!r} .. {treatment.clip[1]!r}")
    if treatment.log:
        parts.append("judged by its natural logarithm, in which all its numbers here are")
    return f"{name} is {' and '.join(parts)}" if parts else ""

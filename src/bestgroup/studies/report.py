"""What a study says about itself: `StudyStatus`, `Answer`, `Explanation`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Comparison
from bestgroup.analysis.certify import Certificate
from bestgroup.analysis.deploy import Deployment, Guess
from bestgroup.inference.certificate.data_checks import Doubt, why_void
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.status import Status
from bestgroup.studies.roster import JOIN, LEAVE
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.records import Entry, Head

RETRIES = "how long an evaluation takes, and whether it fails, says nothing about its value"
IMPORTED = (
    "of the rows that were imported none was left out because of its value, and none was seen when "
    "groups, arms, dims, weights and delta were fixed"
)
COMING = (
    "arms may join and leave because of what was seen: given all that was known when an arm joined, its "
    "pulls have its mean and that noise"
)
ORDER = "pulls are independent, or are consumed in the order in which they were made"


@dataclass(frozen=True)
class StudyStatus:
    """Where a study stands. `pulls` are consumed, `told` are paid for."""

    name: str
    state: str  # "running", "done" or "stuck"
    algorithm: str
    plan: int
    pulls: int
    told: int
    groups_in: int
    groups_out: int
    undecided: int
    free: int  # pulls that wait for a worker, look-ahead included
    leased: int  # pulls that a worker has
    overdue: int  # pulls whose lease has ended; they are handed out again
    workers: dict[str, int]  # pulls leased to each owner
    failures: list[dict[str, Any]]  # tickets that failed and are not told yet
    cost: float | None = None  # of the consumed pulls; None if the problem gives no costs
    forecast: float | None = None  # more pulls until the end, about; None if no one can say
    not_needed: int = 0  # groups that may be better than the answer, by no more than epsilon
    warnings: list[str] = field(default_factory=list)  # what speaks against the assumptions

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """What is known of the question so far; `final` when the algorithm has ended."""

    final: bool
    groups: tuple[str, ...]  # the answer if final, otherwise those that are in for certain
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    undecided: tuple[str, ...]
    pulls: int
    told: int
    guarantee: Guarantee
    cost: float | None = None  # of the consumed pulls; None if the problem gives no costs
    not_needed: tuple[str, ...] = ()  # may be better than the answer, by no more than epsilon
    guess: Guess | None = None  # before the end, the whole answer that the values speak for
    deploy: tuple[Deployment, ...] = ()  # which arm to take of each group that is in
    ties: tuple[tuple[str, str], ...] = ()  # groups that are proven within epsilon of each other

    def with_doubts(self, doubts: Sequence[Doubt]) -> Answer:
        """Return the answer with a guarantee that signs against its assumptions void."""
        why = why_void(doubts)
        if why is None or self.guarantee.level == "none":
            return self
        return replace(self, guarantee=self.guarantee.void(why))

    def beside(self, found: Certificate) -> Answer:
        """Return the answer with the best guess, the arms to take and the ties of its certificate."""
        epsilon = np.min(np.asarray(found.goal.epsilon, float))
        return replace(
            self,
            guess=None if self.final or not self.told else found.guess(),
            deploy=tuple(found.deploy()),
            ties=tuple(found.ties()) if epsilon > 0 else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain JSON."""
        entries = {**asdict(self), "guarantee": self.guarantee.to_dict()}
        entries["in"] = entries.pop("inside")
        entries["out"] = entries.pop("outside")
        return entries


@dataclass(frozen=True)
class Explanation:
    """What is known of one group."""

    group: str
    status: str  # the word of a Status
    decision: dict[str, Any] | None  # plan, pulls and evidence when it was decided
    arms: list[dict[str, Any]]  # name, pulls, mean of each decided dim, dims it still matters in
    efficiency: dict[str, float] | None  # estimates that the algorithm goes by
    radius: float | None
    reasons: list[dict[str, Any]]  # rival, dim, arms, margin and pulls of each comparison behind it
    forecast: float | None  # more pulls until it is decided, about
    because: str | None  # what they say together
    sentence: str  # what the algorithm has decided, and when
    # The algorithm's own proof, where its state tells it: dim, arms that are compared, and by how
    # much the first may be worse.
    proof: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return self.sentence if self.because is None else f"{self.because} ({self.sentence})"


def make_status(spec: StudySpec, session: Session) -> StudyStatus:
    """Return the status from the head and the slots: neither algorithm nor observations."""
    head, now = session.head, session.now
    report = json.loads(head.report)
    decided = Counter(statuses(spec, head))
    free = leased = overdue = 0
    workers: dict[str, int] = {}
    failures: list[dict[str, Any]] = []
    problem = spec.everyone
    for slot in session.slots():
        if not slot.owner:
            free += slot.pulls.size
        elif slot.expires > now:
            leased += slot.pulls.size
            workers[slot.owner] = workers.get(slot.owner, 0) + slot.pulls.size
        else:
            overdue += slot.pulls.size
        if slot.failures:
            names = {
                "group": problem.groups[slot.pulls.group],
                "arm": problem.arms[slot.pulls.group][slot.pulls.arm],
            }
            story = {"index": slot.pulls.first, "times": slot.failures, "reason": slot.reason}
            failures.append({**names, **story})
    return StudyStatus(
        name=spec.name,
        state=head.state,
        algorithm=spec.algorithm,
        plan=head.plan,
        pulls=head.pulls,
        told=head.told,
        groups_in=decided[Status.IN],
        groups_out=decided[Status.OUT],
        undecided=decided[Status.UNDECIDED],
        free=free,
        leased=leased,
        overdue=overdue,
        workers=workers,
        failures=failures,
        cost=report.get("cost"),
        not_needed=decided[Status.NOT_NEEDED],
    )


def statuses(spec: StudySpec, head: Head) -> list[Status]:
    """Return what the algorithm has decided of each group."""
    report, goal = json.loads(head.report), spec.goal
    found = [Status.read(letter) for letter in report["groups"]]
    if head.state == "done" and not report.get("not_needed") and goal.spares_groups:
        # A report that does not know this status has no other letter for what it stands for.
        found = [Status.NOT_NEEDED if s == Status.OUT else s for s in found]
    return found


def make_answer(spec: StudySpec, head: Head) -> Answer:
    """Return the answer from the head."""
    report = json.loads(head.report)
    names = spec.problem.groups
    decided = statuses(spec, head)
    parts = {
        status: tuple(name for name, s in zip(names, decided, strict=True) if s == status)
        for status in Status
    }
    final = head.state == "done"
    groups = tuple(names[i] for i in report["answer"]) if final else parts[Status.IN]
    return Answer(
        final=final,
        groups=groups,
        inside=parts[Status.IN],
        outside=parts[Status.OUT],
        not_needed=parts[Status.NOT_NEEDED],
        undecided=parts[Status.UNDECIDED],
        pulls=head.pulls,
        told=head.told,
        guarantee=guarantee_of(spec, head),
        cost=report.get("cost"),
    )


def guarantee_of(spec: StudySpec, head: Head) -> Guarantee:
    """Return what a study's answer is worth, or what its decisions are before the end."""
    imported = (IMPORTED,) if json.loads(head.report).get("imported") else ()
    coming = () if spec.roster is None else (COMING,)
    rests = (*spec.problem.treatment(), ORDER, RETRIES, *coming, *imported)
    own = spec.own_guarantee().resting_on(*rests)
    return own if head.state == "done" else own.so_far()


def make_explanation(
    spec: StudySpec,
    found: Certificate,
    record: dict[str, Any],
    decisions: list[Entry],
    group: int,
    proof: Sequence[Comparison] = (),
) -> Explanation:
    """Return what is known of a group, in the user's orientation.

    `record` is what the algorithm's state shows, `proof` what it has compared to decide the group.
    """
    problem = spec.problem
    dims = [dim.name for dim in problem.decided]
    number, decided = spec.stored_group(group), found.verdict.status[group] != Status.UNDECIDED
    made = [e for e in decisions if e.group == number and e.kind not in (JOIN, LEAVE)]
    own = made[-1] if made and decided else None  # it may have been decided again
    counts = found.tally.counts[group]
    efficiency = None
    if "efficiency" in record and counts.any():
        row = problem.to_user(np.asarray(record["efficiency"])[group])
        efficiency = dict(zip(dims, row.tolist(), strict=True))
    radius = record.get("radius")
    sentence = _sentence(spec, own, group, int(counts.sum()), efficiency)
    because = found.explain(problem.groups[group]) if counts.any() else None
    reasons = () if because is None else because.reasons
    return Explanation(
        group=problem.groups[group],
        status=Status(found.verdict.status[group]).word,
        decision=None if own is None else decision_dict(spec, own),
        arms=_arms(found, record.get("arms"), group),
        efficiency=efficiency,
        radius=None if radius is None else float(radius),
        reasons=[asdict(reason) for reason in reasons],
        forecast=None if because is None else because.forecast,
        because=None if because is None else because.text,
        sentence=sentence,
        proof=[_comparison(spec, entry) for entry in proof],
    )


def _comparison(spec: StudySpec, entry: Comparison) -> dict[str, Any]:
    """Return a proven comparison by names: the first arm's mean is better, or worse by less."""
    problem = spec.problem
    return {
        "dim": problem.decided[entry.dim].name,
        "better": [problem.groups[entry.above], problem.arms[entry.above][entry.upper]],
        "worse": [problem.groups[entry.below], problem.arms[entry.below][entry.lower]],
        "slack": entry.slack,
    }


def _arms(found: Certificate, active: Any, group: int) -> list[dict[str, Any]]:
    """Return name, pulls and means of a group's arms, and the dims in which each still matters."""
    problem, tally = found.problem, found.tally
    dims = [dim.name for dim in problem.measured]
    arms: list[dict[str, Any]] = []
    for j, name in enumerate(problem.arms[group]):
        count = int(tally.counts[group, j])
        entry: dict[str, Any] = {"arm": name, "pulls": count, "mean": None}
        if count:
            mean = problem.to_user(found.explainer.means[group, j])
            entry["mean"] = dict(zip(dims, mean.tolist(), strict=True))
        if active is not None:
            entry["dims"] = [dims[d] for d in np.flatnonzero(np.asarray(active)[group, j])]
        arms.append(entry)
    return arms


def decision_dict(spec: StudySpec, entry: Entry) -> dict[str, Any]:
    """Return a decision with names, in the user's orientation."""
    problem = spec.everyone
    evidence = json.loads(entry.evidence)
    if "efficiency" in evidence:
        row = problem.to_user(np.array(evidence["efficiency"]))
        names = [dim.name for dim in problem.decided]
        evidence["efficiency"] = dict(zip(names, row.tolist(), strict=True))
    if "pulls" in evidence:
        arms = evidence.pop("arms", problem.arms[entry.group])
        evidence["pulls"] = dict(zip(arms, evidence["pulls"], strict=True))
    if "answer" in evidence:
        evidence["answer"] = [problem.groups[i] for i in evidence["answer"]]
    group = None if entry.group < 0 else problem.groups[entry.group]
    return {
        "number": entry.number,
        "plan": entry.plan,
        "pulls": entry.pulls,
        "kind": entry.kind,
        "group": group,
        "evidence": evidence,
    }


def _sentence(
    spec: StudySpec,
    own: Entry | None,
    group: int,
    pulls: int,
    efficiency: dict[str, float] | None,
) -> str:
    name = spec.problem.groups[group]
    seen = ""
    if efficiency is not None and pulls:
        # With limits or another worth it is not the best arms that are estimated.
        what = "its best arms are" if spec.problem.measure is None else "its worth is"
        seen = f"; {what} estimated at " + ", ".join(
            f"{dim} {value:.4g}" for dim, value in efficiency.items()
        )
    if own is None:
        return f"{name} is undecided after {pulls} pulls of its arms{seen}"
    where = {"in": "in the answer", "out": "not in the answer"}.get(own.kind, own.kind)
    then = sum(json.loads(own.evidence).get("pulls", ()))
    return (
        f"{name} is {where}: {spec.algorithm} decided it in plan {own.plan}, after {own.pulls} "
        f"pulls in all and {then} of its own arms{seen}"
    )

"""The certificate of a study, with what the page asks of it; each part is made once.

A group has one status, and somebody who proved it. The algorithm's decisions come first: they are
the study's answer. Where it has not decided yet, what the observations prove beyond its decisions
counts, marked as such.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from bestgroup.analysis.certify import Certificate
from bestgroup.errors import StoreError
from bestgroup.inference.certificate.explain import Explanation
from bestgroup.inference.certificate.explain_pareto import ParetoExplainer
from bestgroup.inference.certificate.forecast import pulls_needed
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.status import Status
from bestgroup.service.schemas import STATUSES, GroupStatus
from bestgroup.studies.certificate import make_certificate
from bestgroup.studies.estimates import efficiencies, weighted_worths
from bestgroup.studies.observer import Picture
from bestgroup.studies.reasons import Outlook
from bestgroup.studies.report import statuses
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Head

By = Literal["algorithm", "observations", ""]
MOST_EXPLAINED = 200  # groups whose needs are asked for one by one


class Standing(NamedTuple):
    """The statuses of all groups, in the order of the problem."""

    words: list[GroupStatus]
    by: list[By]

    def counts(self) -> dict[GroupStatus, int]:
        """Return how many groups have each status."""
        found = Counter(self.words)
        return {word: found[word] for word in STATUSES}

    @property
    def ahead(self) -> int:
        """How many groups only the observations decide so far."""
        return self.by.count("observations")


@dataclass(frozen=True)
class Proof:
    """What is proven of a study after some of its observations."""

    spec: StudySpec
    certificate: Certificate

    @classmethod
    def blank(cls, spec: StudySpec, head: Head) -> Proof:
        """Return what is proven before any observation."""
        picture = Picture.blank(spec)
        nobody = Outlook.blank(len(spec.problem.groups))
        with np.errstate(all="ignore"):
            try:
                return cls(spec, make_certificate(spec, head, picture, nobody))
            except StoreError:  # its algorithm is of another version, and cannot be asked
                return cls(spec, make_certificate(spec, head, picture, None))

    @property
    def observed(self) -> int:
        """How many observations it rests on."""
        return self.certificate.pulls

    def standing(self, head: Head) -> Standing:
        """Return the one status of every group; the head may be newer than the certificate."""
        words: list[GroupStatus] = []
        by: list[By] = []
        data = self.certificate.data
        for i, decided in enumerate(statuses(self.spec, head)):
            proven = Status.UNDECIDED if data is None else Status(data.status[i])
            chosen = proven if decided == Status.UNDECIDED else decided
            words.append(chosen.word)  # type: ignore[arg-type]
            if chosen == Status.UNDECIDED:
                by.append("")
            else:
                by.append("algorithm" if chosen == decided else "observations")
        return Standing(words, by)

    @property
    def guarantee(self) -> Guarantee:
        """What all that is shown holds with: the decisions, and what the observations add."""
        found = self.certificate
        return found.guarantee if found.together is None else found.together

    @cached_property
    def ends(self) -> Floats:
        """Lower bound, estimate and upper bound of every efficiency in the dims' units, [3, N, D]."""
        return efficiencies(self.certificate)

    @cached_property
    def worth(self) -> Floats | None:
        """Bounds and estimate of every group's weighted worth, [3, N]; None without weights."""
        return weighted_worths(self.certificate)

    @cached_property
    def weights(self) -> dict[str, Any] | None:
        """The map of weights, with pieces that do not overlap; None for other goals."""
        if not self.spec.goal.maps:
            return None
        found = self.certificate.map
        return found.to_dict() | {"regions": found.apart()}

    @cached_property
    def pulls(self) -> Ints:
        """Pulls of each group, [N]."""
        return self.certificate.tally.counts.sum(axis=1)

    @cached_property
    def needs(self) -> Floats:
        """About how many more pulls each group takes to be decided, [N]; inf if no one can say."""
        if isinstance(self.certificate.explainer, ParetoExplainer):
            return pulls_needed(self.certificate.explainer)
        needs = np.full(len(self.pulls), math.inf)
        for i in range(len(needs) if self.observed and len(needs) <= MOST_EXPLAINED else 0):
            more = self.explain(i).forecast
            needs[i] = math.inf if more is None else more
        return needs

    @cached_property
    def guess(self) -> str:
        """The whole answer that the values speak for, while anything is undecided; else nothing."""
        found = self.certificate
        return str(found.guess()) if found.undecided and self.observed else ""

    @cached_property
    def arms(self) -> list[str]:
        """What to take of each group that is in, a sentence each."""
        return [str(choice) for choice in self.certificate.deploy()]

    @cached_property
    def ties(self) -> list[tuple[str, str]]:
        """Pairs of groups that are proven within epsilon of each other."""
        slack = np.min(np.asarray(self.spec.goal.epsilon, float))
        return self.certificate.ties() if slack > 0 and self.observed else []

    @cached_property
    def forecast(self) -> float | None:
        """About how many more pulls the whole answer takes; None if no one can say."""
        return self.certificate.forecast() if self.observed else None

    def explain(self, i: int) -> Explanation:
        """Return why a group has its status."""
        if i not in self._explained:
            self._explained[i] = self.certificate.explain(self.spec.problem.groups[i])
        return self._explained[i]

    @cached_property
    def _explained(self) -> dict[int, Explanation]:
        return {}

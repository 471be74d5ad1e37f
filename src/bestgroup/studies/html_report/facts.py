"""What a report says of a study, gathered at one time."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bestgroup.analysis.certify import Certificate
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.status import Status
from bestgroup.studies.report import Answer, StudyStatus
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.study import Study


@dataclass(frozen=True)
class Facts:
    """A study at one time."""

    spec: StudySpec
    status: StudyStatus
    answer: Answer
    certificate: Certificate
    decisions: list[dict[str, Any]]
    digest: str  # SHA-256 of the observations as `export` writes them
    made: float  # seconds since 1970

    @classmethod
    def of(cls, study: Study) -> Facts:
        """Return the facts of a study as it is now."""
        return cls(
            spec=study.spec,
            status=study.status(),
            answer=study.answer(),
            certificate=study.certificate(),
            decisions=study.decisions(),
            digest=_digest(study),
            made=time.time(),
        )

    @cached_property
    def statuses(self) -> list[Status]:
        """The one status of each group: the decision, else what the observations prove."""
        found = self.certificate
        own, beyond = found.verdict.status, found.beyond
        return [Status(b if s == Status.UNDECIDED else s) for s, b in zip(own, beyond, strict=True)]

    @property
    def counts(self) -> dict[Status, int]:
        """How many groups have each status."""
        found = Counter(self.statuses)
        return {status: found[status] for status in Status}

    def proven_by(self, i: int) -> str:
        """Return who proved the status of a group, and when."""
        if self.statuses[i] == Status.UNDECIDED:
            return ""
        if self.certificate.verdict.status[i] == Status.UNDECIDED:
            return "the observations alone"
        name = self.spec.problem.groups[i]
        when = next((d["pulls"] for d in self.decisions if d["group"] == name), None)
        return self.spec.algorithm if when is None else f"{self.spec.algorithm}, {when:,} pulls"

    @property
    def guarantee(self) -> Guarantee:
        """What all statuses hold with."""
        found = self.certificate
        return found.guarantee if found.together is None else found.together


def _digest(study: Study) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "observations.csv"
        study.export(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

"""A study as it was: its certificate after some block of the log, and after later ones."""

from __future__ import annotations

import json
from typing import Any

from bestgroup.analysis.certify import Certificate
from bestgroup.errors import WrongVersion
from bestgroup.problem.status import Status
from bestgroup.studies.certificate import make_certificate
from bestgroup.studies.observer import Observer
from bestgroup.studies.reasons import Outlook, outlook
from bestgroup.studies.runner import Runner
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.records import Entry, Head
from bestgroup.studies.study import Study


class History:
    """Replays the log of a study up to one block after the other."""

    def __init__(self, study: Study, decisions: list[Entry]) -> None:
        self._study, self._spec, self._decisions = study, study.spec, decisions
        self._imported = bool(json.loads(study.head().report).get("imported"))
        self._runner, self._observer = Runner(study.spec), Observer(study.spec)

    def until(self, end: int) -> tuple[Certificate, float, Head]:
        """Return the certificate after block `end`, when that was told, and the head."""
        self._observer.catch_up(self._study.blocks, end)
        picture = self._observer.picture()
        look, consumed = self._study.read(lambda session: self._look(session, end))
        head = self._head(picture.observed if consumed is None else consumed)
        return make_certificate(self._spec, head, picture, look), self._observer.at, head

    def _look(self, session: Session, end: int) -> tuple[Outlook | None, int | None]:
        try:
            live = self._runner.view(session, end)
        except WrongVersion:  # such a study can be looked at, not stepped
            return None, None
        return outlook(self._spec, live), live.pulls

    def _head(self, pulls: int) -> Head:
        """Return the head as it was after so many pulls, as far as a certificate needs it."""
        letters = [Status.UNDECIDED.letter] * len(self._spec.problem.groups)
        report: dict[str, Any] = {"not_needed": True}
        if self._imported:  # what an import assumes is told of the time before it, too
            report["imported"] = True
        for entry in self._decisions:
            if entry.pulls > pulls:
                break
            if entry.group >= 0:
                letters[entry.group] = Status.read(entry.kind).letter
            else:
                report |= json.loads(entry.evidence)
        state = "done" if "answer" in report else "running"
        return Head(
            pulls=pulls, state=state, report=json.dumps(report | {"groups": "".join(letters)})
        )

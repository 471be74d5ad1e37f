"""What speaks against the assumptions of a study, looked for while there is time to stop.

Reads the log, each arm's observations in the order of their index, as far as they are told without a
gap, and runs the checks that `certify` runs on tables.
"""

from __future__ import annotations

from collections.abc import Callable

from bestgroup.analysis.certify import checker_of
from bestgroup.inference.certificate.data_checks import Doubt
from bestgroup.problem.arrays import Floats
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Block

CHUNK = 20_000  # blocks read at a time


class Doubter:
    """Keeps what was told of each arm, up to a limit, and says what looks wrong with it."""

    def __init__(self, spec: StudySpec) -> None:
        self._spec = spec
        self._start()

    def _start(self) -> None:
        self._checker = checker_of(self._spec.problem)
        self._seen, self._chain = 0, b""  # the last block, and its checksum
        self._counts: dict[tuple[int, int], int] = {}
        self._ahead: dict[tuple[int, int], dict[int, Floats]] = {}

    def doubts(self, read: Callable[[int, int], list[Block]], soon: bool) -> list[Doubt]:
        """Return what looks wrong now; `read` is `Study.blocks`.

        `soon` spares arms with few new values since the last look.
        """
        if self._seen and [block.chain for block in read(self._seen - 1, 1)] != [self._chain]:
            self._start()  # a backup was restored: the log is another one
        while blocks := read(self._seen, CHUNK):
            for block in blocks:
                self._take(block)
        return self._checker.doubts(soon)

    def _take(self, block: Block) -> None:
        self._seen, self._chain = block.number, block.chain
        problem, arm = self._spec.everyone, block.pulls.home
        ahead = self._ahead.setdefault(arm, {})
        ahead[block.pulls.first] = block.values
        name = f"{problem.groups[arm[0]]}, {problem.arms[arm[0]][arm[1]]}"
        while (count := self._counts.get(arm, 0)) in ahead:
            values = ahead.pop(count)
            self._counts[arm] = count + len(values)
            self._checker.add(name, problem.judged(values))

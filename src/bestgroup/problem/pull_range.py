"""`PullRange`: consecutive pulls of one arm, as plans, tickets, tells and the log speak of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class PullRange(NamedTuple):
    """Pulls first, ..., stop - 1 of an arm.

    >>> PullRange(0, 1, 4, 6).overlap(PullRange(0, 1, 8, 9))
    PullRange(group=0, arm=1, first=8, size=2)
    """

    group: int
    arm: int
    first: int
    size: int

    @property
    def stop(self) -> int:
        """The pull after the last one."""
        return self.first + self.size

    @property
    def home(self) -> tuple[int, int]:
        """The group and the arm."""
        return self[:2]

    @property
    def start(self) -> tuple[int, int, int]:
        """The first pull: group, arm and index."""
        return self[:3]

    def cut(self, first: int, stop: int) -> PullRange:
        """Return pulls first, ..., stop - 1 of the same arm."""
        return PullRange(self.group, self.arm, first, stop - first)

    def moved(self, group: int, arm: int) -> PullRange:
        """Return the same pulls of an arm that goes by other numbers."""
        return PullRange(group, arm, self.first, self.size)

    def overlap(self, other: PullRange) -> PullRange:
        """Return the pulls that both hold; of size 0 or less if there are none."""
        return self.cut(max(self.first, other.first), min(self.stop, other.stop))

    def overlaps(self, other: PullRange) -> bool:
        """Return whether there is a pull that both hold, if they are of the same arm."""
        return self.first < other.stop and other.first < self.stop

    def of(self, other: PullRange) -> slice:
        """Return where these pulls stand among the rows of a range that holds them."""
        return slice(self.first - other.first, self.stop - other.first)

    def without(self, holes: Iterable[PullRange]) -> list[PullRange]:
        """Return what is left when holes of the same arm, which are in order, are cut out.

        >>> [(p.first, p.stop) for p in PullRange(0, 0, 2, 8).without([PullRange(0, 0, 3, 2)])]
        [(2, 3), (5, 10)]
        """
        rest, found = self, list[PullRange]()
        for hole in holes:
            if rest.overlaps(hole):
                if rest.first < hole.first:
                    found.append(rest.cut(rest.first, hole.first))
                rest = rest.cut(min(hole.stop, rest.stop), rest.stop)
        return [*found, rest] if rest.size > 0 else found

"""What tells cut out of the slots of a study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bestgroup.errors import TicketError
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage.records import Block, Slot, Tell

Arm = tuple[int, int]


class Book:
    """Slots by arm and first pull, from which told pulls are cut out."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._now: dict[Arm, dict[int, Slot]] = {}
        for slot in slots:
            self._now.setdefault(slot.pulls.home, {})[slot.pulls.first] = slot
        self._gone: dict[tuple[int, int, int], Slot] = {}
        self._new: dict[tuple[int, int, int], Slot] = {}

    def under(self, pulls: PullRange) -> list[Slot]:
        """Return the slots that hold some of these pulls."""
        slots = self._now.get(pulls.home, {})
        found: list[Slot] = []
        at = pulls.first
        # Nearly always slots lie side by side from the first pull on, as they were handed out.
        while at < pulls.stop and (slot := slots.get(at)) is not None:
            found.append(slot)
            at = slot.pulls.stop
        if at < pulls.stop:
            return [slot for slot in slots.values() if slot.pulls.overlaps(pulls)]
        return found

    def take(self, tell: Tell) -> list[Tell]:
        """Cut a tell out of the slots and return the parts of it that a slot covered."""
        taken: list[PullRange] = []
        for slot in self.under(tell.pulls):
            both = slot.pulls.overlap(tell.pulls)
            taken.append(both)
            self._drop(slot)
            if slot.pulls.first < both.first:
                self._add(slot.part(slot.pulls.first, both.first))
            if both.stop < slot.pulls.stop:
                self._add(slot.part(both.stop, slot.pulls.stop))
        if sum(part.size for part in taken) == tell.pulls.size:
            return [tell]  # slots never overlap
        return _parts(tell, sorted(taken))

    def removed(self) -> list[Slot]:
        """Return the slots that were there and are no more."""
        return list(self._gone.values())

    def added(self) -> list[Slot]:
        """Return the slots that are left of others."""
        return list(self._new.values())

    def _drop(self, slot: Slot) -> None:
        del self._now[slot.pulls.home][slot.pulls.first]
        if self._new.pop(slot.pulls.start, None) is None:
            self._gone[slot.pulls.start] = slot

    def _add(self, slot: Slot) -> None:
        self._now[slot.pulls.home][slot.pulls.first] = slot
        self._new[slot.pulls.start] = slot


def _parts(tell: Tell, taken: Iterable[PullRange]) -> list[Tell]:
    """Return parts of a tell, neighbours put together: blocks are few so."""
    joined: list[PullRange] = []
    for pulls in taken:
        if joined and joined[-1].stop == pulls.first:
            pulls = pulls.cut(joined.pop().first, pulls.stop)
        joined.append(pulls)
    return [Tell(pulls, tell.values[pulls.of(tell.pulls)]) for pulls in joined]


def check_told(tell: Tell, parts: list[Tell], known: Sequence[Block | Tell]) -> None:
    """Raise TicketError unless each pull of a tell is new or known with the same values."""
    seen = sum(part.pulls.size for part in parts)
    for block in known:
        if block.pulls.home != tell.pulls.home or not block.pulls.overlaps(tell.pulls):
            continue
        both = block.pulls.overlap(tell.pulls)
        before, again = block.values[both.of(block.pulls)], tell.values[both.of(tell.pulls)]
        wrong = (before != again).any(axis=1)
        if wrong.any():
            at = both.first + int(wrong.argmax())
            raise TicketError(
                "was told before with other values; the first ones stay",
                tell.pulls.group,
                tell.pulls.arm,
                (at, at),
            )
        seen += both.size
    if seen < tell.pulls.size:
        were = "was" if tell.pulls.size == 1 else "were"
        raise TicketError(
            f"{were} not asked for; ask for a ticket, or import observations made elsewhere",
            tell.pulls.group,
            tell.pulls.arm,
            (tell.pulls.first, tell.pulls.stop - 1),
        )

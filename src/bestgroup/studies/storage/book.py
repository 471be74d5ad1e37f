"""What tells cut out of the slots of a study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bestgroup.errors import TicketError
from bestgroup.studies.storage.records import Block, Slot, Tell

Arm = tuple[int, int]


class Book:
    """Slots by arm and first pull, from which told pulls are cut out."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._now: dict[Arm, dict[int, Slot]] = {}
        for slot in slots:
            self._now.setdefault(slot[:2], {})[slot.first] = slot
        self._gone: dict[tuple[int, int, int], Slot] = {}
        self._new: dict[tuple[int, int, int], Slot] = {}

    def under(self, arm: Arm, first: int, stop: int) -> list[Slot]:
        """Return the slots of an arm that overlap [first, stop)."""
        slots = self._now.get(arm, {})
        found: list[Slot] = []
        at = first
        # Nearly always slots lie side by side from the first pull on, as they were handed out.
        while at < stop and (slot := slots.get(at)) is not None:
            found.append(slot)
            at = slot.stop
        if at < stop:
            return [slot for slot in slots.values() if slot.first < stop and slot.stop > first]
        return found

    def take(self, tell: Tell) -> list[Tell]:
        """Cut a tell out of the slots and return the parts of it that a slot covered."""
        slots = self.under(tell[:2], tell.first, tell.stop)
        spans: list[tuple[int, int]] = []
        for slot in slots:
            first, stop = max(slot.first, tell.first), min(slot.stop, tell.stop)
            spans.append((first, stop))
            self._drop(slot)
            if slot.first < first:
                self._add(slot.part(slot.first, first))
            if stop < slot.stop:
                self._add(slot.part(stop, slot.stop))
        if sum(stop - first for first, stop in spans) == len(tell.values):
            return [tell]  # slots never overlap
        return _parts(tell, sorted(spans))

    def removed(self) -> list[Slot]:
        """Return the slots that were there and are no more."""
        return list(self._gone.values())

    def added(self) -> list[Slot]:
        """Return the slots that are left of others."""
        return list(self._new.values())

    def _drop(self, slot: Slot) -> None:
        del self._now[slot[:2]][slot.first]
        if self._new.pop(slot[:3], None) is None:
            self._gone[slot[:3]] = slot

    def _add(self, slot: Slot) -> None:
        self._now[slot[:2]][slot.first] = slot
        self._new[slot[:3]] = slot


def _parts(tell: Tell, spans: Iterable[tuple[int, int]]) -> list[Tell]:
    """Return the parts of a tell that lie in spans, neighbours put together: blocks are few so."""
    joined: list[tuple[int, int]] = []
    for first, stop in spans:
        if joined and joined[-1][1] == first:
            first = joined.pop()[0]
        joined.append((first, stop))
    return [
        Tell(*tell[:2], first, tell.values[first - tell.first : stop - tell.first])
        for first, stop in joined
    ]


def check_told(tell: Tell, parts: list[Tell], known: Sequence[Block | Tell]) -> None:
    """Raise TicketError unless each pull of a tell is new or known with the same values."""
    seen = sum(len(part.values) for part in parts)
    for block in known:
        if (block.group, block.arm) != tell[:2]:
            continue
        first, stop = max(block.first, tell.first), min(block.stop, tell.stop)
        if first >= stop:
            continue
        before = block.values[first - block.first : stop - block.first]
        wrong = (before != tell.values[first - tell.first : stop - tell.first]).any(axis=1)
        if wrong.any():
            at = first + int(wrong.argmax())
            raise TicketError(
                "was told before with other values; the first ones stay",
                tell.group,
                tell.arm,
                (at, at),
            )
        seen += stop - first
    if seen < len(tell.values):
        were = "was" if tell.stop == tell.first + 1 else "were"
        raise TicketError(
            f"{were} not asked for; ask for a ticket, or import observations made elsewhere",
            tell.group,
            tell.arm,
            (tell.first, tell.stop - 1),
        )

"""The log of a study, read in order and believed as far as its checksums fit."""

from __future__ import annotations

from bestgroup.errors import Damaged
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.checksums import link
from bestgroup.studies.storage.records import Block

_ADVICE = (
    "`bestgroup study check` says what else is wrong, `bestgroup study repair` what can be done"
)


def read_log(session: Session, after: int, most: int, before: bytes | None = None) -> list[Block]:
    """Return up to `most` blocks that follow number `after`, whose checksum is `before`.

    Damaged if one of them is missing or was changed.
    """
    if before is None and after:
        earlier = session.blocks(after - 1, most=1)
        if not earlier or earlier[0].number != after:
            return []  # a log that ends before
        before = earlier[0].chain
    chain, number = before or b"", after
    blocks = session.blocks(after, most=most)
    for block in blocks:
        number += 1
        if block.number != number:
            raise Damaged(f"block {number} of the log is missing; {_ADVICE}")
        check_block(block, chain)
        chain = block.chain
    if not blocks and after < session.head.blocks and most:
        raise Damaged(f"block {after + 1} of the log is missing; {_ADVICE}")
    return blocks


def check_block(block: Block, before: bytes) -> None:
    """Raise Damaged unless a block fits its checksum, `before` being that of the block before it."""
    if link(before, block) != block.chain:
        raise Damaged(
            f"block {block.number} of the log was changed by other means than bestgroup; {_ADVICE}"
        )


def last_told(session: Session) -> float | None:
    """Return when the last observation of a study was told; None without any."""
    found = session.blocks(session.head.blocks - 1, most=1) if session.head.blocks else []
    return found[0].at if found else None

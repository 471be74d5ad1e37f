"""Checksums: a chain over the blocks of a log, one over each block alone, the head, the specification.

A link of the chain covers the one before it, so that a block that is changed, cut, left out or put
elsewhere shows; the head holds the last one. Whoever has read the log up to a block knows from its
link alone whether the log before it is still the same. The chain says nothing about what follows a
block that is lost: whether those are whole, their own checksums say.
"""

from __future__ import annotations

import secrets
import struct
from hashlib import blake2b

from bestgroup.studies.storage.records import Block, Head, Stored

_SIZE = 16  # bytes
_PLACE = struct.Struct("<qqqqqd")


def new_identity() -> str:
    """Return the identity of a new study: random, so that no other study ever has it."""
    return secrets.token_hex(16)


def link(before: bytes, block: Block) -> bytes:
    """Return the checksum of a block that follows the one with the checksum `before`.

    >>> import numpy as np
    >>> from bestgroup.problem.pull_range import PullRange
    >>> one = Block(1, PullRange(0, 0, 0, 1), np.array([[0.5]]))
    >>> link(b"", one) == link(b"", one) != link(b"", one._replace(number=2))
    True
    """
    data = block.values.astype("<f8", copy=False).tobytes()
    return chain_bytes(before, Stored(block.number, block.pulls, data, block.at))


def chain_bytes(before: bytes, row: Stored) -> bytes:
    """Return the checksum of a row that follows the one with the checksum `before`."""
    hasher = blake2b(before, digest_size=_SIZE)
    hasher.update(_PLACE.pack(row.number, *row.pulls, row.at))
    hasher.update(row.data)
    return hasher.digest()


def own_checksum(identity: str, row: Stored) -> bytes:
    """Return the checksum of a row of the study `identity`, whatever comes before it.

    >>> from bestgroup.problem.pull_range import PullRange
    >>> row = Stored(1, PullRange(0, 0, 0, 1), bytes(8), 0.0)
    >>> own_checksum("x", row) == own_checksum("x", row._replace(chain=b"?")) != chain_bytes(b"", row)
    True
    """
    hasher = blake2b(identity.encode(), digest_size=_SIZE, person=b"bestgroup block")
    hasher.update(_PLACE.pack(row.number, *row.pulls, row.at))
    hasher.update(row.data)
    return hasher.digest()


def head_checksum(identity: str, head: Head) -> str:
    """Return the checksum of a head.

    >>> head_checksum("x", Head()) != head_checksum("x", Head(told=1))
    True
    """
    return text_checksum("\n".join((identity, *map(str, head))))


def text_checksum(text: str) -> str:
    """Return the checksum of a text, such as a specification."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).hexdigest()

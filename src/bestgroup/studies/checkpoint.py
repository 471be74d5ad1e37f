"""A live session's checkpoint as bytes and back: a cache, which may be deleted or out of date.

A checksum, a JSON header with the shapes, then the arrays' bytes. The structure of an algorithm's
state is not stored: a fresh state of the same algorithm is the template that the arrays are put into.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from bestgroup.drivers.session import Checkpoint

FORMAT = 4
MOST_BYTES = 100_000_000
_MARK = 16  # bytes of the checksum


class Saved(NamedTuple):
    """What a snapshot holds."""

    checkpoint: Checkpoint
    seen: int  # number of the last block that was looked at
    ahead: list[int]  # numbers of earlier blocks with pulls that are not consumed
    chain: bytes  # checksum of the log as far as it was looked at


class _Unfit(Exception):
    """A state that is no nest of tuples, lists, arrays and plain values."""


def pack(checkpoint: Checkpoint, seen: int, ahead: list[int], chain: bytes) -> bytes | None:
    """Return a snapshot, or None if the state is of a kind, or a size, that cannot be stored.

    The state of a thousand groups would take half a second each time: their log is read again.
    """
    leaves: list[Any] = []
    try:
        _flatten(tuple(checkpoint), leaves)
    except _Unfit:
        return None
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    if sum(array.nbytes for array in arrays) > MOST_BYTES:
        return None
    header = {
        "format": FORMAT,
        "seen": seen,
        "ahead": ahead,
        "chain": chain.hex(),
        "leaves": [
            [leaf.dtype.str, list(leaf.shape)] if isinstance(leaf, np.ndarray) else leaf
            for leaf in leaves
        ],
    }
    text = json.dumps(header).encode()
    parts = [len(text).to_bytes(8, "little"), text, *(a.tobytes() for a in arrays)]
    data = b"".join(parts)
    return blake2b(data, digest_size=_MARK).digest() + data


def is_whole(data: bytes) -> bool:
    """Return whether a snapshot is as it was packed."""
    return blake2b(data[_MARK:], digest_size=_MARK).digest() == data[:_MARK]


def unpack(data: bytes, template: Checkpoint) -> Saved | None:
    """Return what `pack` stored, in the structure of `template`; None if it does not fit."""
    if not is_whole(data):
        return None
    data = data[_MARK:]
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        if header["format"] != FORMAT:
            return None
        leaves, at = [], 8 + size
        for entry in header["leaves"]:
            if not isinstance(entry, list):
                leaves.append(entry)
                continue
            kind, shape = np.dtype(entry[0]), tuple(entry[1])
            count = int(np.prod(shape, dtype=np.int64))
            array = np.frombuffer(data, kind, count, at).reshape(shape).copy()
            at += array.nbytes
            leaves.append(array)
        if at != len(data):
            return None
        rest = iter(leaves)
        checkpoint = Checkpoint(*_rebuild(tuple(template), rest))
        if next(rest, None) is not None:
            return None
        ahead, chain = [int(n) for n in header["ahead"]], bytes.fromhex(header["chain"])
        return Saved(checkpoint, int(header["seen"]), ahead, chain)
    except (ValueError, KeyError, TypeError, StopIteration, _Unfit):
        return None


def _flatten(value: Any, leaves: list[Any]) -> None:
    if isinstance(value, tuple | list):
        for entry in value:
            _flatten(entry, leaves)
    elif (
        (isinstance(value, np.ndarray) and value.dtype.kind in "biuf")
        or value is None
        or isinstance(value, bool | int | float | str)
    ):
        leaves.append(value)
    else:
        raise _Unfit


def _rebuild(template: Any, leaves: Any) -> Any:
    if isinstance(template, tuple | list):
        entries = [_rebuild(entry, leaves) for entry in template]
        return type(template)(*entries) if hasattr(template, "_fields") else type(template)(entries)
    leaf = next(leaves)
    if isinstance(template, np.ndarray):
        if not isinstance(leaf, np.ndarray) or leaf.dtype != template.dtype:
            raise _Unfit
    elif type(leaf) is not type(template):
        raise _Unfit
    return leaf

"""Names for array types, and the checks that every edge needs."""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from bestgroup.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Shorts: TypeAlias = NDArray[np.int16]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)
_PAGED = 2**27  # bytes from which an array of zeros takes memory page by page
LARGEST = 1e100  # beyond it squares and products of a few numbers would overflow


def sparse_zeros(
    shape: tuple[int, ...], dtype: type[np.generic], large: int = _PAGED
) -> NDArray[Any]:
    """Return zeros that, from so many bytes on, take memory where something is written.

    NumPy's own zeros come in pages of 2 MiB where the system has them: faster, as long as most of
    them is written.

    >>> sparse_zeros((2, 3), np.int16).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < large or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(shape, dtype)
    reserved = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    reserved.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(reserved, dtype).reshape(shape)


def vector_pair(one: Any, other: Any) -> tuple[Floats, Floats]:
    """Return two vectors of the same positive length."""
    first, second = numbers(one, "a vector"), numbers(other, "a vector")
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise InvalidInput(
            f"two vectors of the same length are needed; got shapes {list(first.shape)} and "
            f"{list(second.shape)}"
        )
    return first, second


def numbers(value: Any, what: str) -> Floats:
    """Return `value` as a float array; refuses what is not numeric, NaN and infinity."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf" and not (array.dtype == object and array.size):
            raise TypeError
        array = np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{what} must be numbers in a regular array; got {_short(value)}"
        ) from None
    if not np.isfinite(array).all():
        raise InvalidInput(f"{what} must be finite; got NaN or infinity")
    if array.size and np.abs(array).max() > LARGEST:
        raise InvalidInput(f"{what} must be at most {LARGEST:g} in size")
    return array


def number(value: Any, what: str) -> float:
    """Return `value` as a finite float."""
    if isinstance(value, bool | str | bytes) or np.ndim(value) != 0:
        raise InvalidInput(f"{what} must be a number; got {_short(value)}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{what} must be a number; got {_short(value)}") from None
    if not math.isfinite(result):
        raise InvalidInput(f"{what} must be finite; got {result}")
    if abs(result) > LARGEST:
        raise InvalidInput(f"{what} must be at most {LARGEST:g} in size; got {result:g}")
    return result


def is_table(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether a user gave a mapping, of whatever."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a user gave a list or the like, of whatever, and not a text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a user gave an integer, Python's or NumPy's; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def positive_int(value: Any, what: str) -> int:
    """Return `value` as an int of at least 1."""
    if not is_integer(value):
        raise InvalidInput(f"{what} must be an integer; got {_short(value)}")
    if value < 1:
        raise InvalidInput(f"{what} must be at least 1; got {_short(int(value))}")
    if value > 2**62:
        raise InvalidInput(f"{what} must be at most 2**62; got {_short(int(value))}")
    return int(value)


def probability(value: Any, what: str = "delta") -> float:
    """Return `value` as a float strictly between 0 and 1."""
    result = number(value, what)
    if not 0.0 < result < 1.0:
        raise InvalidInput(f"{what} must lie strictly between 0 and 1; got {result:g}")
    return result


def seed_of(value: Any) -> int:
    """Return `value` as a seed: an integer from 0 to 2**63 - 1."""
    if not is_integer(value) or not 0 <= value < 2**63:
        raise InvalidInput(f"seed must be an integer from 0 to 2**63 - 1; got {_short(value)}")
    return int(value)


def read_only(array: Any) -> Any:
    """Return the array with its write flag cleared."""
    array.setflags(write=False)
    return array


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

"""Keyed streams of random numbers for compiled code.

Every arm has streams of its own, keyed by (seed, run, group, arm, dim), so that its k-th reward is
the same whatever algorithm asks for it, in whatever blocks. numpy's generators cannot be had by the
thousand inside compiled code, hence this module: xoshiro256++ (Blackman and Vigna 2021, ACM TOMS
47(4)), its state made by chaining the finaliser of SplitMix64 over the key, one chain for each of
its four words; normals by the ziggurat of Marsaglia and Tsang (2000, J. Stat. Software 5(8)) with
256 layers, 52 bits and an exact tail.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Floats

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_U1, _U7, _U8, _U11, _U12 = (np.uint64(k) for k in (1, 7, 8, 11, 12))
_U17, _U19, _U23, _U27, _U30, _U31, _U41, _U45 = (
    np.uint64(k) for k in (17, 19, 23, 27, 30, 31, 41, 45)
)
_LAYER = np.uint64(255)
_UNIT = 2.0**-53

_EDGE = 3.6541528853610088  # where the tail begins, for 256 layers of equal area


def _ziggurat() -> tuple[Floats, NDArray[np.uint64], Floats]:
    """Return widths per unit, acceptance limits and densities of the 256 layers."""
    density = math.exp(-_EDGE * _EDGE / 2.0)
    area = _EDGE * density + math.sqrt(math.pi / 2.0) * math.erfc(_EDGE / math.sqrt(2.0))
    x = np.empty(257)
    x[0] = area / density
    x[1] = _EDGE
    for k in range(2, 256):
        x[k] = math.sqrt(-2.0 * math.log(area / x[k - 1] + math.exp(-(x[k - 1] ** 2) / 2.0)))
    x[256] = 0.0
    widths = x[:256] / 2.0**52
    limits = np.array([int(x[k + 1] / x[k] * 2.0**52) for k in range(256)], dtype=np.uint64)
    heights = np.exp(-(x**2) / 2.0)
    heights[256] = 1.0
    return widths, limits, heights


WIDTHS, LIMITS, HEIGHTS = _ziggurat()


@kernel
def mix(x):  # type: ignore[no-untyped-def]
    """Return the SplitMix64 finaliser of a word."""
    x = (x ^ (x >> _U30)) * _MIX_A
    x = (x ^ (x >> _U27)) * _MIX_B
    return x ^ (x >> _U31)


@kernel
def seed_stream(state, seed, run, group, arm, dim):  # type: ignore[no-untyped-def]
    """Set a stream's four words from its key."""
    for word in range(4):
        h = mix(np.uint64(seed) + _GOLDEN * np.uint64(word + 1))
        h = mix(h ^ (np.uint64(run) + _GOLDEN))
        h = mix(h ^ (np.uint64(group) + _GOLDEN))
        h = mix(h ^ (np.uint64(arm) + _GOLDEN))
        state[word] = mix(h ^ (np.uint64(dim) + _GOLDEN))


@kernel
def next_word(state):  # type: ignore[no-untyped-def]
    """Return the next 64 bits of a stream (xoshiro256++)."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = s0 + s3
    result = ((total << _U23) | (total >> _U41)) + s0
    t = s1 << _U17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    state[0], state[1], state[2] = s0, s1, s2
    state[3] = (s3 << _U45) | (s3 >> _U19)
    return result


@kernel
def next_uniform(state) -> float:  # type: ignore[no-untyped-def]
    """Return a number in [0, 1) with 53 random bits."""
    return float(next_word(state) >> _U11) * _UNIT


@kernel
def next_normal(state) -> float:  # type: ignore[no-untyped-def]
    """Return a standard normal."""
    while True:
        word = next_word(state)
        layer = np.int64(word & _LAYER)
        size = word >> _U12
        x = float(size) * WIDTHS[layer]
        if (word >> _U8) & _U1:
            x = -x
        if size < LIMITS[layer]:
            return x
        if layer == 0:
            return _tail(state, x < 0.0)
        low, high = HEIGHTS[layer], HEIGHTS[layer + 1]
        if low + next_uniform(state) * (high - low) < math.exp(-x * x / 2.0):
            return x


@kernel
def _tail(state, negative: bool) -> float:  # type: ignore[no-untyped-def]
    """Return a normal beyond the edge (Marsaglia 1964)."""
    while True:
        x = -math.log1p(-next_uniform(state)) / _EDGE
        y = -math.log1p(-next_uniform(state))
        if y + y > x * x:
            return -(_EDGE + x) if negative else _EDGE + x


@kernel
def fill_normals(state, out, n: int) -> None:  # type: ignore[no-untyped-def]
    """Write n standard normals, the same as n calls of `next_normal`.

    The words of the state stay in registers; only the 1.2 % that miss the quick test go the long
    way.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(n):
        total = s0 + s3
        word = ((total << _U23) | (total >> _U41)) + s0
        p0, p1, p2, p3 = s0, s1, s2, s3
        t = s1 << _U17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= t
        s3 = (s3 << _U45) | (s3 >> _U19)
        layer = np.int64(word & _LAYER)
        size = word >> _U12
        x = float(size) * WIDTHS[layer]
        if size < LIMITS[layer]:
            out[k] = -x if (word >> _U8) & _U1 else x
        else:
            state[0], state[1], state[2], state[3] = p0, p1, p2, p3
            out[k] = next_normal(state)
            s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel
def fill_uniforms(state, out, n: int) -> None:  # type: ignore[no-untyped-def]
    """Write n numbers in [0, 1)."""
    for k in range(n):
        out[k] = next_uniform(state)

"""Margins of one pair in one dim of TE, for the jump engine; they belong into `triple_elimination`."""

from __future__ import annotations

from bestgroup.core.kernel import kernel

# Margins of one pair in one dim, for engines that look at single pairs: the margins above are their
# minima and maxima (line 6: least over dims; line 9: least over groups; lines 14 and 15: largest over dims).


@kernel
def reject_margin_in(low_i: float, high_j: float, beta: float, scale: float) -> float:
    """Return R_j^d - R_i^d - 2 beta, of which `reject_margin` is the least over dims."""
    return (high_j - low_i) - 2.0 * beta * scale


@kernel
def apart_margin(low_i: float, high_i: float, low_j: float, high_j: float, wanted: float) -> float:
    """Return |R_j^d - R_i^d| - `wanted`, of which `resolve_margin` is the least over groups."""
    return max(high_j - low_i, high_i - low_j) - wanted


@kernel
def apart_wanted(beta: float, scale: float, epsilon: float) -> float:
    """Return 4 beta + epsilon, the distance of `apart_margin`."""
    return 4.0 * beta * scale + epsilon


@kernel
def excess_margin_in(
    high_i: float, low_j: float, beta: float, scale: float, epsilon: float
) -> float:
    """Return R_i^d - R_j^d + epsilon - 2 beta, of which `excess_margin` is the largest over dims."""
    return (high_i - low_j + epsilon) - 2.0 * beta * scale

"""Grids of parameters of which `make test` runs half and `make verify` the other half."""

import itertools

import pytest


def every_other(*axes):
    """Return all cells of a grid; those whose places have an odd sum are marked `verify`.

    Whatever cell is left to `make verify`, its neighbours along every axis are not.
    """
    return [
        pytest.param(
            *(value for _, value in cell),
            marks=[pytest.mark.verify] if sum(place for place, _ in cell) % 2 else [],
        )
        for cell in itertools.product(*(list(enumerate(axis)) for axis in axes))
    ]

"""The plain instances that an instance with limits, or with another worth, stands for.

For a set F of arms that may be the ones that count (`problem.measure`), a group is one arm with the
group's worth for its mean; groups that are out are left out. An answer is right if it is right for one
of these instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.instance import Instance
from bestgroup.problem.measure import Measure


class Truth(NamedTuple):
    """What is true for one set of arms that count."""

    instance: Instance | None  # of the groups that are left; None if none is
    groups: list[int]  # their indices


def truths(instance: Instance, measure: Measure | None = None) -> Iterator[Truth]:
    """Yield the truth for each set of arms that may be the ones that count; by another measure."""
    measure = measure or instance.measure
    assert measure is not None
    for worths in measure.true_worths(instance.means):
        left = np.flatnonzero(np.isfinite(worths).all(axis=1)).tolist()
        if not left:
            yield Truth(None, [])
            continue
        names = [instance.groups[i] for i in left]
        rows = [worths[i : i + 1] for i in left]
        yield Truth(Instance(rows, groups=names, dims=instance.decided), left)


def check_plain(instance: Instance, what: str) -> Instance:
    """Return the instance unless it has limits or another worth than the best arm."""
    if instance.measure is not None:
        raise InvalidInput(f"{what}: not known with limits (require) or a worth other than 'best'")
    return instance

"""`Shape`: how many groups, arms and dims a problem has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestgroup.problem.arrays import Bools


@dataclass(frozen=True)
class Shape:
    """Numbers of arms in each group and of dims; `arms` is the largest group, `total` all arms."""

    sizes: tuple[int, ...]
    dims: int
    room: int = field(default=0, repr=False)  # arms that delta is for, if some may come later

    @property
    def groups(self) -> int:
        """The number of groups, N."""
        return len(self.sizes)

    @property
    def arms(self) -> int:
        """The size of the largest group, K."""
        return max(self.sizes)

    @property
    def total(self) -> int:
        """The number of all arms; NK in the paper, where groups are of equal size."""
        return sum(self.sizes)

    @property
    def exists(self) -> Bools:
        """Which cells of a padded [N, K] array are arms."""
        return np.arange(self.arms)[None, :] < np.array(self.sizes)[:, None]

    def rows(self, padded: Any) -> list[Any]:
        """Return a padded array [N, K, ...] as one array [K_i, ...] a group."""
        return [padded[i, :size] for i, size in enumerate(self.sizes)]

"""A map of weights as a certificate shows it: which group is proven best where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.plots.weights import draw_map
from bestgroup.problem.arrays import Bools, Floats, is_table
from bestgroup.problem.frames import data_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Region:
    """Where one group is proven best, within epsilon."""

    group: str
    share: float  # of the set of weights, on its grid
    pieces: list[Floats] | None  # corners of convex pieces, [n, D] each; None for more than 3 dims

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        pieces = None if self.pieces is None else [np.round(p, 9).tolist() for p in self.pieces]
        return {"group": self.group, "share": round(self.share, 9), "pieces": pieces}


@dataclass(frozen=True)
class MappedWeights:
    """Which group is proven best for which weights; all of it holds together.

    Weights are taken with sum 1, in the order of the decided dims; dims that are to be minimised
    count with the opposite sign.
    """

    groups: tuple[str, ...]
    dims: tuple[str, ...]
    proven: WeightRegions
    trusted: bool = True  # whether the assumptions of the proof hold, as far as values tell

    @property
    def share(self) -> float:
        """The share of the weights that are mapped to some group."""
        return self.proven.share

    @property
    def always(self) -> tuple[str, ...]:
        """The groups that are proven best, within epsilon, for all weights."""
        return self._names(self.proven.always)

    @property
    def sometimes(self) -> tuple[str, ...]:
        """The groups that are proven best, within epsilon, for some weights."""
        return self._names(self.proven.sometimes)

    @property
    def never(self) -> tuple[str, ...]:
        """The groups that are proven best for no weights."""
        return self._names(self.proven.never)

    @property
    def open(self) -> tuple[str, ...]:
        """The groups of which none of that is proven."""
        return self._names(~(self.proven.sometimes | self.proven.never))

    @property
    def regions(self) -> dict[str, Region]:
        """The region of each group to which some weight is mapped; with an epsilon they overlap."""
        shares, drawn = self.proven.shares, self.proven.grid.cells.shape[1] <= 3
        return {
            name: Region(name, float(shares[i]), self.proven.pieces(i) if drawn else None)
            for i, name in enumerate(self.groups)
            if self.proven.sometimes[i]
        }

    def at(self, weights: Any) -> tuple[str, ...]:
        """Return the groups that are proven best, within epsilon, at these weights.

        `weights` are a list, or a mapping from dims in which a dim that is left out has 0.
        """
        if is_table(weights):
            for name in weights:
                if name not in self.dims:
                    raise InvalidInput(
                        f"there is no decided dim {name!r}; they are {', '.join(self.dims)}"
                    )
            weights = [weights.get(dim, 0.0) for dim in self.dims]
        return self._names(self.proven.at(weights))

    def _names(self, mask: Bools) -> tuple[str, ...]:
        return tuple(name for name, held in zip(self.groups, mask, strict=True) if held)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {
            "share": round(self.share, 9),
            "always": list(self.always),
            "sometimes": list(self.sometimes),
            "never": list(self.never),
            "open": list(self.open),
            "dims": list(self.dims),
            "vertices": self.proven.grid.corners[: self.proven.grid.own].tolist(),
            "regions": [region.to_dict() for region in self.regions.values()],
        }

    def apart(self) -> list[dict[str, Any]]:
        """Return the regions without overlap: a weight is left to the group with the largest margin."""
        proven, drawn = self.proven, self.proven.grid.cells.shape[1] <= 3
        colours, found = proven.colours(), []
        for i in np.flatnonzero(proven.sometimes).tolist():
            share = float(proven.grid.volume[colours == i].sum())
            pieces = proven.pieces(i, apart=True) if drawn else None
            found.append(Region(self.groups[i], share, pieces).to_dict())
        return found

    def to_frame(self) -> Any:
        """Return a data frame with a row for each group."""
        proven = self.proven
        return data_frame(
            {
                "group": self.groups,
                "share": proven.shares,
                "always": proven.always,
                "sometimes": proven.sometimes,
                "never": proven.never,
            }
        )

    def plot(self) -> Figure:
        """Return the map: a bar for two dims, a triangle for three, bars of shares for more."""
        return draw_map(self.groups, self.dims, self.proven, self.trusted)

    def words(self) -> str:
        """Return what is proven of the weights in one sentence."""
        near = ", within epsilon" if self.proven.epsilon > 0 else ""
        if self.always:
            return f"{', '.join(self.always)}: best for all weights{near}"
        shares = self.proven.shares
        order = [i for i in np.argsort(-shares, kind="stable").tolist() if shares[i] > 0]
        if not order:
            return "no weight is mapped to a group yet"
        parts = [f"{self.groups[i]} for {100 * shares[i]:.3g} %" for i in order]
        return f"{100 * self.share:.3g} % of the weights are mapped{near}: {', '.join(parts)}"

    def __str__(self) -> str:
        return self.words()

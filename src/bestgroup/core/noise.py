"""What an algorithm may assume about the noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from bestgroup.core.arrays import Floats, number, numbers
from bestgroup.errors import InvalidInput

Dependence = Literal["arbitrary", "independent"]


@dataclass(frozen=True)
class SubGaussian:
    """Noise that is sub-Gaussian with a known scale: E exp(u X) <= exp(u^2 scale^2 / 2).

    `scale` is one number or one for each dim. `dependence` speaks of the dims of one pull:
    "arbitrary" is the paper's assumption. `arms` speaks of pulls of different arms.

    >>> SubGaussian([1.0, 0.5]).scales(2)
    array([1. , 0.5])
    """

    kind: ClassVar[str] = "subgaussian"
    scale: float | tuple[float, ...] = 1.0
    dependence: Dependence = "arbitrary"
    arms: Dependence = "independent"

    def __init__(
        self,
        scale: float | Sequence[float] = 1.0,
        dependence: Dependence = "arbitrary",
        arms: Dependence = "independent",
    ) -> None:
        if np.ndim(scale) == 0:
            checked: float | tuple[float, ...] = number(scale, "scale")
        else:
            checked = tuple(numbers(scale, "scale").tolist())
        if np.size(checked) == 0 or np.ndim(checked) > 1 or np.min(checked) <= 0:
            raise InvalidInput(f"scale must be positive; got {scale}")
        for name, value in (("dependence", dependence), ("arms", arms)):
            if value not in get_args(Dependence):
                raise InvalidInput(f"{name} must be 'arbitrary' or 'independent'; got {value!r}")
        object.__setattr__(self, "scale", checked)
        object.__setattr__(self, "dependence", dependence)
        object.__setattr__(self, "arms", arms)

    def scales(self, dims: int) -> Floats:
        """Return the scale of each dim, [D]."""
        if isinstance(self.scale, tuple) and len(self.scale) != dims:
            raise InvalidInput(
                f"scale must be one number or one for each of the {dims} dims; "
                f"got {len(self.scale)}"
            )
        return np.full(dims, self.scale, dtype=np.float64)

    def check_dims(self, dims: int) -> None:
        """Raise InvalidInput if the numbers by dim do not fit."""
        self.scales(dims)

    def check_values(self, values: Floats, names: Sequence[str]) -> None:
        """Raise InvalidInput if values [n, D] contradict the model; here none can."""

    def pivot(self, dims: int) -> Floats:
        """Return, [D], the number from which a value is taken to mirror a dim."""
        return np.zeros(dims)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain JSON; `noise_from_dict` reads it back."""
        scale = list(self.scale) if isinstance(self.scale, tuple) else self.scale
        return {
            "kind": self.kind,
            "scale": scale,
            "dependence": self.dependence,
            "arms": self.arms,
        }

    def assumptions(self) -> tuple[str, ...]:
        """Return what this model assumes of single pulls, in words."""
        scale = list(self.scale) if isinstance(self.scale, tuple) else self.scale
        sub = f"the noise of every dim is sub-Gaussian with scale {scale}"
        if self.dependence == "arbitrary":
            return (sub, "the dims of one pull may depend on each other in any way")
        return (sub, "the dims of one pull are independent")


Noise = SubGaussian
_KINDS: dict[str, type[Noise]] = {"subgaussian": SubGaussian}


def check_noise(noise: Any) -> Noise:
    """Return `noise` if it is a noise model."""
    if not isinstance(noise, tuple(_KINDS.values())):
        raise InvalidInput(f"noise must be a noise model such as SubGaussian(1.0); got {noise!r}")
    return noise


def noise_from_dict(given: Any) -> Noise:
    """Return the noise model that `to_dict` wrote.

    >>> noise_from_dict(SubGaussian([1.0, 0.5]).to_dict())
    SubGaussian(scale=(1.0, 0.5), dependence='arbitrary', arms='independent')
    """
    entries = dict(given)
    kind = entries.pop("kind", None)
    if kind not in _KINDS:
        raise InvalidInput(f"the kind of noise must be one of {', '.join(_KINDS)}; got {kind!r}")
    return _KINDS[kind](**entries)

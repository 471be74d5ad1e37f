"""Real data as known instances: means that somebody measured, ready for simulation and theory."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

from bestgroup.errors import InvalidInput
from bestgroup.files.readers.observations import Observations
from bestgroup.problem.instance import Instance
from bestgroup.problem.laws import Normal
from bestgroup.problem.noise import SubGaussian

_PRIMES = ("BNT/BNT", "ChAd/ChAd")
# A booster is a vaccine and its dose, in the order of the rows below.
_BOOSTERS = (
    ("ChAd", "full"),
    ("NVX", "full"),
    ("NVX", "half"),
    ("BNT", "full"),
    ("BNT", "half"),
    ("VLA", "full"),
    ("VLA", "half"),
    ("Ad26", "full"),
    ("m1273", "full"),
    ("CVn", "full"),
)
_INDICATORS = ("anti-spike IgG", "NT50", "cellular response")
_VARIANCES = (0.70437039, 0.82845749, 1.53743137)
_MEANS = (
    (9.50479943, 6.85646198, 4.56226268),
    (9.29302574, 6.64118217, 4.03600899),
    (9.05368656, 6.40687999, 3.56388296),
    (10.21251518, 7.48941208, 4.42843301),
    (10.04680837, 7.19967835, 4.36182393),
    (8.34379173, 5.66642669, 3.51154544),
    (8.22174773, 5.45532112, 3.64021428),
    (9.74560492, 7.2730926, 4.7095302),
    (10.42726889, 7.61035762, 4.71849887),
    (8.93761259, 6.18826412, 3.84374416),
    (7.80669637, 5.26269019, 3.97029191),
    (8.85008761, 6.58892648, 4.7335634),
    (8.4411757, 6.15273269, 4.5890408),
    (9.92900909, 7.39079852, 4.74927053),
    (9.68315255, 7.20340552, 4.91191932),
    (7.51479976, 5.3082677, 3.95508249),
    (7.26542972, 4.99043259, 4.01638302),
    (8.61558951, 6.33327963, 4.66343909),
    (10.34531673, 7.769801, 5.00327494),
    (8.29304914, 5.92157842, 3.86702564),
)


DIGITS = Path(__file__).with_name("digits.csv.gz")


def digits() -> Observations:
    """Return a real table of shared items: 12 classifiers of 6 families on the same 400 images.

    Every classifier of scikit-learn predicted each image of a handwritten digit while it was trained
    on others; `correct` says whether it was right, `confidence` how much probability it gave to the
    right digit (`examples/digits/make_table.py` made it). `DIGITS` is the file.

    >>> digits()
    <Observations: 4800 rows, 6 groups, 12 arms, 400 items, dims correct, confidence, from digits>
    """
    with gzip.open(DIGITS, "rt", newline="", encoding="utf-8") as file:
        rows = [
            {**row, "correct": float(row["correct"]), "confidence": float(row["confidence"])}
            for row in csv.DictReader(file)
        ]
    return Observations(rows, {}, "digits")


def cov_boost(group_by: str = "strategy") -> Instance:
    """Return the COV-BOOST trial as an instance: 20 vaccination strategies, 3 immune indicators.

    A strategy is two priming doses and a booster. Means are mean log responses; rewards are normal
    with the pooled variance of each indicator, and the algorithms may assume sub-Gaussian noise of
    that scale. `group_by="strategy"` makes every strategy a group of one arm, which is Pareto set
    identification; `group_by="vaccine"` makes the 7 booster vaccines the groups, with primes and
    doses as their 2 or 4 arms.

    Source: A. Munro et al., Safety and immunogenicity of seven COVID-19 vaccines as a third dose
    (booster) following two doses of ChAdOx1 nCov-19 or BNT162b2 in the UK (COV-BOOST), The Lancet
    398 (2021) 2258-2276; means and variances as tabulated by C. Kone, E. Kaufmann and L. Richert,
    Adaptive algorithms for relaxed Pareto set identification, NeurIPS 2023.

    >>> cov_boost().shape.groups
    20
    >>> cov_boost("vaccine").groups
    ('ChAd', 'NVX', 'BNT', 'VLA', 'Ad26', 'm1273', 'CVn')
    """
    if group_by not in ("strategy", "vaccine"):
        raise InvalidInput(f"group_by must be 'strategy' or 'vaccine'; got {group_by!r}")
    scale = [math.sqrt(variance) for variance in _VARIANCES]
    members = _by_strategy() if group_by == "strategy" else _by_vaccine()
    return Instance(
        [list(arms.values()) for arms in members.values()],
        law=Normal(scale),
        noise=SubGaussian(scale),
        groups=list(members),
        arms=[list(arms) for arms in members.values()],
        dims=_INDICATORS,
    )


def _strategies() -> list[tuple[str, str, str, tuple[float, ...]]]:
    """Return prime, vaccine, dose and means of every strategy."""
    kinds = [(prime, *booster) for prime in _PRIMES for booster in _BOOSTERS]
    return [(*kind, means) for kind, means in zip(kinds, _MEANS, strict=True)]


def _by_strategy() -> dict[str, dict[str, tuple[float, ...]]]:
    groups: dict[str, dict[str, tuple[float, ...]]] = {}
    for prime, vaccine, dose, means in _strategies():
        booster = vaccine if dose == "full" else f"{vaccine} {dose}"
        groups[f"{prime} + {booster}"] = {booster: means}
    return groups


def _by_vaccine() -> dict[str, dict[str, tuple[float, ...]]]:
    halved = {vaccine for vaccine, dose in _BOOSTERS if dose == "half"}
    groups: dict[str, dict[str, tuple[float, ...]]] = {}
    for prime, vaccine, dose, means in _strategies():
        arm = f"after {prime}, {dose}" if vaccine in halved else f"after {prime}"
        groups.setdefault(vaccine, {})[arm] = means
    return groups

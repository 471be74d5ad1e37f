"""`"auto"`: the algorithm that a careful expert would pick for the goal, the noise and the size."""

from __future__ import annotations

from bestgroup.algorithms.protocol import Algorithm, Setting

MANY_ARMS = 2000  # adaptive keeps signs for all pairs of groups, arms and dims


def pick(setting: Setting, batch: int | float | None = None) -> tuple[Algorithm, str]:
    """Return the algorithm for a setting, and why; `batch` is how many pulls come back at a time.

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> from bestgroup.problem.noise import SubGaussian
    >>> from bestgroup.problem.shape import Shape
    >>> setting = Setting(Shape((5,) * 5, 3), ParetoGroups(0.1), SubGaussian(1.0), 0.05)
    >>> pick(setting)[0].name, pick(setting, batch=100)[0].name
    ('adaptive', 'te-plus')
    """
    from bestgroup.algorithms.adaptive.algorithm import Adaptive
    from bestgroup.algorithms.te_plus.algorithm import TePlus

    options = {} if batch is None else {"batch": batch}
    arms = setting.shape.total
    if setting.measure is not None:
        return Adaptive(**options), "adaptive: it works with limits and with every worth of a group"
    if setting.shape.room:
        return Adaptive(**options), "adaptive: arms may join later, and it goes by single arms"
    if setting.items is not None:
        why = "adaptive: on shared items it needs the fewest evaluations, by differences of arms"
        return Adaptive(**options), why
    if not isinstance(setting.goal, TePlus.goals):
        why = "adaptive: it needs the fewest pulls for the best group"
        if setting.goal.by_directions:
            why = (
                "adaptive: of the algorithms that come with the package it alone answers this goal"
            )
        return Adaptive(**options), _with_noise(why, setting)
    if not setting.noise.has_scale:
        return Adaptive(**options), _with_noise("adaptive: the scale is not known", setting)
    if arms > MANY_ARMS:
        return (
            TePlus(),
            f"te-plus: with {arms:,} arms rounds are quicker to decide than single pulls",
        )
    if isinstance(batch, int) and batch >= arms:
        return (
            TePlus(),
            f"te-plus: a batch of {batch:,} pulls is a round of all {arms:,} arms or more",
        )
    return Adaptive(**options), _with_noise("adaptive: it needs the fewest pulls", setting)


def _with_noise(why: str, setting: Setting) -> str:
    if setting.noise.arms != "independent":
        return f"{why}; as arms may depend on each other it goes by boxes of single arms"
    return why

"""Error rates of adaptive with limits and other worths; by `make verify`.

A rate counts as too high if the lower end of its 99.9 % interval exceeds delta.
"""

import pytest

import bestgroup as bg

pytestmark = pytest.mark.verify

LIMIT, SLACK = 2.0, 0.25
# What decides is one arm: taken for the other kind, it makes the answer wrong.
LIMITS = {
    "on the limit": [[[0.9, LIMIT], [0.3, 1.0]], [[0.6, 1.0]]],
    "just beyond the tolerance": [[[0.9, LIMIT + SLACK + 1e-9], [0.3, 1.0]], [[0.6, 1.0]]],
    "on the limit, three groups": [
        [[0.9, LIMIT], [0.2, LIMIT]],
        [[0.6, LIMIT], [0.95, LIMIT + SLACK + 1e-9]],
        [[0.3, LIMIT]],
    ],
}
GOALS = {"Pareto": bg.ParetoGroups(0.1), "best": bg.BestGroup([1], 0.1)}
LAWS = {
    "normal": (bg.laws.Normal(0.3), bg.SubGaussian(0.3)),
    "normal, unknown variance": (bg.laws.Normal(0.3), bg.Gaussian()),
}


def report(name, sim):
    low, high = sim.error_interval(0.999)
    print(
        f"{name}: {sim.errors} errors in {sim.runs} runs (99.9 % interval {low:.5f} to {high:.5f}, "
        f"delta {sim.delta}), mean pulls {sim.pulls.mean():,.0f}"
    )
    assert sim.finished.all() and low <= sim.delta


@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("case", LIMITS)
@pytest.mark.parametrize("law", LAWS)
def test_arms_on_the_limit(law, case, goal, delta):
    drawn, noise = LAWS[law]
    instance = bg.Instance(
        LIMITS[case],
        drawn,
        noise,
        dims=["value", "seconds"],
        require={"seconds": ("<=", LIMIT, SLACK)},
        watch=["seconds"],
    )
    runs = 10_000 if law == "normal" else 2_000
    sim = bg.simulate(instance, GOALS[goal], "adaptive", delta, runs, 3, progress=False)
    report(f"{case}, {goal}, {law}", sim)


WORTHS = {
    # The second group is just beyond epsilon below the first.
    "worst": [[[0.7], [0.9]], [[0.39], [0.9]]],
    ("kth", 2): [[[0.7], [0.9], [0.1]], [[0.39], [0.9], [0.1]]],
    ("quantile", 0.5): [[[0.7], [0.9], [0.1]], [[0.39], [0.9], [0.1]]],
    "mean": [[[0.7], [0.9]], [[0.4], [0.59]]],
}


@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize("goal", ["Pareto", "best"])
@pytest.mark.parametrize("worth", WORTHS)
@pytest.mark.parametrize("law", LAWS)
def test_other_worths(law, worth, goal, delta):
    drawn, noise = LAWS[law]
    instance = bg.Instance(WORTHS[worth], drawn, noise, worth=worth)
    question = bg.ParetoGroups(0.3) if goal == "Pareto" else bg.BestGroup([1], 0.3)
    sim = bg.simulate(instance, question, "adaptive", delta, 2_000, 4, progress=False)
    report(f"{worth}, {goal}, {law}", sim)

"""Two-sample tests of the jump engine against the exact one; run by `make verify`.

The proof of exactness is in `jump_certify` and in the pathwise tests; these look at laws as a whole,
with lowered radii, so that wrong answers, simultaneous events and long freezes are common. Seeds are
fixed; with 1e-4 for each row a false alarm had a chance of about 0.5 % when they were chosen.
"""

import numpy as np
import pytest
from scipy.stats import anderson_ksamp, chi2_contingency, ks_2samp

import bestgroup as bg
from bestgroup.problem.laws import FullyDependent, Normal

pytestmark = pytest.mark.verify

RUNS = 4000
LEVEL = 1e-4
AD_LIMIT = 9.0  # the normalised statistic of two samples exceeds 6.5 in 0.1 % of cases
LAWS = {
    "independent": Normal([1.0, 0.7]),
    "covariance": Normal(cov=[[1.0, -0.6], [-0.6, 0.8]]),
    "fully dependent": FullyDependent([1.0, 0.8]),
}


def compare(instance, goal, algorithm, delta, runs=RUNS):
    exact = bg.simulate(instance, goal, algorithm, delta, runs, 11, engine="exact")
    jump = bg.simulate(instance, goal, algorithm, delta, runs, 22, engine="jump")
    assert exact.finished.all() and jump.finished.all() and jump.distance.max() < 1e-9
    pvalues, statistics = {}, {}
    for what in ("pulls", "rounds"):
        ours, theirs = getattr(jump, what), getattr(exact, what)
        pvalues[f"KS {what}"] = ks_2samp(ours, theirs).pvalue
        statistics[f"AD {what}"] = _anderson(ours, theirs)
    arms = zip(*(s.counts.reshape(runs, -1).T for s in (jump, exact)), strict=True)
    least = [ks_2samp(a, b).pvalue for a, b in arms]
    pvalues["KS arms, Bonferroni"] = min(1.0, min(least) * len(least))
    pvalues["answers"] = _answers(jump.answers, exact.answers)
    print(algorithm, {k: round(float(v), 4) for k, v in pvalues.items()}, "errors", jump.errors)
    print({k: round(float(v), 2) for k, v in statistics.items()})
    assert min(pvalues.values()) > LEVEL and max(statistics.values()) < AD_LIMIT
    return jump


def _anderson(ours, theirs):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its p-value is cut at 0.1 % and 25 %
        return anderson_ksamp([ours, theirs]).statistic


def _answers(ours, theirs):
    kinds = sorted({*ours, *theirs}, key=sorted)
    table = np.array([[side.count(kind) for kind in kinds] for side in (ours, theirs)])
    common = table.sum(axis=0) >= 10
    table = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0


def small_instance(law, seed=0):
    means = np.random.default_rng(seed).random((5, 3, 2))
    return bg.Instance([means[i, : 1 + i % 3] for i in range(5)], law)


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("name", ["te", "age", "ge", "tel", "te-plus", "eecb", "se"])
def test_pulls_rounds_and_answers_have_the_same_law(name, law):
    best = name in ("tel", "eecb", "se")
    goal = bg.BestGroup([1.0, 0.5]) if best else bg.ParetoGroups(0.1)
    options = {"pareto_epsilon": 0.1} if name == "tel" else {}
    algorithm = bg.algorithm(name, radius_scale=0.25, **options)
    jump = compare(small_instance(LAWS[law]), goal, algorithm, 0.1)
    assert len(set(jump.answers)) > 1


@pytest.mark.parametrize("name", ["te", "te-plus", "eecb"])
def test_the_same_with_the_radius_of_the_paper(name):
    goal = bg.BestGroup([1.0, 0.5], 0.1) if name == "eecb" else bg.ParetoGroups(0.2)
    compare(small_instance(Normal(1.0), seed=3), goal, bg.algorithm(name), 0.1, runs=1500)


@pytest.mark.parametrize("law", list(LAWS))
def test_te_plus_with_crowds_of_events_has_the_same_law(law):
    # From 17 groups on it goes through crowded rounds one by one.
    means = np.random.default_rng(1).random((18, 2, 2))
    algorithm = bg.algorithm("te-plus", radius_scale=0.4)
    jump = compare(bg.Instance(means, LAWS[law]), bg.ParetoGroups(0.3), algorithm, 0.1, runs=2000)
    assert len(set(jump.answers)) > 1


def test_uniform_sampling_has_the_same_answers():
    for law in LAWS.values():
        goal, instance = bg.ParetoGroups(0.3), small_instance(law)
        exact = bg.simulate(instance, goal, "unis", 0.5, RUNS, 11, engine="exact")
        jump = bg.simulate(instance, goal, "unis", 0.5, RUNS, 22, engine="jump")
        assert (exact.counts == jump.counts).all() and (exact.rounds == jump.rounds).all()
        assert _answers(jump.answers, exact.answers) > LEVEL

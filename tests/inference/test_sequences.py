"""Confidence sequences: formulas against independent evaluations, validity of every bound in use."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

import bestgroup as bg
from bestgroup.inference.certificate.judge import boxes
from bestgroup.inference.confidence_sequences import bernoulli as sequence_bernoulli
from bestgroup.inference.confidence_sequences import beta
from bestgroup.inference.confidence_sequences import bounded as sequence_bounded
from bestgroup.inference.confidence_sequences import gaussian as sequence_gaussian
from bestgroup.inference.confidence_sequences.boxes import absorb, box, cut_box, take_values
from bestgroup.inference.confidence_sequences.together import (
    absorb_together,
    can_absorb_together,
)
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.noise import NoiseByDim, noise_by_dim
from bestgroup.problem.shape import Shape

LEVEL = math.log(1 / 0.01)
MODELS = {
    "subgaussian": bg.SubGaussian([1.0, 0.5]),
    "bounded": bg.Bounded([0, -1], [1, 3]),
    "bernstein": bg.Bounded([0, -1], [1, 3], "bernstein"),
    "gaussian": bg.Gaussian(),
    "bernoulli": bg.Bernoulli(),
}


def test_incomplete_beta_and_student_equal_scipy():
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = 10 ** rng.uniform(-0.5, 4, 2)
        x = min(max(rng.beta(a, b), 1e-12), 1 - 1e-12)
        assert math.exp(beta.log_upper_beta(a, b, x)) == pytest.approx(
            special.betaincc(a, b, x), rel=1e-7
        )
        n, t = float(rng.integers(1, 1000)), float(abs(rng.normal()) * 3)
        assert beta.student_cdf(t, n) == pytest.approx(stats.t.cdf(t, n), rel=1e-9)
    assert beta.log_upper_beta(2.0, 3.0, 0.0) == 0.0
    assert beta.log_upper_beta(2.0, 3.0, 1.0) == -math.inf


@pytest.mark.parametrize(("s", "n", "m"), [(3, 5, 0.2), (0, 4, 0.5), (40, 50, 0.6), (7, 7, 0.9)])
def test_jeffreys_mixture_equals_the_integral(s, n, m):
    def prior(p):
        return 1 / math.sqrt(p * (1 - p))

    above, _ = integrate.quad(
        lambda p: prior(p) * (p / m) ** s * ((1 - p) / (1 - m)) ** (n - s), m, 1, limit=200
    )
    mass, _ = integrate.quad(prior, m, 1)
    ours = sequence_bernoulli.log_jeffreys(float(s), float(n), m)
    assert ours == pytest.approx(math.log(above / mass), abs=1e-6)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_student_mixture_equals_the_integral(n):
    """The half-normal mixture over the effect, with the scale integrated out, for one precision."""
    x = np.random.default_rng(n).normal(0.4, 1.0, n)
    S, V = x.sum(), (x**2).sum()

    def ratio(q):
        def inner(effect, log_sigma):
            sigma = math.exp(log_sigma)
            fit = -(V - 2 * effect * sigma * S + n * (effect * sigma) ** 2) / (2 * sigma**2)
            prior = 2 * math.sqrt(q / (2 * math.pi)) * math.exp(-q * effect**2 / 2)
            return prior * math.exp(fit - n * log_sigma)

        top, _ = integrate.dblquad(inner, -4, 4, 0, 8 / math.sqrt(q) + 4, epsabs=1e-12)
        bottom, _ = integrate.quad(lambda u: math.exp(-V / (2 * math.exp(2 * u)) - n * u), -4, 4)
        return top / bottom

    def ours(q):
        t = S / math.sqrt(V)
        rest = 1 - t * t / (n + q)
        side = stats.t.cdf(t * math.sqrt(n / ((n + q) * rest)), n)
        return math.sqrt(q / (n + q)) * rest ** (-n / 2) * 2 * side

    assert ours(8.0) == pytest.approx(ratio(8.0), rel=1e-4)
    mixture = np.mean([ours(q) for q in (8.0, 128.0, 2048.0, 32768.0)])
    t = S / math.sqrt(V)
    if t > 0:
        assert sequence_gaussian.log_student(float(n), t) == pytest.approx(math.log(mixture))


def exact_capital(x, m):
    bets = np.array(sequence_bounded._BETS)
    good = bets * m < sequence_bounded._MOST
    return np.where(good, np.prod(1 + bets[:, None] * (x - m), axis=1), 0.0).sum() / len(bets)


@pytest.mark.parametrize("method", ["betting", "bernstein"])
def test_capitals_in_use_never_exceed_the_exact_one(method):
    rng = np.random.default_rng(1)
    size = 2 if method == "bernstein" else 2 + 2 * sequence_bounded.WEALTHS
    for law in (rng.random, lambda n: (rng.random(n) < 0.2) * 1.0, lambda n: rng.beta(40, 30, n)):
        x = law(60)
        extra = np.ones(size)
        extra[:2] = 0.0
        for value in x:
            sequence_bounded.absorb_bounded(extra, float(value))
        for side, values in ((0, x), (1, 1 - x)):
            for m in np.linspace(0.01, 0.99, 50):
                log_k = sequence_bounded.log_wealth(
                    60.0, values.sum(), (values**2).sum(), extra, side, float(m)
                )
                assert log_k <= math.log(exact_capital(values, m)) + 1e-9
            low = sequence_bounded.lower_bounded(60.0, extra, side, LEVEL, 0.0)
            assert low == 0.0 or math.log(exact_capital(values, low)) >= LEVEL - 1e-9


def observed(model, n, seed=0):
    rng = np.random.default_rng(seed)
    if model == "bernoulli":
        return (rng.random((n, 2)) < [0.3, 0.8]).astype(float)
    return rng.random((n, 2)) * [1, 4] - [0, 1] if model[0] == "b" else rng.normal(size=(n, 2))


@pytest.mark.parametrize("model", MODELS)
def test_boxes_shrink_around_the_mean(model):
    noise = MODELS[model]
    shape = Shape((1, 1), 2)
    rule = noise.boxes(shape, 0.05)
    widths = []
    for n in (4, 50, 2000):
        tally = empty_tally(2, 1, 2, rule.start)
        x = observed(model, n)
        take_values(rule, tally, 0, 0, x)
        low, high = boxes(tally, shape, noise, 0.05)
        assert (low[0, 0] <= x.mean(axis=0)).all() and (x.mean(axis=0) <= high[0, 0]).all()
        assert not np.isfinite(low[1]).any() and (high[1] == np.inf).all()  # never pulled
        widths.append(high[0, 0] - low[0, 0])
    assert (widths[2] < widths[1]).all() and (widths[1] < widths[0]).all()


@pytest.mark.parametrize("model", MODELS)
def test_plain_and_compiled_bodies_agree(model):
    rule = MODELS[model].boxes(Shape((1, 1), 2), 0.05)
    x = observed(model, 40)
    plain = np.tile(rule.start, (2, 1))
    fast = plain.copy()
    for n, row in enumerate(x, 1):
        for d in range(2):
            absorb(rule, plain[d], float(n), float(row[d]), d)
            absorb.compiled(rule, fast[d], float(n), float(row[d]), d)
    assert np.array_equal(plain, fast)
    for d in range(2):
        total = float(x[:, d].sum())
        assert box(rule, 40.0, total, plain[d], d) == box.compiled(rule, 40.0, total, fast[d], d)


def test_mirrored_values_mirror_the_boxes():
    for noise in (bg.Bounded(0, 1), bg.Bernoulli(), bg.Gaussian(), bg.SubGaussian(1.0)):
        rule = noise.boxes(Shape((1, 1), 1), 0.05)
        pivot = float(noise.pivot(1)[0])
        x = (np.random.default_rng(3).random((30, 1)) < 0.4).astype(float)
        ends = []
        for values in (x, pivot - x):
            tally = empty_tally(2, 1, 1, rule.start)
            take_values(rule, tally, 0, 0, values)
            ends.append(box(rule, 30.0, tally.sums[0, 0, 0], tally.extra[0, 0, 0], 0))
        assert ends[0] == pytest.approx([pivot - ends[1][1], pivot - ends[1][0]], abs=1e-9)


def test_a_large_offset_costs_no_digits():
    """Gaussian keeps deviations from the first value."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 1))
    rule = bg.Gaussian().boxes(Shape((1, 1), 1), 0.05)
    widths = []
    for offset in (0.0, 1e9):
        tally = empty_tally(2, 1, 1, rule.start)
        take_values(rule, tally, 0, 0, x + offset)
        low, high = box(rule, 400.0, 0.0, tally.extra[0, 0, 0], 0)
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0], rel=1e-5)


def test_bad_models_are_refused():
    bad = [
        (lambda: bg.Bounded(1, 0), "low must be below high"),
        (lambda: bg.Bounded(0, float("nan")), "finite"),
        (lambda: bg.Bounded([0, 0], [1, 1, 1]), "one number each"),
        (lambda: bg.Bounded(0, 1, method="guess"), "method must be"),
        (lambda: bg.Gaussian(dependence="some"), "dependence must be"),
        (lambda: bg.Bernoulli(arms="some"), "arms must be"),
        (lambda: bg.Gaussian().scales(2), "no known scale"),
        (lambda: bg.Bounded(0, [1, 1]).check_dims(3), "each of the 3 dims"),
        (lambda: bg.Bounded(0, 1).check_values(np.array([[1.5]]), ["x"]), "x must lie between"),
        (lambda: bg.Bernoulli().check_values(np.array([[0.5]]), ["x"]), "x must be 0 or 1"),
    ]
    for make, words in bad:
        with pytest.raises(bg.InvalidInput, match=words):
            make()


@pytest.mark.parametrize("law", ["uniform", "rare success", "rare failure", "always"])
@pytest.mark.parametrize("size", [2, 2 + 2 * sequence_bounded.WEALTHS])
def test_bounded_values_are_taken_up_alike_by_loop_arrays_and_compiled_code(law, size):
    kernel, rng = sequence_bounded.absorb_bounded, np.random.default_rng(3)
    values = {
        "uniform": rng.random(400),
        "rare success": (rng.random(400) < 0.01).astype(float),
        "rare failure": (rng.random(400) < 0.99).astype(float),
        "always": np.ones(1000),  # the wealth passes what is kept of it
    }[law]
    states = [np.ones(size) for _ in range(3)]
    for value in values.tolist():
        for body, state in zip((kernel.body, kernel, kernel.compiled), states, strict=True):
            body(state, value)
    assert states[0].tobytes() == states[1].tobytes() == states[2].tobytes()


@pytest.mark.parametrize("model", MODELS)
def test_boxes_cut_at_every_value_are_what_all_boxes_have_in_common(model):
    rule = MODELS[model].boxes(Shape((1, 1), 2), 0.05)
    tally = empty_tally(2, 1, 2, rule.start)
    cut = common = (-math.inf, math.inf)
    moved = 0
    for n, row in enumerate(observed(model, 300, seed=5), start=1):
        take_values(rule, tally, 0, 0, row[None])
        before, arm = cut, (tally.sums[0, 0, 1], tally.extra[0, 0, 1], 1)
        cut = cut_box(rule, float(n), *arm, *cut)
        now = box(rule, float(n), *arm)
        common = max(common[0], now[0]), min(common[1], now[1])
        assert cut == pytest.approx(common, abs=1e-6)
        assert before[0] <= cut[0] and cut[1] <= before[1]
        moved += cut != before
    assert moved > 10


def halved(reached, low, high, steps):
    """Return the last bracket of a search that evaluates every half."""
    for _ in range(steps):
        m = (low + high) / 2.0
        if not low < m < high:
            break
        low, high = (low, m) if reached(m) else (m, high)
    return low, high


def test_a_search_that_is_spared_most_steps_ends_at_the_same_bits():
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = float(rng.integers(2, 10 ** rng.integers(1, 7) + 2))
        same_bits(n, float(rng.integers(0, n + 1)), rng.uniform(0.7, 40))


def same_bits(n, s, level):
    jeffreys = sequence_bernoulli.log_jeffreys.compiled
    student = sequence_gaussian.log_student.compiled
    low, _ = halved(lambda m: jeffreys(s, n, m) < level + 1e-8, 0.0, s / n, 50)
    assert sequence_bernoulli.lower_bernoulli.compiled(n, s, level) == low
    most = math.sqrt(n) * (1.0 - 1e-12)
    reach = sequence_gaussian.gaussian_reach.compiled(n, level)
    if student(n, most) < level + 1e-9:
        assert reach == math.inf
        return
    _, high = halved(lambda t: student(n, t) >= level + 1e-9, 0.0, most, 60)
    assert reach == high / math.sqrt(n * (n - high * high))


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize(
    "noise",
    [
        bg.Bounded(-1, 2),
        bg.Gaussian(),
        noise_by_dim({"x": bg.Bounded(0, 4), "y": bg.Gaussian()}, ["x", "y"]),
    ],
    ids=["bounded", "gaussian", "by dim"],
)
@pytest.mark.parametrize("weights", [(), (0.5, 2.0)])
def test_values_of_many_arms_together_leave_the_same_bits(noise, before, weights):
    if weights and isinstance(noise, NoiseByDim):
        return  # a weighted sum has dims of one kind
    rng, shape = np.random.default_rng(before), Shape((3,) * 7, 2)
    rule = noise.sums(shape, 0.1)._replace(weights=np.array(weights))
    tally = empty_tally(7, 3, 2, rule.start, bool(weights))
    values = np.round(rng.random((7, 3, before + 9, 2)) * 2.0, 1)
    for i in range(7):
        for j in range(3):
            take_values(rule, tally, i, j, values[i, j, :before])
    extra = tally.extra.reshape(21, *tally.extra.shape[2:]).copy()
    assert can_absorb_together(rule)
    absorb_together(rule, extra, before, values[:, :, before:].reshape(21, 9, 2))
    for i in range(7):
        for j in range(3):
            take_values(rule, tally, i, j, values[i, j, before:])
    assert extra.tobytes() == tally.extra.tobytes()


def test_statistics_that_take_values_one_by_one_are_known():
    shape = Shape((3, 3), 2)
    assert not can_absorb_together(bg.Bounded(0, 1).boxes(shape, 0.1))
    assert can_absorb_together(bg.Bernoulli().boxes(shape, 0.1))

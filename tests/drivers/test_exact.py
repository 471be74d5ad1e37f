"""The exact engine: equal to replay of the rewards it draws, whatever runs it."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.drivers.streams import fill_normals, fill_uniforms, seed_stream


class Skewed:
    """A law of the user: exponential noise."""

    def sample(self, rng, mean, n):
        return mean + rng.exponential(1.0, (n, len(mean))) - 1.0


def random_instance(rng, law_number):
    sizes = rng.integers(1, 5, rng.integers(1, 6))
    dims = int(rng.integers(1, 4))
    square = rng.random((dims, dims))
    laws = [
        bg.laws.Normal(1.0),
        bg.laws.Normal((rng.random(dims) + 0.2).tolist()),
        bg.laws.Normal(cov=square @ square.T),
        bg.laws.FullyDependent(1.0),
        bg.laws.Bernoulli(),
        Skewed(),
    ]
    law = laws[law_number % len(laws)]
    width = 1.0 if isinstance(law, bg.laws.Bernoulli) else 3.0
    return bg.Instance([width * rng.random((size, dims)) for size in sizes], law=law)


@pytest.mark.parametrize("number", range(18))
def test_simulation_equals_replay_of_what_it_drew(number):
    rng = np.random.default_rng(number)
    instance = random_instance(rng, number)
    weights = (rng.random(instance.shape.dims) + 0.1).tolist()
    cases = [
        ("te", bg.ParetoGroups(0.4)),
        ("age", bg.ParetoGroups(0.4)),
        ("ge", bg.ParetoGroups((rng.random(instance.shape.dims) * 0.3 + 0.3).tolist())),
        (bg.algorithm("te", radius="mixture"), bg.ParetoGroups(0.4)),
        (bg.algorithm("te", radius_scale=0.15), bg.ParetoGroups(0.02)),
        (bg.algorithm("te", radius=lambda r: 2.0 / np.sqrt(r)), bg.ParetoGroups(0.3)),
        ("unis", bg.ParetoGroups(0.6)),
        ("eecb", bg.BestGroup(weights, epsilon=0.3)),
        (bg.algorithm("eecb", radius_scale=0.1), bg.BestGroup(weights)),
        (bg.algorithm("eecb", radius_scale=0.1, early_exit=True), bg.BestGroup(weights)),
        (bg.algorithm("tel", pareto_epsilon=0.4), bg.BestGroup(weights)),
        ("se", bg.BestGroup(weights, epsilon=0.3)),
        (bg.algorithm("se", radius_scale=0.1), bg.BestGroup(weights)),
    ]
    assert equal_runs(instance, cases) >= 3


def equal_runs(instance, cases):
    """Compare the third run of each case with a replay of its rewards; returns how many ended."""
    tape = bg.Tape.draw(instance, 6000, seed=7, run=2)
    compared = 0
    for algorithm, goal in cases:
        sim = bg.simulate(instance, goal, algorithm, 0.05, 3, 7, engine="exact", max_pulls=6000)
        if sim.finished[2]:
            trace = bg.replay(tape, goal, algorithm, 0.05, noise=instance.noise)
            assert trace.answer == sim.answers[2], (algorithm, goal)
            assert trace.pulls == sim.pulls[2]
            for one, other in zip(trace.pulls_by_arm, sim.pulls_by_arm[2], strict=True):
                assert np.array_equal(one, other)
            compared += 1
        assert sim.pulls.max() <= 6000
    return compared


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (bg.Bounded(0, 1), bg.laws.Bernoulli()),
        (bg.Bounded(0, 1, method="bernstein"), bg.laws.Beta(4.0)),
        (bg.Bernoulli(), bg.laws.Bernoulli()),
        (bg.Gaussian(), bg.laws.Normal(0.1)),
    ],
)
def test_noise_models_that_keep_more_than_sums_equal_replay(noise, law):
    rng = np.random.default_rng(3)
    means = [0.1 + 0.8 * rng.random((size, 2)) for size in (2, 1, 3)]
    instance = bg.Instance(means, law, noise)
    cases = [
        ("adaptive", bg.ParetoGroups(0.2)),
        (bg.algorithm("adaptive", batch=7), bg.ParetoGroups(0.2)),
        ("adaptive", bg.BestGroup([1, 2], epsilon=0.2)),
        (bg.algorithm("adaptive", batch=7), bg.BestGroup([1, 2], epsilon=0.2)),
    ]
    if not isinstance(noise, bg.Gaussian):  # whose scale others would have to know
        cases += [("te-plus", bg.ParetoGroups(0.2)), ("eecb", bg.BestGroup([1, 2], epsilon=0.9))]
    assert equal_runs(instance, cases) == len(cases)


def test_a_capped_run_stops_before_the_cap_and_is_neither_right_nor_wrong():
    instance = bg.Instance(np.random.default_rng(0).random((3, 2, 2)))
    for name, goal in (
        ("te", bg.ParetoGroups(0.01)),
        ("eecb", bg.BestGroup([1, 2])),
        ("unis", bg.ParetoGroups(0.01)),
    ):
        sim = bg.simulate(instance, goal, name, runs=2, max_pulls=100)
        assert not sim.finished.any() and not sim.correct.any()
        assert (sim.pulls <= 100).all() and sim.errors == 0


@pytest.mark.parametrize("workers", [2])
def test_workers_do_not_change_results(workers):
    instance = bg.Instance(np.random.default_rng(1).random((3, 2, 2)) * 2)
    one = bg.simulate(instance, bg.ParetoGroups(0.3), "te", 0.1, 40, 5, workers=1)
    two = bg.simulate(instance, bg.ParetoGroups(0.3), "te", 0.1, 40, 5, workers=workers)
    assert np.array_equal(one.counts, two.counts) and one.answers == two.answers
    assert np.array_equal(one.rounds, two.rounds)


def test_a_longer_simulation_begins_with_the_shorter_one():
    instance = bg.Instance(np.random.default_rng(1).random((3, 2, 2)) * 2)
    few = bg.simulate(instance, bg.ParetoGroups(0.3), "te", 0.1, 3, 5)
    many = bg.simulate(instance, bg.ParetoGroups(0.3), "te", 0.1, 6, 5)
    assert np.array_equal(few.counts, many.counts[:3])
    assert not np.array_equal(many.counts[0], many.counts[1])


def test_common_random_numbers_order_the_family_by_pulls():
    """On one stream TE pulls no more than AGE, and AGE no more than GE, in equal rounds."""
    for seed in range(10):
        instance = bg.Instance(np.random.default_rng(seed).random((4, 3, 2)) * 2)
        sims = [
            bg.simulate(instance, bg.ParetoGroups(0.3), name, 0.05, 5, seed, engine="exact")
            for name in ("te", "age", "ge")
        ]
        assert (sims[0].pulls <= sims[1].pulls).all() and (sims[1].pulls <= sims[2].pulls).all()
        for sim in sims[1:]:
            assert np.array_equal(sims[0].rounds, sim.rounds) and sims[0].answers == sim.answers


def test_memory_does_not_grow_with_the_rounds():
    import tracemalloc

    instance = bg.Instance([[[0.0]], [[0.1]]])
    peaks = []
    for gap in (1.0, 0.05):
        instance = bg.Instance([[[0.0]], [[gap]]])
        tracemalloc.start()
        sim = bg.simulate(instance, bg.BestGroup([1.0]), "eecb", 0.05, 1, engine="exact")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert sim.pulls[0] > 20_000
    assert peaks[1] < 2 * peaks[0] + 100_000


def test_user_laws_are_checked():
    class Short:
        def sample(self, rng, mean, n):
            return np.zeros((n - 1, len(mean)))

    class Broken:
        def sample(self, rng, mean, n):
            return np.full((n, len(mean)), np.nan)

    for law, message in ((Short(), "must return an array"), (Broken(), "NaN or infinity")):
        instance = bg.Instance([[[0.0]], [[1.0]]], law=law)
        with pytest.raises(bg.InvalidInput, match=message):
            bg.simulate(instance, bg.BestGroup([1.0]), "eecb", runs=1)


def test_a_law_wider_than_the_assumed_noise_voids_the_guarantee():
    instance = bg.Instance([[[0.0]], [[9.0]]], law=bg.laws.Normal(2.0))
    sim = bg.simulate(instance, bg.BestGroup([1.0]), "eecb", runs=1)
    assert sim.guarantee.level == "none" and "exceeds the assumed" in str(sim.guarantee)


def test_laws_have_their_moments():
    """First two moments of a million draws; each bound is five standard errors."""
    means = [[0.3, 0.7]]
    cov = [[1.0, -0.5], [-0.5, 0.5]]
    for law, wanted in (
        (bg.laws.Normal([0.5, 2.0]), np.diag([0.25, 4.0])),
        (bg.laws.Normal(cov=cov), np.array(cov)),
        (bg.laws.FullyDependent([1.0, 2.0]), np.array([[1.0, 2.0], [2.0, 4.0]])),
        (bg.laws.Bernoulli(), np.diag([0.21, 0.21])),
    ):
        tape = bg.Tape.draw(bg.Instance([means], law=law), 200_000)
        rewards = np.diff(tape.sums[:, 0, 0], axis=0)
        deviation = np.sqrt(np.diag(wanted))
        error = 5 * deviation / np.sqrt(len(rewards))
        assert (abs(rewards.mean(axis=0) - means[0]) < error).all()
        assert np.allclose(np.cov(rewards.T), wanted, atol=5 * 4.0 * 1.5 / np.sqrt(len(rewards)))


MASK = 2**64 - 1


def naive_words(seed, run, group, arm, dim):
    """The stream in plain Python integers."""

    def mix(x):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        return x ^ (x >> 31)

    golden = 0x9E3779B97F4A7C15
    state = []
    for word in range(4):
        h = mix((seed + golden * (word + 1)) & MASK)
        for part in (run, group, arm, dim):
            h = mix(h ^ ((part + golden) & MASK))
        state.append(h)

    def rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    while True:
        yield (rotate((state[0] + state[3]) & MASK, 23) + state[0]) & MASK
        t = (state[1] << 17) & MASK
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= t
        state[3] = rotate(state[3], 45)


def test_streams_equal_a_naive_generator():
    state, out = np.zeros(4, np.uint64), np.empty(100)
    seed_stream.compiled(state, 12345, 6, 7, 8, 9)
    fill_uniforms.compiled(state, out, 100)
    words = naive_words(12345, 6, 7, 8, 9)
    assert out.tolist() == [(next(words) >> 11) * 2.0**-53 for _ in range(100)]


def test_normals_are_normal():
    """Kolmogorov-Smirnov on 10^6 draws and a count beyond the ziggurat's edge; false alarm 1e-4."""
    from scipy import stats

    state, out = np.zeros(4, np.uint64), np.empty(10**6)
    seed_stream.compiled(state, 1, 2, 3, 4, 5)
    fill_normals.compiled(state, out, len(out))
    assert stats.kstest(out, "norm").pvalue > 1e-4
    beyond = int((abs(out) > 3.6541528853610088).sum())
    expected = 2 * stats.norm.sf(3.6541528853610088) * len(out)
    assert stats.poisson.cdf(beyond, expected) > 5e-5 and stats.poisson.sf(beyond, expected) > 5e-5

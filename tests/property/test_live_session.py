"""Any order, portions and repetitions of tells give what replay gives, bit for bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.replay import Tape
from bestgroup.drivers.session import LiveSession
from bestgroup.errors import TicketError

ALGORITHMS = {
    "te": (bg.algorithm("te", radius_scale=0.5), bg.ParetoGroups(0.5)),
    "ge": (bg.algorithm("ge", radius="mixture"), bg.ParetoGroups(0.5)),
    "eecb": (bg.algorithm("eecb", radius_scale=0.5), bg.BestGroup([1.0, 2.0], epsilon=0.3)),
    "tel": (bg.algorithm("tel", pareto_epsilon=0.5, radius_scale=0.5), bg.BestGroup([1.0, 2.0])),
    "unis": (bg.algorithm("unis"), bg.ParetoGroups(0.7)),
}


def make_tape(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, rng.integers(1, 4))
    means = [3 * rng.random((size, 2)) for size in sizes]
    return Tape([m + 0.3 * rng.standard_normal((1500, *m.shape)) for m in means])


def requests(live, size=1):
    """Return (group, arm, index, repeats) of all that is wanted and not told: the plan's pulls first."""
    found = []
    for ahead in (False, True):
        for wanted, end in live.wanted():
            asked = wanted.cut(end, wanted.stop) if ahead else wanted.cut(wanted.first, end)
            for rest in live.missing(asked):
                found += [
                    (*rest.home, start, min(size, rest.stop - start))
                    for start in range(rest.first, rest.stop, size)
                ]
    return found


def rewards(tape):
    return np.diff(np.concatenate([np.zeros((1, *tape.sums.shape[1:])), tape.sums]), axis=0)


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_state_is_a_function_of_what_was_told(name, data):
    algorithm, goal = ALGORITHMS[name]
    source = make_tape(data.draw(st.integers(0, 2**20), label="tape"))
    values = rewards(source)
    tape = Tape([values[:, i, :k] for i, k in enumerate(source.shape.sizes)])
    trace = bg.replay(tape, goal, algorithm, 0.1)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20), label="order"))
    horizon = data.draw(st.sampled_from([0, 1, 7]), label="horizon")
    setting = Setting(tape.shape, goal, bg.SubGaussian(1.0), 0.1)
    live = LiveSession(setting, algorithm, horizon)
    while not live.done:
        tickets = requests(live, int(rng.integers(1, 6)))
        assert tickets and len(set(tickets)) == len(tickets)
        for k in rng.permutation(len(tickets))[: max(1, len(tickets) - int(rng.integers(0, 3)))]:
            i, j, index, repeats = tickets[k]
            block = values[index : index + repeats, i, j]
            first = live.tell(i, j, index, block)
            if rng.random() < 0.2:
                told = live.told
                assert live.tell(i, j, index, block) == 0 and live.told == told
            assert first <= repeats
    assert live.answer() == trace.answer
    assert live.pulls == trace.pulls <= live.told
    for one, other in zip(live.counts, trace.pulls_by_arm, strict=True):
        assert np.array_equal(one, other)
    if trace.efficiency is not None:
        assert np.array_equal(live.record()["efficiency"], trace.efficiency)
    if horizon == 0:
        assert live.told == live.pulls


def test_refused_tells_change_nothing():
    setting = Setting(make_tape(0).shape, bg.ParetoGroups(0.5), bg.SubGaussian(1.0), 0.1)
    live = LiveSession(setting, bg.algorithm("te"), horizon=3)
    live.tell(0, 0, 1, [1.0, 2.0])
    before = requests(live)
    for arguments, error in (
        ((0, 0, 1, [1.0, 3.0]), TicketError),
        ((0, 0, 0, [[1.0, 2.0], [9.0, 9.0]]), TicketError),
        ((0, 0, 0, [1.0]), bg.InvalidInput),
        ((0, 0, 0, [1.0, float("nan")]), bg.InvalidInput),
        ((99, 0, 0, [1.0, 2.0]), bg.InvalidInput),
        ((0, 0, -1, [1.0, 2.0]), bg.InvalidInput),
    ):
        with pytest.raises(error):
            live.tell(*arguments)
        assert requests(live) == before and live.told == 1
    assert live.tell(0, 0, 1, [1.0, 2.0]) == 0

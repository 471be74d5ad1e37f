"""Jump runs are pathwise those of the algorithm: a replay of the completed tape does the same.

After a run, all rounds that it did not reveal are filled in by bridges; one missing test or one
false certificate would show as a different answer, count of pulls or number of rounds.
"""

import pytest

from reference.jump_paths import crowded_case, engine_for, random_case, same_as_replay

LAWS = ["independent", "covariance", "fully dependent"]
NAMES = ["te", "age", "ge", "tel", "te-plus", "eecb", "se"]


def replayed(seeds, name, law, groups=None, max_rounds=1500):
    rounds = [
        same_as_replay(*random_case(s, name, law, groups), s, max_rounds=max_rounds) for s in seeds
    ]
    return [r for r in rounds if r is not None]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
def test_a_replay_of_the_completed_tape_does_the_same(name, law):
    played = replayed(range(18), name, law)
    assert len(played) > 6 and max(played) > 100


@pytest.mark.parametrize("name", NAMES)
def test_the_same_with_many_groups(name):
    # From 17 groups on, possible rejectors are covered by others.
    played = replayed(range(4), name, "independent", groups=25, max_rounds=800)
    assert len(played) >= 2


@pytest.mark.parametrize("law", LAWS)
def test_te_plus_with_crowds_of_events_first_and_few_later(law):
    # Rounds one by one, then windows.
    played = [same_as_replay(*crowded_case(s, law), s, max_rounds=5000) for s in range(8)]
    played = [rounds for rounds in played if rounds is not None]
    assert len(played) > 4 and max(played) > 500


def test_te_plus_draws_all_of_crowded_rounds_and_little_of_the_others():
    case = crowded_case(0, "independent")
    engine = engine_for(*case, log=1_000_000)
    runs = engine.run(0, 0, 1, 10**7)
    known, walks = engine.logged(), engine.shape.total * engine.shape.dims
    assert all((known[:, 1] == count).sum() == walks for count in range(1, 17))
    assert runs.rounds[0] > 1000 and len(known) < 0.5 * runs.counts.sum() * engine.shape.dims


@pytest.mark.verify
@pytest.mark.parametrize("law", LAWS)
def test_te_plus_with_crowds_on_hundreds_of_instances(law):
    played = [same_as_replay(*crowded_case(s, law), s, max_rounds=8000) for s in range(100, 300)]
    assert sum(rounds is not None for rounds in played) > 150


@pytest.mark.verify
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_on_hundreds_of_instances(name, law):
    played = replayed(range(1000, 1400), name, law, max_rounds=4000)
    long = 1500 if (name, law) == ("te-plus", "fully dependent") else 2000
    assert len(played) > 250 and max(played) > long


@pytest.mark.verify
@pytest.mark.parametrize("name", NAMES)
def test_the_same_with_many_groups_on_a_hundred_instances(name):
    played = replayed(range(100), name, "independent", groups=40, max_rounds=2000)
    assert len(played) > 50

"""The pruner and the terminator inside real Optuna studies."""

import numpy as np
import optuna
import pytest

import bestgroup as bg
from bestgroup.integrations.optuna import AnytimePruner, AnytimeTerminator

N = 120


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def coins(rng, gap):
    """Scores of two candidates on the same items, the second worse by about `gap`."""
    ease = 0.3 + 0.5 * rng.random(N)
    first, second = rng.random(N) < ease, rng.random(N) < ease - gap
    return first.astype(float), second.astype(float)


def race(first, second, pruner, order, storage=None):
    """Run both candidates in a study, the second pruned if need be; returns its items."""
    study = optuna.create_study(direction="maximize", pruner=pruner, storage=storage)
    done = 0

    def objective(trial):
        nonlocal done
        values = first if trial.number == 0 else second
        for done, item in enumerate(order, 1):
            trial.report(values[item], int(item))
            if done < N and trial.should_prune():
                raise optuna.TrialPruned
        return float(values.mean())

    study.optimize(objective, n_trials=2)
    return done if study.trials[1].state.name == "PRUNED" else None


def error_rate(p, runs, seed, **options):
    """How often the candidate that is better over all items is pruned when labels mean nothing."""
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(runs):
        first, second = coins(rng, 0.0)
        swap = rng.random(N) < 0.5
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        if first.sum() > second.sum():
            first, second = second, first
        test, order = bg.PairedTest(**options), rng.permutation(N)
        for item in order[:-1]:
            test.update(first[item], second[item])
        wrong += test.refutes(p)
    return wrong / runs


@pytest.mark.parametrize("options", [{}, {"reach": 1.0}, {"reach": 1.0, "items": N}])
def test_the_better_candidate_is_rarely_pruned(options):
    # A rate of p or more shows 24 or fewer errors of 400 with probability below 1 in 300 at p = .1.
    assert error_rate(0.1, 400, 3, **options) <= 0.1


@pytest.mark.verify
@pytest.mark.parametrize("p", [0.1, 0.05, 0.01])
@pytest.mark.parametrize("options", [{}, {"reach": 1.0}, {"reach": 1.0, "items": N}])
def test_error_rates_of_many_runs(options, p):
    rate = error_rate(p, 2000, 11, **options)
    print(f"PairedTest({options}), p {p}: better candidate pruned in {rate:.2%} of 2,000 runs")
    assert rate <= p


@pytest.mark.parametrize("options", [{}, {"reach": 1.0}, {"reach": 1.0, "items": N}])
def test_a_worse_candidate_is_pruned_and_a_better_one_is_not(options):
    rng = np.random.default_rng(4)
    order = rng.permutation(N)
    good, bad = coins(rng, 0.35)
    items = race(good, bad, AnytimePruner(0.1, **options), order)
    assert items is not None
    assert 5 <= items < 80
    assert race(bad, good, AnytimePruner(0.1, **options), order) is None


def test_storage_keeps_the_order_of_reports(tmp_path):
    rng = np.random.default_rng(4)
    order = rng.permutation(N)
    good, bad = coins(rng, 0.35)
    stored = race(good, bad, AnytimePruner(0.1, reach=1), order, f"sqlite:///{tmp_path}/o.db")
    assert stored == race(good, bad, AnytimePruner(0.1, reach=1), order)


def test_several_objectives():
    rng = np.random.default_rng(8)
    pruner = AnytimePruner(0.1, reach=[1.0, 1.0])
    study = optuna.create_study(directions=["maximize", "minimize"])
    good = [coins(rng, 0.0)[0], 0.3 * rng.random(N)]
    tables = {
        0: good,
        1: [coins(rng, 0.4)[1], 0.4 + 0.3 * rng.random(N)],  # worse in both
        2: [coins(rng, 0.4)[1], 0.1 * rng.random(N)],  # worse in one only
    }

    def objective(trial):
        values = tables[trial.number]
        for item in range(N):
            pruner.report(trial, [column[item] for column in values], item)
            if pruner.should_prune(trial):
                raise optuna.TrialPruned
        return [float(column.mean()) for column in values]

    study.optimize(objective, n_trials=3)
    assert [t.state.name for t in study.trials] == ["COMPLETE", "PRUNED", "COMPLETE"]


def test_an_item_that_the_best_trial_lacks_stops_pruning():
    study = optuna.create_study(direction="maximize", pruner=AnytimePruner(0.1, reach=1))
    for number in range(2):
        trial = study.ask()
        for item in range(60):
            trial.report(1.0 - number, item + 1000 * number)
        assert not trial.should_prune()
        study.tell(trial, 1.0 - number)


def test_the_terminator_waits_for_pruned_trials_in_a_row():
    terminator = AnytimeTerminator(patience=2)
    study = optuna.create_study()
    for states, expected in (("C", False), ("P", False), ("P", True), ("C", False)):
        trial = study.ask()
        if states == "P":
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, 1.0)
        assert terminator.should_terminate(study) is expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"p": 0.0}, "p must be between 0 and 1"),
        ({"reach": 0.0}, "reach must be above 0"),
        ({"items": 5}, "items need reach"),
        ({"n_startup_steps": -1}, "n_startup_steps must be 0 or more"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(bg.InvalidInput, match=words):
        AnytimePruner(**options)


def test_values_too_far_apart_are_refused():
    test = bg.PairedTest(reach=0.5, items=2)
    with pytest.raises(bg.InvalidInput, match=r"differ by at most 0\.5"):
        test.update(1.0, 0.0)
    test.update(0.2, 0.1)
    test.update(0.2, 0.1)
    assert test.refutes(1e-9)  # all items were seen
    with pytest.raises(bg.InvalidInput, match="all of them were taken up"):
        test.update(0.2, 0.1)

"""Studies whose arms are scored on the same items."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.errors import EvaluationFailed, InvalidInput
from bestgroup.problem.items import drawn_order
from bestgroup.studies.html_report.page import report_html

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]}
ARMS = ["a1", "a2", "b1", "c1"]
N = 60


def scores(seed=0):
    rng = np.random.default_rng(seed)
    skill = np.array([0.9, 0.4, 0.1, -0.6])[None, :, None]
    raw = skill + rng.normal(size=(N, 1, 1)) + 0.4 * rng.normal(size=(N, 4, 2))
    return np.round(1 / (1 + np.exp(-raw)), 3)


TABLE = scores()


def problem(noise=None, **items):
    names = [f"i{t}" for t in range(N)]
    dims = {"right": "max", "wrong": "min"}
    own = bg.Items(**{"names": names, **items})
    return bg.Problem(GROUPS, dims, noise or bg.Bounded(0, 1), items=own)


def evaluate(group, arm, item):
    x, y = TABLE[int(item[1:]), ARMS.index(arm)]
    return x, 1.0 - y


GOAL = bg.ParetoGroups(0.02)


def truth():
    best = np.stack([TABLE[:, :2].mean(0).max(0), TABLE[:, 2].mean(0), TABLE[:, 3].mean(0)])
    return {"ABC"[i] for i in np.flatnonzero(bg.pareto_groups(best))}


def test_solve_scores_items_in_one_order_and_stops_before_the_end():
    asked = []

    def watched(group, arm, item):
        asked.append((arm, item))
        return evaluate(group, arm, item)

    found = bg.solve(problem(), GOAL, watched, 0.1, seed=5)
    assert found.proven
    assert truth() <= set(found.answer.groups)
    assert len(asked) == len(set(asked)) == found.answer.pulls < 4 * N
    order = [f"i{k}" for k in drawn_order(5, N)]
    for arm in ARMS:
        own = [item for name, item in asked if name == arm]
        assert own == order[: len(own)]
    assert "60 items" in str(found.answer.guarantee)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_and_batches_do_not_change_what_is_proven(workers):
    found = bg.solve(
        problem(), GOAL, evaluate, 0.1, workers=workers, per_arm=1 if workers > 1 else None
    )
    assert found.proven
    assert truth() <= set(found.answer.groups)


def test_evaluate_many():
    calls = []

    def many(group, arm, items):
        calls.append(len(items))
        return [evaluate(group, arm, item) for item in items]

    found = bg.solve(problem(), GOAL, evaluate_many=many, delta=0.1)
    one = bg.solve(problem(), GOAL, evaluate, 0.1)
    assert found.answer.pulls == one.answer.pulls == sum(calls)
    assert max(calls) > 1
    with pytest.raises(InvalidInput, match="not both"):
        bg.solve(problem(), GOAL, evaluate, 0.1, evaluate_many=many)


def test_seeds_belong_to_items():
    study = bg.create_study("seeds", problem(), GOAL, 0.1, "memory", seed=3)
    tickets = study.ask(100)
    by_item = {}
    for ticket in tickets:
        by_item.setdefault(ticket.item, set()).add(ticket.seed)
    assert all(len(seeds) == 1 for seeds in by_item.values())
    assert len({min(seeds) for seeds in by_item.values()}) == len(by_item)
    assert tickets[0].to_dict()["item"] == tickets[0].item
    bg.delete_study("seeds", "memory")


def run(study, stop=None):
    done = 0
    while tickets := study.ask(7):
        for ticket in tickets:
            study.tell(ticket, evaluate(ticket.group, ticket.arm, ticket.item))
            done += 1
            if done == stop:
                return


@pytest.mark.parametrize(
    "goal",
    [GOAL, bg.BestGroup([1, 1]), bg.BestGroup([1, 2], 0.02)],
    ids=["pareto", "best", "slack"],
)
def test_a_study_replays_exports_and_imports_to_the_bit(tmp_path, goal):
    url = f"sqlite:///{tmp_path}/s.db"
    first = bg.create_study("one", problem(), goal, 0.1, url, seed=2)
    run(first, stop=40)
    again = bg.load_study("one", url)
    run(again)
    assert again.status().state == "done"
    assert again.verify() == again.answer().pulls
    straight = bg.create_study("two", problem(), goal, 0.1, url, seed=2)
    run(straight)
    assert straight.answer().to_dict() == again.answer().to_dict()
    assert straight.export(tmp_path / "rows.csv") == again.answer().told
    third = bg.create_study("three", problem(), goal, 0.1, url, seed=2)
    assert third.import_observations(tmp_path / "rows.csv") == straight.answer().told
    assert third.answer().groups == straight.answer().groups
    assert third.checkpoint().counts.tolist() == straight.checkpoint().counts.tolist()
    frame = third.to_frame()
    assert list(frame.columns[:4]) == ["group", "arm", "index", "item"]


def test_known_cells_cost_nothing():
    known = [
        {"group": g, "arm": arm, "item": f"i{t}", "right": evaluate(g, arm, f"i{t}")[0]}
        | {"wrong": evaluate(g, arm, f"i{t}")[1]}
        for g, arms in GROUPS.items()
        for arm in arms
        for t in range(0, N, 2)
    ]
    calls = []

    def watched(group, arm, item):
        calls.append(item)
        return evaluate(group, arm, item)

    found = bg.solve(problem(), GOAL, watched, 0.1, known=known)
    plain = bg.solve(problem(), GOAL, evaluate, 0.1)
    assert found.answer.groups == plain.answer.groups
    assert found.answer.pulls == plain.answer.pulls
    assert len(calls) < 0.75 * plain.answer.pulls
    assert all(int(item[1:]) % 2 for item in calls)


def test_an_item_that_fails_blocks_its_arm_unless_there_is_a_floor():
    bad = f"i{drawn_order(0, N)[2]}"

    def broken(group, arm, item):
        if arm == "c1" and item == bad:
            raise RuntimeError("cannot do it")
        return evaluate(group, arm, item)

    with pytest.raises(EvaluationFailed, match="blocks the arm"):
        bg.solve(problem(), GOAL, broken, 0.1, retries=0)
    floored = problem(floor={"right": 0.0, "wrong": 1.0})
    found = bg.solve(floored, GOAL, broken, 0.1, retries=0)
    assert found.proven


def test_a_difference_beyond_the_declared_one_is_refused_and_changes_nothing():
    study = bg.create_study(
        "reach", problem(bg.Bounded(0, 1, difference=0.05)), GOAL, 0.1, "memory"
    )
    tickets = {ticket.arm: ticket for ticket in study.ask(100)[::-1]}
    first = {name: ticket for name, ticket in tickets.items() if ticket.index == 0}
    study.tell(first["a1"], [0.9, 0.1])
    before = study.status().told
    with pytest.raises(InvalidInput, match="declared"):
        study.tell(first["b1"], [0.2, 0.1])
    assert study.status().told == before
    study.tell(first["b1"], [0.88, 0.1])
    bg.delete_study("reach", "memory")


def test_certificate_and_explanations_of_a_study():
    study = bg.create_study("why", problem(), GOAL, 0.1, "memory")
    run(study, stop=80)
    assert study.status().forecast > 0
    found = study.certificate()
    assert found.tally.counts.sum() >= 70
    for group in GROUPS:
        assert str(study.explain(group))
    run(study)
    assert study.certificate().accepted == study.answer().groups
    bg.delete_study("why", "memory")


@pytest.mark.parametrize("algorithm", ["adaptive", "te-plus"])
def test_an_explanation_shows_the_comparisons_on_common_items(algorithm):
    study = bg.create_study(
        "shown", problem(), bg.ParetoGroups(0.3), 0.1, "memory", seed=1, algorithm=algorithm
    )
    assert study.explain("C").proof == []
    run(study)
    means = TABLE.mean(axis=0)
    for group in GROUPS:
        shown = study.explain(group).proof
        assert shown or study.answer().groups == (group,)
        for row in shown:
            d = ("right", "wrong").index(row["dim"])
            better, worse = (ARMS.index(row[side][1]) for side in ("better", "worse"))
            ahead = means[better, d] - means[worse, d]
            assert ahead + row["slack"] > 0
    bg.delete_study("shown", "memory")


def test_what_people_ask_of_items():
    found = bg.solve(problem(), GOAL, evaluate, 0.1)
    share = found.certificate.share
    assert share == found.answer.pulls / (4 * N) < 1
    assert "saved" in str(found)
    done = found.certificate.items_done()
    assert sum(sum(arms.values()) for arms in done.values()) == found.answer.pulls
    means = TABLE.mean(axis=0)
    for pair in found.certificate.differences():
        d = ("right", "wrong").index(pair.dim)
        sign = 1 if d == 0 else -1
        gap = sign * (means[ARMS.index(pair.arm), d] - means[ARMS.index(pair.rival_arm), d])
        assert pair.low <= gap + 1e-9 and gap - 1e-9 <= pair.high
        assert pair.low <= pair.mean <= pair.high
        assert pair.items == min(done[pair.group][pair.arm], done[pair.rival][pair.rival_arm])
    items = found.certificate.telling_items(5)
    assert len(items) == 5
    assert [t.spread for t in items] == sorted((t.spread for t in items), reverse=True)
    row = items[0].values["right"]
    values = [evaluate(g, arm, items[0].item)[0] for g, arms in GROUPS.items() for arm in arms]
    assert set(row.values()) <= set(values)
    assert "independent" not in str(found.certificate.together or "")


def test_population_and_stream():
    small = problem(target="population")
    study = bg.create_study("few", small, bg.ParetoGroups(1e-6), 0.001, "memory")
    run(study)
    assert study.status().state == "stuck"
    assert "items are used up" in report_html(study)
    bg.delete_study("few", "memory")
    endless = bg.Problem(
        GROUPS, {"right": "max", "wrong": "min"}, bg.Bounded(0, 1), items=bg.Items()
    )

    def drawn(group, arm, item, seed):
        t = np.random.default_rng(seed).integers(N)
        return evaluate(group, arm, f"i{t}")

    found = bg.solve(endless, bg.ParetoGroups(0.1), drawn, 0.1)
    assert found.proven


def test_files_describe_items(tmp_path):
    path = bg.save_spec(tmp_path / "p.toml", problem(), GOAL, 0.1)
    spec = bg.load_spec(path)
    assert spec.problem == problem()
    assert "shared items" in spec.why
    (tmp_path / "names.txt").write_text("x\ny\nz\n")
    text = path.read_text()
    start = text.index("[items]")
    (tmp_path / "q.toml").write_text(text[:start] + '[items]\nfile = "names.txt"\n')
    assert bg.load_spec(tmp_path / "q.toml").items.names == ("x", "y", "z")
    for bad, word in (
        ("[items]\ncount = 0\n", "items"),
        ('[items]\nfile = "no.txt"\n', "items.file"),
        ('[items]\ncount = 3\ntarget = "all"\n', "items.*target"),
    ):
        (tmp_path / "bad.toml").write_text(text[:start] + bad)
        with pytest.raises(InvalidInput, match=word):
            bg.load_spec(tmp_path / "bad.toml")


def test_commands_get_the_item(tmp_path):
    script = tmp_path / "score.py"
    script.write_text(
        "import sys, zlib\n"
        "group, arm, item = sys.argv[1:]\n"
        "h = zlib.crc32(item.encode()) % 100 / 200\n"
        "print({'A': .5, 'B': .2, 'C': 0}[group] + h, h)\n"
    )
    import sys

    items = bg.Items(names=[f"n{k}" for k in range(8)])
    task = bg.Problem(
        {"A": ["a"], "B": ["b"]}, {"x": "max", "y": "max"}, bg.Bounded(0, 1), items=items
    )
    line = f"{sys.executable} {script} {{group}} {{arm}} {{item}}"
    found = bg.solve(task, bg.BestGroup([1, 1]), line, 0.1)
    assert found.answer.groups == ("A",)

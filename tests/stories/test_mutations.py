"""A story is worth what it notices: each number or status that is changed anywhere must be noticed."""

from dataclasses import replace

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.analysis.certify import Certificate
from bestgroup.cli import study as study_commands
from bestgroup.problem.status import Status
from bestgroup.service import views
from bestgroup.service.proof import Proof, Standing
from bestgroup.studies import report, table
from bestgroup.studies import study as studies
from stories.walk import certify_again, look

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]}
MEANS = {"a1": [0.9, 0.2], "a2": [0.4, 0.3], "b1": [0.2, 0.8], "c1": [0.15, 0.15]}


@pytest.fixture(scope="module", params=[40, None], ids=["part", "end"])
def story(request, tmp_path_factory):
    """A study that was stopped by its budget, or has ended, and its problem file."""
    folder = tmp_path_factory.mktemp("story")
    dims = {"x": "max", "y": {"direction": "max", "unit": "s"}}
    problem = bg.Problem(GROUPS, dims, bg.SubGaussian(0.2))
    place, goal = f"sqlite:///{folder / 's.db'}", bg.ParetoGroups(0.1)

    def draw(group, arm, seed):
        return (MEANS[arm] + 0.2 * np.random.default_rng(seed).standard_normal(2)).tolist()

    solved = bg.solve(
        problem, goal, draw, storage=place, name="s", algorithm="adaptive", budget=request.param
    )
    bg.save_spec(folder / "s.toml", problem, goal, 0.05, algorithm="adaptive")
    return solved.study, place, bg.load_spec(folder / "s.toml"), folder


def walked(story):
    """Look at everything that a story looks at."""
    study, place, spec, folder = story
    again = bg.load_study(study.name, place)
    own = look(again, place, spec)
    certify_again(again, spec, folder / "rows.csv", own, lambda found: found.pulls)


def test_nothing_is_noticed_where_nothing_is_wrong(story):
    walked(story)


def flipped(status):
    return Status.OUT if status != Status.OUT else Status.IN


def change(monkeypatch, owner, name, made):
    """Replace a function by one that changes what it returns."""
    honest = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a, **k: made(honest(*a, **k)))


def one_more(counts):
    counts = counts.copy()
    counts[0, 0] += 1
    return counts


def other_standing(found):
    words = [*found.words]
    words[-1] = flipped(Status.read(words[-1])).word
    return Standing(words, found.by)


def first_row(frame):
    frame.loc[0, "status"] = flipped(Status.read(frame.loc[0, "status"])).word
    return frame


MUTATIONS = {
    "the answer has another pull": (
        studies,
        "make_answer",
        lambda found: replace(found, pulls=found.pulls + 1),
    ),
    "the answer has lost a group": (
        studies,
        "make_answer",
        lambda found: replace(
            found, undecided=found.undecided[:-1], outside=found.outside[:-1], inside=()
        ),
    ),
    "the status counts a group twice": (
        studies,
        "make_status",
        lambda found: replace(found, undecided=found.undecided + 1),
    ),
    "a forecast of nothing": (studies, "foresee", lambda found: 0.0),
    "the certificate has other counts": (
        studies,
        "make_certificate",
        lambda found: replace(
            found, tally=found.tally._replace(counts=one_more(found.tally.counts))
        ),
    ),
    "the certificate has another status": (
        studies,
        "make_certificate",
        lambda found: replace(
            found,
            verdict=found.verdict._replace(
                status=np.array([flipped(found.verdict.status[0]), *found.verdict.status[1:]])
            ),
        ),
    ),
    "a frame has another status": (Certificate, "to_frame", first_row),
    "an explanation has another status": (
        studies,
        "make_explanation",
        lambda found: replace(found, status=flipped(Status.read(found.status)).word),
    ),
    "the page has another status": (Proof, "standing", other_standing),
    "the page has other intervals": (
        views,
        "_three",
        lambda ends: [None if end is None else end + 0.01 for end in ends],
    ),
    "the command line loses what was told": (
        study_commands,
        "load",
        lambda study: _Less(study),
    ),
    "an export loses a row": (
        table,
        "_columns",
        lambda columns: {key: column[:-1] for key, column in columns.items()},
    ),
    "an export has another value": (
        table,
        "_columns",
        lambda columns: {**columns, "x": columns["x"] + 0.001},
    ),
    "the guarantee of the answer is void": (
        report,
        "guarantee_of",
        lambda found: found.void("for no reason"),
    ),
}


class _Less:
    """A study whose answer has forgotten an observation."""

    def __init__(self, study):
        self._study = study

    def __getattr__(self, name):
        return getattr(self._study, name)

    def answer(self):
        found = self._study.answer()
        return replace(found, told=found.told - 1)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_every_change_is_noticed(story, mutation, monkeypatch):
    owner, name, made = MUTATIONS[mutation]
    if mutation == "a forecast of nothing" and story[0].status().state == "done":
        pytest.skip("what has ended is forecast 0")
    change(monkeypatch, owner, name, made)
    with pytest.raises((AssertionError, KeyError)):
        walked(story)

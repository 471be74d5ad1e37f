"""Figures: what they show, and what they refuse."""

import sys

import pytest

import bestgroup as bg
from bestgroup import plots

BARS = [plots.Bar("TE", 3e5, 2e4, True), plots.Bar("UniS", 4e6, 0.0, False)]


def test_pulls_are_drawn_to_scale_with_the_limit():
    drawn = plots.pulls([plots.Panel("Pareto?", BARS, 1e4), plots.Panel("best?", BARS[:1])], "T")
    first, second = drawn.axes
    assert first.get_xscale() == "log"
    assert [patch.get_width() for patch in first.patches] == [3e5, 4e6]
    assert [label.get_text() for label in first.get_yticklabels()] == ["TE", "UniS"]
    assert [text.get_text() for text in first.texts] == [
        "300,000  (30 × limit)",
        "4,000,000  (400 × limit)",
    ]
    assert first.get_title(loc="left") == "Pareto?   (limit: 10,000 pulls)"
    assert second.get_title(loc="left") == "best?"
    assert second.texts[0].get_text() == "300,000"
    low, high = first.get_xlim()
    assert low <= 7e3
    assert high > 4e6


def test_what_is_not_proven_is_hatched_and_in_the_legend():
    drawn = plots.pulls([plots.Panel("Pareto?", BARS, 1e4)])
    assert [patch.get_hatch() for patch in drawn.axes[0].patches] == [None, "///"]
    entries = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert entries == ["proven", "no guarantee", "limit for any correct algorithm"]
    alone = plots.pulls([plots.Panel("Pareto?", BARS[:1])])
    assert [text.get_text() for text in alone.legends[0].get_texts()] == ["proven"]


def test_a_large_spread_stays_on_a_log_scale(tmp_path):
    drawn = plots.pulls([plots.Panel("Pareto?", [plots.Bar("TE", 10.0, 50.0, True)])])
    drawn.savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


@pytest.mark.parametrize("panels", [[], [plots.Panel("Pareto?", [])]])
def test_nothing_to_draw_is_refused(panels):
    with pytest.raises(bg.InvalidInput, match="needs at least one panel, each with a bar"):
        plots.pulls(panels)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(bg.InvalidInput, match=r"pip install 'bestgroup\[plots\]'"):
        plots.pulls([plots.Panel("Pareto?", BARS)])

"""No text of any figure lies outside the canvas, however long names and titles are."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.plots import canvas
from bestgroup.problem.markup import card, rows_table

LONG = "a name that somebody made long enough to reach over any edge of a small figure"
DIMS = ["accuracy on the held-out part", "cost in cents for a thousand calls", "seconds", "size"]


def certificate(dims, groups=4):
    names = {f"{LONG} {i}": [f"{LONG} {j}" for j in range(2)] for i in range(groups)}
    wanted = {name: {"direction": "max", "unit": LONG} for name in DIMS[:dims]}
    problem = bg.Problem(names, wanted, bg.SubGaussian(0.5))
    draw = np.random.default_rng(0)
    rows = [
        {"group": g, "arm": a, **dict(zip(DIMS[:dims], draw.normal(i, 0.5, dims), strict=True))}
        for i, (g, arms) in enumerate(names.items())
        for a in arms
        for _ in range(20)
    ]
    return bg.certify(rows, bg.ParetoGroups(0.1), problem, 0.05)


def a_study():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(0.2))
    study = bg.create_study(LONG * 2, problem, bg.BestGroup([1]), 0.05, "memory")
    try:
        for _ in range(20):
            for ticket in study.ask(4):
                study.tell(ticket, [1.0 if ticket.arm == "a" else 0.0])
        return bg.plots.status_view(study)
    finally:
        bg.delete_study(LONG * 2, "memory")


def a_comparison():
    instance = bg.Instance([[[0.0]], [[2.0]]], groups=[LONG, "B"])
    found = bg.compare(instance, bg.BestGroup([1]), ["eecb", "se"], 0.05, 3)
    bars = [bg.plots.Bar(LONG, 10.0**k, 0.0, k > 3) for k in range(2, 6)]
    return (
        found.plot(),
        found.simulations[0].plot(),
        bg.plots.pulls([bg.plots.Panel(LONG * 2, bars, 20.0)], LONG * 2),
    )


FIGURES = {
    "one dim": lambda: [certificate(1).plot()],
    "two dims": lambda: [certificate(2).plot()],
    "three dims": lambda: [certificate(3).plot()],
    "four dims": lambda: [certificate(4).plot(), certificate(4, 9).plot(*DIMS[2:4])],
    "intervals": lambda: [bg.plots.intervals_view(certificate(3))],
    "pulls by arm": lambda: [bg.plots.pulls_view(certificate(2))],
    "problem": lambda: [certificate(4).problem.plot()],
    "study": lambda: [a_study()],
    "comparison": a_comparison,
}


def cut(figure):
    """Return the texts of a figure that the canvas does not hold."""
    from matplotlib.text import Text

    figure.canvas.draw()
    ticks = {
        tick
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
    }
    drawn = {
        tick
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis._update_ticks()
    }
    beyond = {label for tick in ticks - drawn for label in (tick.label1, tick.label2)}
    whole = figure.bbox
    found = []
    for text in figure.findobj(Text):
        if text in beyond or not text.get_visible() or not text.get_text().strip():
            continue
        if text.axes is not None and not text.axes.get_visible():
            continue
        box = text.get_window_extent()
        hidden = text.get_clip_on() and text.axes is not None
        if box.width == 0 or hidden:
            continue
        if min(box.x0, box.y0) < -4 or box.x1 > whole.x1 + 4 or box.y1 > whole.y1 + 4:
            found.append((text.get_text(), box.extents.round(), whole.extents.round()))
    return found


@pytest.mark.parametrize("name", FIGURES)
def test_every_text_is_inside_the_canvas(name):
    for figure in FIGURES[name]():
        assert not cut(figure)


def test_the_measure_sees_what_is_cut():
    figure = canvas.figure(2.0, 2.0)
    figure.suptitle(LONG)
    assert cut(figure)
    assert not cut(canvas.fitted(figure))


def test_three_dims_show_all_pairs_and_dims_can_be_chosen():
    found = certificate(3)
    axes = found.plot().axes
    shown = [(one.get_xlabel(), one.get_ylabel()) for one in axes]
    assert [tuple(name.replace("\n", " ").split(" [")[0] for name in pair) for pair in shown] == [
        (DIMS[a], DIMS[b]) for a, b in [(0, 1), (0, 2), (1, 2)]
    ]
    (chosen,) = found.plot(DIMS[2], DIMS[0]).axes
    assert chosen.get_xlabel().startswith(DIMS[2])
    assert len(certificate(4).plot().axes) == 6
    with pytest.raises(bg.InvalidInput, match="must differ"):
        found.plot(DIMS[0], DIMS[0])
    with pytest.raises(bg.InvalidInput, match="no decided dim 'x'"):
        found.plot("x")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_figure_gives_the_same_bytes(kind, tmp_path):
    paths = [tmp_path / f"{k}.{kind}" for k in range(2)]
    for path in paths:
        canvas.write(certificate(2).plot(), path, canvas.image_format(path))
    first, second = (path.read_bytes() for path in paths)
    assert len(first) > 1000
    assert first[:4] == {"png": b"\x89PNG", "svg": b"<?xm", "pdf": b"%PDF"}[kind]
    if kind != "svg":  # whose identifiers are random
        assert first == second


def test_cards_escape_what_they_show():
    bad = "<script>alert(1)</script>&\"'"
    shown = card(bad, bad, rows_table([bad], [[bad]]))
    assert "<script" not in shown and "&lt;script&gt;" in shown
    problem = bg.Problem({bad: [bad]}, {bad: "max"}, bg.SubGaussian(1.0))
    study = bg.create_study(bad, problem, bg.ParetoGroups(0.1), 0.05, "memory")
    rows = [{"group": bad, "arm": bad, bad: 1.0}]
    found = bg.certify(rows, bg.ParetoGroups(0.1), problem, 0.05)
    for one in (problem, study, found):
        assert "<script" not in one._repr_html_() and "&lt;script" in one._repr_html_()
    bg.delete_study(bad, "memory")

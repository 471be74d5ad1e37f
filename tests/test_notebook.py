"""What people see of objects in a notebook, with a real kernel where that matters."""

import warnings

import nbformat
import pytest
from nbclient import NotebookClient

import bestgroup as bg
from bestgroup.studies.showing import without_password

SOLVE = """
import random, time
import bestgroup as bg
from bestgroup.simulation import notebook

shown = []
write = notebook.page
notebook.page = lambda words, share: shown.append((words, share)) or write(words, share)

def evaluate(group, arm, seed):
    time.sleep(0.02)
    return random.Random(seed).gauss({"a": 0.9, "b": 0.7}[arm], 0.2)

problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(0.2))
found = bg.solve(problem, bg.BestGroup([1]), evaluate, 0.05)
print(len(shown) > 0, "pulls" in shown[-1][0], shown[0][1] is None or 0 <= shown[0][1] <= 1)
"""


def run(*cells):
    """Return the cells of a notebook after a kernel has run them."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own transport
        NotebookClient(book, timeout=120).execute()
    return book.cells


def test_progress_is_shown_in_a_cell_and_cleared():
    (cell,) = run(SOLVE)
    texts = [out.text for out in cell.outputs if out.output_type == "stream"]
    assert "".join(texts).strip() == "True True True"
    lines = [out for out in cell.outputs if out.output_type == "display_data"]
    assert len(lines) == 1 and lines[0].data["text/html"] == ""


SHOW = """
import bestgroup as bg
problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(0.2))
problem
"""


def test_objects_are_shown_as_cards():
    (cell,) = run(SHOW)
    data = cell.outputs[-1].data
    assert "2 groups, 2 arms" in data["text/html"] and data["text/plain"].startswith("Problem(2")


@pytest.fixture(scope="module")
def objects():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(0.2))
    found = bg.solve(problem, bg.BestGroup([1]), lambda group, arm: float(arm == "a"))
    instance = bg.Instance([[[0.0]], [[2.0]]])
    compared = bg.compare(instance, bg.BestGroup([1]), ["eecb", "se"], 0.05, 3)
    return {
        "Problem": problem,
        "Solution": found,
        "Certificate": found.certificate,
        "Study": found.study,
        "Comparison": compared,
        "Simulation": compared.simulations[0],
    }


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("Problem", 2, "2 groups, 2 arms"),
        ("Solution", None, "Proven after"),
        ("Certificate", 2, "1 in, 1 out"),
        ("Study", None, "done"),
        ("Comparison", 2, "times the limit"),
        ("Simulation", 3, "0 of 3"),
    ],
)
def test_each_has_a_card_a_frame_a_figure_and_a_short_repr(objects, name, rows, words):
    one = objects[name]
    assert repr(one).startswith(f"{name}(") and len(repr(one)) < 200
    assert words in one._repr_html_() and one._repr_html_().count("<table") >= 1
    frame = one.to_frame()
    assert len(frame) == (objects["Solution"].answer.told if rows is None else rows)
    assert one.plot().axes


def test_a_password_is_not_shown():
    shown = without_password("postgresql://ann:se:cret@host:5432/studies")
    assert "cret" not in shown and "host:5432" in shown
    assert without_password("sqlite:///a.db") == "sqlite:///a.db"

"""A real notebook kernel: progress is shown there, and leaves nothing behind."""

import warnings

import nbformat
from nbclient import NotebookClient

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

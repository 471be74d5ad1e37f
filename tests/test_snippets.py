"""What README and the first page print runs as printed."""

import re
from pathlib import Path

import pytest

import bestgroup as bg

ROOT = Path(__file__).parents[1]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("place", range(2))
def test_snippets_of_the_readme(place, capsys):
    exec(compile(blocks("README.md")[place], f"README block {place}", "exec"), {})
    if place == 0:
        said = re.search(r"# (proven after .*)", blocks("README.md")[0])
        assert capsys.readouterr().out.splitlines()[0] == said[1]


def test_snippets_of_the_first_page(capsys):
    names = {}
    for block in blocks("docs/start.md"):
        exec(compile(block, "docs/start.md", "exec"), names)
    assert "Proven Pareto optimal" in capsys.readouterr().out


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([A-Za-z_.]+)$", text, re.M))
    modules = {"testing", "integrations", "__version__"}
    assert set(bg.__all__) - modules <= listed


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_lines_are_short(page):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    assert max(len(line) for line in lines if not line.startswith("|")) <= 105

"""Prose of the pages is wrapped at 100 columns, as code is: `python docs/wrap.py PAGE` does it."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "examples/**/*.md",
        "src/**/*.md",
        "tests/**/*.md",
    )
    for path in ROOT.glob(pattern)
    if not {"_build", "generated", "node_modules"} & set(path.parts)
)
spec = importlib.util.spec_from_file_location("wrap", ROOT / "docs" / "wrap.py")
wrapping = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wrapping)


@pytest.mark.parametrize("page", PAGES)
def test_prose_is_wrapped(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    if any(len(line) > wrapping.WIDTH for line in text.split("\n")):
        assert wrapping.wrap(text) == text, f"python docs/wrap.py {page}"


def test_what_is_not_prose_stays():
    words = "word " * 40
    head = f"---\nkernelspec:\n  name: {words}\n---\n"
    assert wrapping.wrap(f"{head}text\n") == f"{head}text\n"
    for kept in (f"| {words}|", f"## {words}", f"```\n{words}\n```", f"    {words}"):
        assert wrapping.wrap(f"text\n\n{kept}\n") == f"text\n\n{kept}\n"


def test_no_line_begins_with_what_would_begin_a_list():
    text = "x " * 49 + "- y 1. z # w " + "x " * 39 + "x"
    lines = wrapping.wrap(text).split("\n")
    assert len(lines) > 1 and " ".join(lines) == text
    assert not any(line.startswith(("-", "1.", "#")) for line in lines)


def test_items_keep_their_indentation():
    lines = wrapping.wrap("- " + "word " * 40).rstrip().split("\n")
    assert lines[0].startswith("- word") and all(line.startswith("  word") for line in lines[1:])

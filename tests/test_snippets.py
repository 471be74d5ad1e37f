"""What README and the documentation print runs as printed.

Python and shell blocks of a page run in order, in one folder and one namespace;
`snippet_files.py` lays out what a page takes for granted. Notebooks (`file_format: mystnb`) run when
the site is built, under `make docs`, which fails with the first cell that does. A block that cannot
run here has a comment `<!-- not run: why -->` before it; its commands and options must exist.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
import typer.main

import bestgroup as bg
import snippet_files
from bestgroup.algorithms import registry
from bestgroup.cli.main import app

ROOT = Path(__file__).parents[1]
LANGUAGES = {"python", "sh", "toml", "text", "ini", "nginx", "json"}
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n)?```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.S | re.M
)


class Block(NamedTuple):
    kind: str
    text: str
    why_not: str | None


def blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(m["kind"].strip(), m["text"], m["why"]) for m in FENCE.finditer(text)]


def is_notebook(page):
    return "file_format: mystnb" in (ROOT / page).read_text(encoding="utf-8")[:200]


PAGES = ["README.md", "CONTRIBUTING.md"]
PAGES += sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md"))
PAGES = [page for page in PAGES if "/_build/" not in page and "/generated/" not in page]
NOTEBOOKS = [page for page in PAGES if is_notebook(page)]
WITH_CODE = [
    page
    for page in PAGES
    if page not in NOTEBOOKS
    and any(b.kind in ("python", "sh") and not b.why_not for b in blocks(page))
]


def run_shell(text, folder):
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    modules = os.pathsep.join((str(ROOT / "src"), str(folder)))
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=text,
        text=True,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PATH": paths, "PYTHONPATH": modules, "COLUMNS": "100"},
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr


@pytest.fixture
def as_it_was(monkeypatch):
    """Forget the algorithms and the studies in memory that a page makes: other tests go on here."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    before = {study["name"] for study in bg.list_studies("memory")}
    yield
    for study in bg.list_studies("memory"):
        if study["name"] not in before:
            bg.delete_study(study["name"], "memory")


@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize("page", WITH_CODE)
def test_the_snippets_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = snippet_files.PREPARE.get(page, dict)()
    names["__name__"] = "page"
    for place, block in enumerate(blocks(page)):
        if block.why_not:
            continue
        if block.kind == "python":
            exec(compile(block.text, f"{page}, block {place}", "exec"), names)
            printed = capsys.readouterr().out.splitlines()
            for said in re.findall(r"# (proven after .*)", block.text):
                assert said in printed
        elif block.kind == "sh":
            run_shell(block.text, tmp_path)


# The lab log keeps what commands printed, CONTRIBUTING has a map that another test reads.
PRINTED = {"docs/verification.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize("page", sorted(set(PAGES) - set(NOTEBOOKS) - PRINTED))
def test_blocks_are_of_a_known_kind(page):
    for block in blocks(page):
        if not block.kind.startswith("{"):
            assert block.kind in LANGUAGES, (page, block.text[:80])
        if block.kind == "toml":
            tomllib.loads(block.text)
        if block.kind == "json":
            json.loads(block.text)


def commands(text):
    """Return the calls of the command line in a shell block, without what comes before or after."""
    for line in text.replace("\\\n", " ").splitlines():
        for part in re.split(r"\||&&|;", line.split(" #")[0]):
            if "bestgroup " in part and part.split()[0] == "bestgroup":
                yield shlex.split(re.sub(r"\$\([^)]*\)", "x", part))[1:]


def options_of(command, words):
    """Return a command and what is left of the words after its name and those of its parents."""
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, f"no such command: {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("page", PAGES)
def test_blocks_that_do_not_run_name_commands_and_options_that_exist(page):
    root = typer.main.get_command(app)
    for block in blocks(page):
        if block.kind != "sh" or not block.why_not:
            continue
        for words in commands(block.text):
            command, rest = options_of(root, words)
            known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
            used = {word.split("=")[0] for word in rest if word.startswith("--")}
            assert used <= known, (page, words)


def test_few_blocks_do_not_run():
    left_out = [(page, block.why_not) for page in PAGES for block in blocks(page) if block.why_not]
    assert len(left_out) <= 9, left_out


def test_notebooks_run_at_every_build_of_the_site():
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert 'nb_execution_mode = "force"' in conf and "nb_execution_raise_on_error = True" in conf
    assert {"docs/concepts.md", "docs/tutorials/prompts.md"} <= set(NOTEBOOKS)
    for page in NOTEBOOKS:
        assert "skip-execution" not in (ROOT / page).read_text(encoding="utf-8")
        for block in blocks(page):
            assert block.why_not or block.kind.startswith("{"), (page, block.text[:80])


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([A-Za-z_.]+)$", text, re.M))
    listed |= {name.split(".")[0] for name in listed}
    assert set(bg.__all__) - {"__version__"} <= listed


@pytest.mark.parametrize("page", ["README.md", "docs/start.md", "docs/index.md"])
def test_lines_are_short(page):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    assert max(len(line) for line in lines if not line.startswith("|")) <= 100

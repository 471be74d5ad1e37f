"""Every link between pages, to files of the source and to headings leads somewhere; offline."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (ROOT, ROOT / "docs", ROOT / "examples", ROOT / "paper", ROOT / ".github")
    for path in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
    if "_build" not in path.parts and "generated" not in path.parts
)
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.S | re.M)


def prose(page):
    return CODE.sub("", (ROOT / page).read_text(encoding="utf-8"))


def anchors(path):
    """Return the anchors of a page's headings, as MyST and GitHub make them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    found = set()
    for title in re.findall(r"^#{1,6} (.+)$", text, re.M):
        plain = re.sub(r"[`*\[\]]|\(.*?\.md\)", "", title).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def targets(page):
    return [link for link in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", SOURCES)
def test_relative_links_and_anchors_resolve(page):
    for link in targets(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page}: {link}; there are {anchors(target)}"


def test_there_are_links_to_check():
    assert sum(len(targets(page)) for page in SOURCES) > 50


def test_every_page_of_the_site_is_in_its_contents():
    docs = ROOT / "docs"
    index = (docs / "index.md").read_text(encoding="utf-8")
    entries = re.findall(r"^(?:.*<)?([a-z/-]+)>?$", index, re.M)
    pages = {
        path.relative_to(docs).with_suffix("").as_posix()
        for path in docs.rglob("*.md")
        if not {"_build", "generated"} & set(path.parts)
    }
    assert pages - {"index"} == set(entries) & pages


def built_metadata():
    pytest.importorskip("hatchling")
    hook, metadata = runpy.run_path(str(ROOT / "hatch_build.py")), {}
    hook["Description"].update(SimpleNamespace(root=ROOT), metadata)
    return metadata


def test_a_release_has_the_addresses_of_its_repository_and_other_builds_invent_none(monkeypatch):
    for key in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(key, raising=False)
    assert built_metadata()["urls"] == {}
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/bestgroup")
    urls = built_metadata()["urls"]
    assert urls["Source"] == "https://example.org/somebody/bestgroup"
    for key, part in (("Changelog", "blob/main/"), ("Documentation", "tree/main/")):
        assert (ROOT / urls[key].split(part)[1]).exists()


def test_readme_reads_on_a_package_index_without_the_source():
    text = built_metadata()["readme"]["text"]
    assert "not run" not in text and "demo.png" not in text and "pip install" in text
    assert all(link.startswith("https://") for link in LINK.findall(text))

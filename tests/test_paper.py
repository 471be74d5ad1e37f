"""The paper for JOSS has the sections that are asked for, cites what it lists, and says what is measured."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BODY = TEXT.split("---\n", 2)[2]


def test_the_sections_are_those_that_are_asked_for():
    assert re.findall(r"^# (.+)$", BODY, re.M) == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(BODY.split()) <= 1750


def test_citations_and_references_are_the_same():
    bib = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    listed = set(re.findall(r"^@\w+\{(\w+),", bib, re.M))
    assert set(re.findall(r"@([a-z]+\d*)", BODY)) == listed


def test_its_numbers_are_those_of_the_readme_and_the_lab_log():
    said = re.search(r"proven after ([\d,]+) pulls", (ROOT / "README.md").read_text())
    assert said and f"from {said[1]} of 4,800 evaluations" in " ".join(BODY.split())
    log = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (?:Pareto|best), N=.*\| ([\d.]+) \[[^|]*\| ([\d.]+) \| [\d.]+ \|$", log, re.M
    )
    gains, limits = ([float(row[k]) for row in rows] for k in (0, 1))
    said = re.findall(r"between (\d+) and (\d+) times fewer", BODY)
    assert len(rows) == 4 and len(said) == 2
    for (least, most), found in zip(said, (gains[:2], gains[2:]), strict=True):
        assert int(least) <= min(found) and max(found) <= int(most)
    low, high = re.search(r"at ([\d.]+) to ([\d.]+) times the information-theoretic", BODY).groups()
    assert float(low) == round(min(limits), 1) and float(high) == round(max(limits), 1)

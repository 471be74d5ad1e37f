"""The chain of tells: a row that was changed, left out, put in or moved since is named."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.proof.verify import verify_proof

MEANS = {"A": 2.0, "B": 0.0}


def told(folder, storage=None, batch=3):
    """Return a small study that has ended, with its rows, links and proof."""
    rng = np.random.default_rng(0)
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS}, {"u": "max", "seen": "watch"}, noise=bg.SubGaussian(1.0)
    )
    study = bg.create_study(
        "s", problem, bg.BestGroup([1.0], 0.5), delta=0.05,
        algorithm=bg.algorithm("eecb", radius="mixture"),
        storage=storage or f"sqlite:///{folder}/s.db",
    )  # fmt: skip
    while (tickets := study.ask(batch, repeats=2)) and study.head().state == "running":
        for ticket in tickets:
            values = [[rng.normal(MEANS[ticket.group], 1.0), 7.0] for _ in range(ticket.repeats)]
            study.tell(ticket, values)
    return study


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    study = told(folder)
    early = study.blocks()[4].chain.hex()
    key = folder / "key"
    key.write_text("a secret of sixteen bytes or more")
    study.export(folder / "rows.csv", chain=folder / "links.csv", key=key)
    study.save_proof(folder / "proof.json")
    return folder, early, key.read_bytes()


def says(files, rows=None, links=None, **given):
    """Return what verify finds with rows or links as they are given."""
    folder, _, _ = files
    return verify_proof(
        folder / "proof.json", rows or folder / "rows.csv", chain=links or folder / "links.csv",
        **given,
    )  # fmt: skip


def test_an_export_fits_its_chain_and_every_early_link(files):
    _, early, key = files
    found = says(files, witness=early, key=None)
    assert found.verified, found.lines()
    assert any("as they were told" in words for words in found.passed)
    assert any("the first 5 tells" in words for words in found.passed)
    assert found.proof.document["data"]["chain"]["link"]
    assert says(files, witness="0" * 32).failed == "chain"
    signed = says(files, key=key)  # the chain is signed, the proof is not
    assert signed.failed == "signature"


def test_the_last_link_is_signed(files, tmp_path):
    from bestgroup.proof.chain import check_chain
    from bestgroup.proof.format import Refused, parse, read_document

    folder, _, key = files
    proof = parse(read_document(folder / "proof.json"))
    given = proof, folder / "links.csv", folder / "rows.csv"
    assert "the last link is signed by the key" in check_chain(*given, key=key)
    with pytest.raises(Refused, match="not signed by this key"):
        check_chain(*given, key=b"another secret of many bytes")


def changed(files, folder, change, name="rows.csv"):
    """Return a copy of a file whose lines `change` has changed."""
    with (files[0] / name).open(newline="") as stream:
        lines = list(csv.reader(stream))
    change(lines)
    with (folder / name).open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    return folder / name


def refused(files, rows=None, links=None):
    """Return why the chain alone refuses; the proof's own digest of the rows is not asked."""
    from bestgroup.proof.chain import check_chain
    from bestgroup.proof.format import Refused, parse, read_document

    proof = parse(read_document(files[0] / "proof.json"))
    with pytest.raises(Refused) as told:
        check_chain(proof, links or files[0] / "links.csv", rows or files[0] / "rows.csv")
    return told.value.why


def test_rows_that_were_changed_since_are_named(files, tmp_path):
    def value(lines):
        lines[3][lines[0].index("u")] = "9.5"

    def watched(lines):
        lines[3][lines[0].index("seen")] = "8.0"

    def gone(lines):
        del lines[3]

    def last_gone(lines):
        del lines[-1]

    def swapped(lines):
        lines[3], lines[4] = lines[4], lines[3]

    def twice(lines):
        lines.insert(3, lines[3])

    def more(lines):
        last = list(lines[-1])
        last[2] = str(int(last[2]) + 1)
        lines.append(last)

    def renamed(lines):
        lines[3][1] = "y"

    why = refused(files, changed(files, tmp_path, value))
    assert "was changed since it was told" in why and "A, x, index" in why
    assert "was changed" in refused(files, changed(files, tmp_path, watched))
    assert "row index 2 of tell" in refused(files, changed(files, tmp_path, gone))
    assert "was left out" in refused(files, changed(files, tmp_path, last_gone))
    assert "row 3 (A, x, index 2) does not stand" in refused(
        files, changed(files, tmp_path, swapped)
    )
    assert "does not stand where" in refused(files, changed(files, tmp_path, twice))
    assert "was never told" in refused(files, changed(files, tmp_path, more))
    assert refused(files, changed(files, tmp_path, renamed))


def test_links_that_were_changed_are_refused(files, tmp_path):
    def cut(lines):
        del lines[-1]

    def missing(lines):
        del lines[5]

    def shorter(lines):
        del lines[-2]
        lines[-1][1:3] = [lines[-2][0], lines[-2][6]]

    def later(lines):
        lines[4][5] = "1.5"

    def told_twice(lines):
        lines[4][1:5] = lines[3][1:5]

    for change, why in (
        (cut, "is cut"),
        (missing, "tell 4 is left out"),
        (shorter, "never told"),
        (later, "tell 3"),
        (told_twice, "tell 3"),
    ):
        links = changed(files, tmp_path, change, "links.csv")
        assert why in refused(files, links=links), change.__name__


def test_memory_keeps_the_same_chain(tmp_path):
    study = told(tmp_path, "memory")
    study.export(tmp_path / "rows.csv", chain=tmp_path / "links.csv")
    study.save_proof(tmp_path / "proof.json")
    found = verify_proof(
        tmp_path / "proof.json", tmp_path / "rows.csv", chain=tmp_path / "links.csv"
    )
    assert found.verified, found.lines()
    with pytest.raises(bg.InvalidInput, match="a key signs the chain"):
        study.export(tmp_path / "rows.csv", key=tmp_path / "key")


def test_the_command_line(files, tmp_path):
    folder, early, _ = files

    def run(*words):
        given = [sys.executable, "-m", "bestgroup", *map(str, words)]
        return subprocess.run(given, capture_output=True, text=True, check=False)

    rows, links = tmp_path / "rows.csv", tmp_path / "links.csv"
    done = run(
        "study", "export", "s", rows, "--chain", links, "--storage", f"sqlite:///{folder}/s.db"
    )
    assert done.returncode == 0, done.stderr
    last = links.read_text().splitlines()[-1].split(",")[2]
    assert last in done.stderr
    proof = folder / "proof.json"
    done = run("verify", proof, rows, "--chain", links, "--link", early)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the first 5 tells" in done.stdout
    done = run("verify", proof, rows, "--chain", links, "--link", "ff", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["failed"] == "chain"
    with pytest.raises(bg.InvalidInput, match="is no chain of tells"):
        verify_proof(proof, rows, chain=proof)

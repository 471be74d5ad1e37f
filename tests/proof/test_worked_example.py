"""The example that docs/proof-format.md works out by hand."""

import ast
import copy
import json
import subprocess
import sys

from cases import write
from stranger import FOLDER, stranger_says

from bestgroup.proof.format import digest_of, parse
from bestgroup.proof.observations import read_observations
from bestgroup.proof.verify import verify_document
from bestgroup.proof.words import assumptions_of, statement_of

ROWS = [
    {"group": g, "arm": "a", "x": x}
    for g, values in (("A", (9.0, 11.0, 10.0, 10.0)), ("B", (-1.0, 1.0, 0.5, -0.5)))
    for x in values
]


def by_hand():
    columns = {"group": "group", "arm": "arm", "item": None, "index": None}
    rows = read_observations(ROWS, ["x"], columns)
    document = {
        "format": "bestgroup-proof",
        "version": 1,
        "problem": {"groups": [["A", ["a"]], ["B", ["a"]]], "dims": [["x", "max"]]},
        "noise": {
            "dims": [{"kind": "subgaussian", "scale": 1.0}],
            "arms": "arbitrary",
            "dependence": "arbitrary",
        },
        "goal": {"kind": "best", "weights": [1.0], "epsilon": 0.0},
        "delta": 0.05,
        "assumptions": [],
        "statement": "",
        "data": {"rows": 8, "columns": columns, "digest": rows.digest},
        "method": {
            "kind": "boxes",
            "budget": "fixed",
            "low": [1, 2],
            "high": [1, 2],
            "process": [{"name": "union", "fixed_at": 0}],
        },
        "claims": [[0, 0, 0, 0, 4, 8.1], [1, 0, 0, 1, 4, 1.9]],
        "answer": {"in": [0], "out": [1], "not_needed": []},
    }
    proof = parse(document)
    document["assumptions"], document["statement"] = assumptions_of(proof), statement_of(proof)
    return {**document, "digest": digest_of(document)}


def test_both_verifiers_accept_it(tmp_path):
    document, table = by_hand(), write(ROWS, tmp_path / "rows.csv")
    assert verify_document(document, table).verified
    assert stranger_says(document, table) is None


def test_a_bound_beyond_the_boundary_is_refused_at_its_claim(tmp_path):
    document, table = copy.deepcopy(by_hand()), write(ROWS, tmp_path / "rows.csv")
    document["claims"][1][5] = 1.89  # 4 * 1.89 = 7.56 < 7.566
    document["digest"] = digest_of(document)
    found = verify_document(document, table)
    assert (found.failed, found.claim) == ("claims", 1)
    assert "at claim 1" in stranger_says(document, table)


def test_shares_beyond_delta_are_refused(tmp_path):
    document, table = copy.deepcopy(by_hand()), write(ROWS, tmp_path / "rows.csv")
    document["method"]["high"] = [51, 100]
    document["digest"] = digest_of(document)
    assert verify_document(document, table).failed == "shares"
    assert stranger_says(document, table).startswith("shares")


def test_shares_and_precisions_that_may_have_been_chosen_afterwards_are_refused(tmp_path):
    table = write(ROWS, tmp_path / "rows.csv")
    for change in ({"low": [1, 3], "high": [2, 3]}, {"low": [1, 5], "high": [1, 5]}):
        document = copy.deepcopy(by_hand())
        document["method"] |= change
        document["digest"] = digest_of(document)
        assert verify_document(document, table).failed == "parameters"
        assert stranger_says(document, table).startswith("parameters")
    document = copy.deepcopy(by_hand())
    document["method"]["process"] = [{"name": "mixture", "precisions": [3.0], "fixed_at": 0}]
    document["digest"] = digest_of(document)
    assert verify_document(document, table).failed == "parameters"
    assert stranger_says(document, table).startswith("parameters")


def test_files_of_version_1_are_still_verified(tmp_path):
    document, table = copy.deepcopy(by_hand()), write(ROWS, tmp_path / "rows.csv")
    assert document["version"] == 1
    assert verify_document(document, table).verified
    document["version"] = 5
    document["digest"] = digest_of(document)
    assert verify_document(document, table).failed == "format"
    assert stranger_says(document, table).startswith("format")


def test_the_independent_verifier_is_short_files_with_nothing_of_ours():
    files = {file.stem: file.read_text() for file in FOLDER.glob("*.py")}
    for text in files.values():
        lines = text.splitlines()
        assert max(map(len, lines)) <= 100
        assert len(lines) <= 400
        names = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(text))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert names - set(sys.stdlib_module_names) <= {"mpmath", *files}


def test_the_command_of_the_independent_verifier(tmp_path):
    proof, table = tmp_path / "proof.json", write(ROWS, tmp_path / "rows.csv")
    proof.write_text(json.dumps(by_hand()))
    command = [sys.executable, FOLDER / "verify_proof.py", proof, table]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"verified {by_hand()['digest']}"
    write([{**row, "x": row["x"] + 1.0} for row in ROWS], table)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "NOT verified"
    proof.write_text("{")
    for missing in ([proof, table], [tmp_path / "no.json", table], [table]):
        done = subprocess.run([*command[:2], *missing], capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        assert not done.stderr


def test_the_independent_verifier_prints_what_it_has_checked_and_no_words_of_the_file(tmp_path):
    document, table = copy.deepcopy(by_hand()), write(ROWS, tmp_path / "rows.csv")
    document["statement"], document["assumptions"] = "B is the best for certain", ["none"]
    document["goal"]["epsilon"] = 0.25  # the claims show that, too
    document["digest"] = digest_of(document)
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(document))
    command = [sys.executable, FOLDER / "verify_proof.py", proof, table]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "for certain" not in done.stdout and "none\n-" not in done.stdout
    assert "in: A\nout: B" in done.stdout and "within epsilon (0.25)" in done.stdout
    assert "with probability at least 1 - 0.05" in done.stdout
    assert "- x: larger is better; noise: subgaussian scale 1.0" in done.stdout
    assert verify_document(document, table).failed == "answer"


def test_every_kind_of_proof_has_words_of_the_independent_verifier():
    from stranger import stranger

    vectors = FOLDER / "vectors"
    for entry in json.loads((vectors / "index.json").read_text()):
        if entry["proof"].startswith("selections"):  # slow, and their goals are others' too
            continue
        document, said = json.loads((vectors / entry["proof"]).read_text()), []
        assert stranger.verify(document, vectors / entry["table"], said=said) is None
        text = "\n".join(said)
        for name, _ in document["problem"]["groups"]:
            assert name in "".join(said[:4])
        assert ("for certain" in text) == (document["method"]["kind"] == "pool")
        for weight in document["goal"].get("weights", []):
            shown = weight if isinstance(weight, list) else [weight]
            assert ", ".join(repr(float(w)) for w in shown) in text
        for limit in document["problem"].get("limits", []):
            assert f"{limit[1]} {limit[2]!r}" in text

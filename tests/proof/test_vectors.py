"""Both verifiers give the verdicts that verifier/vectors states for whoever writes another one."""

import json

import pytest
from stranger import stranger_says
from vectors import VECTORS, changed

from bestgroup.proof.verify import verify_document

INDEX = json.loads((VECTORS / "index.json").read_text())


@pytest.mark.parametrize("entry", INDEX, ids=lambda entry: entry["proof"])
def test_the_verdicts_of_both_verifiers(entry):
    document = json.loads((VECTORS / entry["proof"]).read_text())
    table = VECTORS / entry["table"]
    assert verify_document(document, table).verified
    assert stranger_says(document, table) is None
    for change in entry["changes"]:
        other = changed(document, change["at"], change["to"])
        assert other["digest"] == change["digest"]
        said, accepted = stranger_says(other, table), change["verdict"] == "accepted"
        assert (said is None) == accepted
        assert accepted or said.startswith(change["verdict"])
        assert verify_document(other, table).verified == accepted


def test_vectors_are_small_and_show_every_method():
    files = list(VECTORS.iterdir())
    assert sum(file.stat().st_size for file in files) < 240_000
    proofs = [json.loads((VECTORS / entry["proof"]).read_text()) for entry in INDEX]
    kinds = {"boxes", "pairs", "items", "selections", "directions", "item selections", "pool"}
    assert kinds | {"item units", "item bounds"} == {
        document["method"]["kind"] for document in proofs
    }
    assert {file.name for file in files} == {"index.json"} | {
        entry[key] for entry in INDEX for key in ("proof", "table")
    }

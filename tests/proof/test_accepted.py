"""Every kind of evidence gives files that both verifiers accept, within the limits of the format."""

import json
from pathlib import Path

import pytest
from cases import GOALS, noise_of, proof_of, rows_of, write
from jsonschema.validators import validator_for
from stranger import stranger_says

import bestgroup as bg
from bestgroup.proof.format import MOST_CLAIM
from bestgroup.proof.verify import verify_document, verify_proof

KINDS = ["subgaussian", "bounded", "bernoulli", "gaussian"]
SCHEMA = json.loads((Path(bg.__file__).parent / "proof" / "schema.json").read_text())
BY_SCHEMA = validator_for(SCHEMA)(SCHEMA)


def accepted(document, table):
    """Check that both verifiers, and the schema, accept a document."""
    BY_SCHEMA.validate(document)
    found = verify_document(document, table)
    assert found.verified, found.lines()
    assert stranger_says(document, table) is None
    assert all(
        len(json.dumps(row, separators=(",", ":"))) <= MOST_CLAIM for row in document["claims"]
    )
    return found


def test_the_schema_is_one():
    BY_SCHEMA.check_schema(SCHEMA)


@pytest.mark.parametrize("goal", ["pareto", "best"])
@pytest.mark.parametrize("kind", KINDS)
def test_boxes_of_every_noise_model(kind, goal, tmp_path):
    table = write(rows_of(kind), tmp_path / "rows.csv")
    found = bg.certify(table, GOALS[goal], noise=noise_of(kind))
    document = proof_of(found, tmp_path)
    checked = accepted(document, table)
    names = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
    assert tuple(names) == found.accepted
    assert checked.lines()[-1] == f"verified {document['digest']}"


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_every_noise_model(kind, tmp_path):
    """At counts at which the answer is only just proven, so that no verifier may lose anything."""
    noise = noise_of(kind, "independent")
    rows = rows_of(kind, 400)
    decided = None
    low, high = 1, 400
    while low < high:  # the first count at which A is in and B is out
        count = (low + high) // 2
        decided = bg.certify(rows[: 6 * count], GOALS["pareto"], noise=noise)
        low, high = (
            (low, count) if len(decided.accepted + decided.rejected) >= 2 else (count + 1, high)
        )
    for count in (high, high + 7):
        table = write(rows[: 6 * count], tmp_path / "rows.csv")
        found = bg.certify(table, GOALS["pareto"], noise=noise)
        if found.accepted or found.rejected:
            document = proof_of(found, tmp_path)
            assert document["method"]["kind"] == "pairs"
            accepted(document, table)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arms", ["arbitrary", "independent"])
def test_dims_to_be_minimised(kind, arms, tmp_path):
    table = write(rows_of(kind, mirrored=True), tmp_path / "rows.csv")
    found = bg.certify(table, GOALS["pareto"], noise=noise_of(kind, arms), minimise=["v"])
    assert "A" in found.accepted
    accepted(proof_of(found, tmp_path), table)


def test_a_model_for_each_dim_and_a_watched_dim(tmp_path):
    rows = rows_of("gaussian")
    for k, row in enumerate(rows):
        row["c"], row["seen"] = float((k * 7 + (row["group"] == "A")) % 3 > 0), k
    table = write(rows, tmp_path / "rows.csv")
    problem = bg.Problem(
        {g: ["x", "y"] for g in "ABC"},
        {"u": "max", "v": "max", "c": "max", "seen": "watch"},
        noise={
            "u": bg.Gaussian(arms="arbitrary"),
            "v": bg.SubGaussian(1.0, arms="arbitrary"),
            "c": bg.Bernoulli(arms="arbitrary"),
        },
    )
    accepted(proof_of(bg.certify(table, bg.ParetoGroups(0.3), problem), tmp_path), table)


def test_arms_as_they_came(tmp_path):
    table = write(rows_of("subgaussian"), tmp_path / "rows.csv")
    noise = noise_of("subgaussian")
    found = bg.certify(table, GOALS["best"], noise=noise, arms_fixed=False)
    document = proof_of(found, tmp_path)
    assert document["method"]["budget"] == "as they came"
    accepted(document, table)


def test_a_table_that_was_parsed_differently_is_the_same_table(tmp_path):
    rows = rows_of("subgaussian", 120)
    found = bg.certify(rows, GOALS["pareto"], noise=noise_of("subgaussian"))
    document = proof_of(found, tmp_path)
    assert verify_proof(tmp_path / "proof.json", rows).verified
    assert verify_document(document, write(rows, tmp_path / "rows.csv")).verified


def test_signatures(tmp_path):
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_text("a secret of sixteen bytes or more")
    other.write_text("another secret of many bytes")
    rows = rows_of("subgaussian", 100)
    found = bg.certify(rows, GOALS["pareto"], noise=noise_of("subgaussian"))
    found.save_proof(tmp_path / "signed.json", key=key)
    path = tmp_path / "signed.json"
    assert verify_proof(path, rows, key=key.read_bytes()).verified
    assert any("not checked" in words for words in verify_proof(path, rows).passed)
    assert verify_proof(path, rows, key=other.read_bytes()).failed == "signature"
    found.save_proof(path)
    assert verify_proof(path, rows, key=key.read_bytes()).failed == "signature"
    key.write_text("short")
    with pytest.raises(bg.InvalidInput, match="16 bytes or more"):
        found.save_proof(path, key=key)

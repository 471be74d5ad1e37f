"""`bestgroup verify` and `certify --proof` as a user types them."""

import json
import subprocess
import sys

import numpy as np


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "bestgroup", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_proof_is_written_and_verified_and_a_changed_table_is_not(tmp_path):
    rng = np.random.default_rng(3)
    lines = ["group,arm,score"]
    lines += [
        f"{g},a,{rng.uniform(low, low + 0.5):.6f}"
        for _ in range(120)
        for g, low in (("A", 0.5), ("B", 0))
    ]
    table, proof = tmp_path / "rows.csv", tmp_path / "proof.json"
    table.write_text("\n".join(lines))
    code, out, err = run(
        "certify", table, "--noise", "bounded:0,1", "--weights", "1", "--proof", proof
    )
    assert code == 0, err
    assert "Proof file" in out
    code, out, err = run("verify", proof, table)
    assert code == 0, out + err
    digest = json.loads(proof.read_text())["digest"]
    assert out.splitlines()[-1] == f"verified {digest}"
    assert "provided that score: all values lie between 0.0 and 1.0" in out
    table.write_text("\n".join(lines[:-1]))
    code, out, err = run("verify", proof, table)
    assert code == 1
    assert out.splitlines()[-1] == "NOT verified"
    assert "verified " + digest not in out
    code, out, err = run("verify", proof, table, "--json")
    assert code == 1
    assert json.loads(out)["failed"] == "data"
    code, out, err = run("verify", table, table)
    assert code == 2
    assert err.startswith("error:")
    code, out, err = run("verify", proof, table.with_name("no.csv"))
    assert code == 2 and "no such file" in err and not out

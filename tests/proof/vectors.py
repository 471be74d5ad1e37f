"""Write verifier/vectors: small proofs with their tables, and changes of them with the verdict on each.

    PYTHONPATH=src python tests/proof/vectors.py

Both verifiers judge every change, and must agree.
"""

import copy
import json

import sources
from cases import write
from mutants import get, numbers_in, put
from stranger import FOLDER, stranger_says

from bestgroup.proof.format import digest_of
from bestgroup.proof.verify import verify_document

VECTORS = FOLDER / "vectors"
SLOW = ("selections, certify, bounded", "selections, adaptive, bernoulli")  # one change each
# Long tables, of processes and methods that others show, too.
LONG = (
    "te, paper", "age, stitched", "ge, mixture", "eecb, mixture", "averages, adaptive",
    "directions, adaptive", "directions and boxes", "boxes, arms that come and go", "items, repeats",
    "boxes, map", "boxes, map of two simplices", "items, clusters of a pool",
    "item selections, clusters of a pool", "pairs with an expected answer, bernoulli",
    "pairs with an expected answer, bounded",
    "pairs with an expected answer, gaussian",
)  # fmt: skip


def changes_of(document):
    """Yield places in a document and other numbers for them."""
    groups = len(document["problem"]["groups"])
    yield ["answer", "in"], list(range(groups))
    yield ["delta"], document["delta"] * 1e-9
    method = sorted(numbers_in(document["method"]), key=len)
    if method:
        yield ["method", *method[0]], get(document["method"], method[0]) + 1
    if "measurements" in document["method"]:
        yield ["method", "leaders", 0, 3], 1.5
        yield ["method", "measurements", 0, 1, 1], document["method"]["measurements"][0][0][1]
    if document["claims"]:
        yield ["claims", len(document["claims"]) - 1, 0], 10**6
        yield from tighter(document["claims"][0], document["method"]["kind"])


def tighter(claim, kind):
    """Yield a place of the first claim at which it would say more, or say it earlier."""
    at = {
        "boxes": 4,
        "pairs": 6,
        "items": 6,
        "item selections": 2,
        "item units": len(claim) - 1,
        "item bounds": 4,
        "selections": 4,
        "directions": 4,
    }[kind]
    if len(claim) == 6:
        at = 4
    yield ["claims", 0, at], 1 if isinstance(claim[at], int) else claim[at] / 100


def changed(document, place, value):
    """Return a document with another value at a place, and its own digest again."""
    other = copy.deepcopy(document)
    put(other, place, value)
    other["digest"] = digest_of(other)
    return other


def vector_of(name, tables):
    """Write a proof and its table; returns their entry in the index."""
    document, rows, _ = sources.source(name)
    stem = name.replace(",", "").replace(" ", "-")
    table = tables.setdefault(json.dumps(rows), f"{stem}.csv")
    path = write(rows, VECTORS / table)
    (VECTORS / f"{stem}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")
    changes = []
    for place, value in list(changes_of(document))[: 1 if name in SLOW else None]:
        other = changed(document, place, value)
        said, ours = stranger_says(other, path), verify_document(other, path)
        if "in words" in (
            ours.why or ""
        ):  # it holds, but for words that the other one does not read
            continue
        assert (said is None) == ours.verified, (name, place, value, said)
        verdict = "accepted" if said is None else said.split(":")[0].split(" ")[0]
        changes.append({"at": place, "to": value, "digest": other["digest"], "verdict": verdict})
    return {"proof": f"{stem}.json", "table": table, "changes": changes}


def shortened(value, kind=""):
    """Return a value with few digits; normal values must not tie."""
    return round(float(value), 5 if kind == "gaussian" else 3)


def main():
    """Write all vectors and their index."""
    sources.kept = shortened
    VECTORS.mkdir(exist_ok=True)
    for old in VECTORS.iterdir():
        old.unlink()
    tables = {}
    index = [vector_of(name, tables) for name in sources.SOURCES if name not in LONG]
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in index)
    (VECTORS / "index.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()

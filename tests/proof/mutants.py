"""Proofs and tables with one thing changed, as somebody might who wants them to say more.

Every mutant is given as the file would be if the change were made by hand, and once more with all
digests computed again, so that the arithmetic alone must find it.
"""

import copy
import hashlib
import random

from stranger import stranger

from bestgroup.proof.format import digest_of
from bestgroup.proof.observations import read_observations

NUDGES = (0.5, 2.0, 1.1, 1.001, 1.0 + 1e-6, -1.0)


def nudged(draw, value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int):
        return draw.choice([value + 1, value - 1, 2 * value, 0, value + 7])
    return draw.choice([value * draw.choice(NUDGES), value + draw.choice([1e-6, -0.01, 0.5]), 0.0])


def numbers_in(entry, path=()):
    """Yield the place of every number in a document."""
    if isinstance(entry, dict):
        for key, inner in entry.items():
            yield from numbers_in(inner, (*path, key))
    elif isinstance(entry, list):
        for k, inner in enumerate(entry):
            yield from numbers_in(inner, (*path, k))
    elif isinstance(entry, int | float) and not isinstance(entry, bool):
        yield path


def put(document, path, value):
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def get(document, path):
    for step in path:
        document = document[step]
    return document


def change_value(draw, document, rows):
    row = draw.choice(rows)
    row[draw.choice(["u", "v"])] = nudged(draw, row["u"])


def change_row(draw, document, rows):
    k = draw.randrange(len(rows))
    draw.choice([lambda: rows.pop(k), lambda: rows.insert(k, dict(rows[k]))])()


def change_name(draw, document, rows):
    row = draw.choice(rows)
    row["group"], row["arm"] = draw.choice("ABC"), draw.choice("xy")


def change_order(draw, document, rows):
    a, b = draw.randrange(len(rows)), draw.randrange(len(rows))
    rows[a], rows[b] = rows[b], rows[a]


def change_level(draw, document, rows):
    document["delta"] = draw.choice([0.01, 0.001, 0.2, 0.049, document["delta"] / 2])


def change_share(draw, document, rows):
    places = [p for p in numbers_in(document["method"])] or [("kind",)]
    path = draw.choice(places)
    put(document["method"], path, nudged(draw, get(document["method"], path)))


def change_goal(draw, document, rows):
    places = list(numbers_in(document["goal"]))
    path = draw.choice(places)
    put(document["goal"], path, nudged(draw, get(document["goal"], path)))


def change_noise(draw, document, rows):
    places = list(numbers_in(document["noise"]))
    if places:
        path = draw.choice(places)
        put(document["noise"], path, nudged(draw, get(document["noise"], path)))
    else:
        document["noise"]["arms"] = draw.choice(["independent", "arbitrary"])


def change_claim(draw, document, rows):
    if document["claims"]:  # a complete pool has none
        row = draw.choice(document["claims"])
        k = draw.randrange(len(row))
        row[k] = nudged(draw, row[k])


def change_count(draw, document, rows):
    """Let a claim count more or fewer values than it did."""
    if document["claims"]:
        row = draw.choice(document["claims"])
        k = draw.choice([k for k, x in enumerate(row) if isinstance(x, int)])
        row[k] = max(0, row[k] + draw.choice([-1, 1, -3, 3, 10]))


def drop_claim(draw, document, rows):
    if document["claims"]:
        document["claims"].pop(draw.randrange(len(document["claims"])))


def repeat_claim(draw, document, rows):
    if document["claims"]:
        document["claims"].append(list(draw.choice(document["claims"])))


def change_order_of_items(draw, document, rows):
    order = document["method"].get("order")
    if order:
        a, b = draw.randrange(len(order)), draw.randrange(len(order))
        if isinstance(order[a], list) and draw.random() < 0.5:  # an item joins another cluster
            order[b].append(order[a].pop())
        elif draw.random() < 0.5:
            order[a], order[b] = order[b], order[a]
        else:
            order.pop(a)


WORDS = {
    "budget": [
        "fixed", "as they came", "scouted", "union", "leaders", "equal", "room", "terms", "table",
        "pairs", "measured",
    ],
    "target": ["pool", "population"],
    "ordered_by": ["digest", "given"],
    "slack": ["apart", "within"],
    "kind": ["boxes", "pairs", "items", "pool", "selections", "directions", "item units", "item bounds"],
}  # fmt: skip
PROCESSES = [
    "mixture", "union", "stitched", "fixed", "betting", "jeffreys", "t-mixture", "normal", "symmetric",
]  # fmt: skip


def change_method(draw, document, rows):
    """Have the same claims made in another way."""
    method = document["method"]
    if "clusters" in method and draw.random() < 0.3:
        method = method["clusters"]
    key = draw.choice([key for key in (*WORDS, "process") if key in method])
    if key != "process":
        method[key] = draw.choice(WORDS[key])
    elif isinstance(method[key], list):
        draw.choice(method[key])["name"] = draw.choice(PROCESSES)
    else:
        method[key]["name"] = draw.choice(PROCESSES)


def change_arms(draw, document, rows):
    noise = document["noise"]
    key = draw.choice(["arms", "dependence"])
    noise[key] = "arbitrary" if noise[key] == "independent" else "independent"


def change_answer(draw, document, rows):
    answer = document["answer"]
    if "mapped" in answer and draw.random() < 0.5:
        path = draw.choice(list(numbers_in(answer["mapped"])))
        put(answer["mapped"], path, nudged(draw, get(answer["mapped"], path)))
        return
    where = [key for key in ("in", "out", "not_needed") if answer[key]]
    source, target = draw.choice(where), draw.choice(["in", "out", "not_needed"])
    group = answer[source].pop(draw.randrange(len(answer[source])))
    answer[target].append(group)


def change_direction(draw, document, rows):
    dim = draw.choice(document["problem"]["dims"])
    dim[1] = "min" if dim[1] == "max" else "max"


def change_words(draw, document, rows):
    if draw.random() < 0.5:
        document["assumptions"].pop()
    else:
        document["statement"] = document["statement"].replace("at least 0", "at least 1 - 0.0")


def change_gone(draw, document, rows):
    """Let other arms have left, or delta be for fewer."""
    problem, method = document["problem"], document["method"]
    if "gone" not in problem:
        return
    what = draw.choice(["forget", "return", "leave", "room"])
    if what == "room":
        method["room"] = draw.choice([1, 3, method["room"] - 1, method["room"] + 1])
    elif what == "forget":
        problem["gone"].pop(draw.randrange(len(problem["gone"])))
    elif what == "return":
        problem["groups"].append(problem["gone"].pop())
    else:
        group = draw.choice(problem["groups"])
        problem["gone"].append([group[0], [group[1].pop()]])


def change_measure(draw, document, rows):
    """Let other arms count, or a group be worth something else."""
    problem, goal = document["problem"], document["goal"]
    what = draw.choice(["worth", "limit", "no limit", "m"])
    if what == "worth":
        problem["worth"] = draw.choice(["mean", "worst", ["kth", 2], ["quantile", 0.4], "median"])
    elif what == "limit" and "limits" in problem:
        limit = draw.choice(problem["limits"])
        k = draw.randrange(4)
        limit[k] = {"<=": ">=", ">=": "<="}.get(limit[k]) or nudged(draw, limit[k])
    elif what == "limit":
        problem["limits"] = [[draw.randrange(3), draw.choice(["<=", ">="]), 0.0, 0.1]]
    elif what == "no limit":
        problem.pop("limits", None)
    elif "m" in goal:
        goal["m"] = draw.choice([1, 2, 3, 0])


KINDS = [
    change_value, change_row, change_name, change_order, change_level, change_share, change_goal,
    change_noise, change_claim, change_claim, drop_claim, repeat_claim, change_answer,
    change_direction, change_words, change_count, change_order_of_items, change_method, change_arms,
    change_measure, change_gone,
]  # fmt: skip


def mutants(document, rows, count, seed):
    """Yield (name, changed document, changed rows, whether digests were computed again)."""
    draw = random.Random(seed)
    made, tried = 0, draw.randrange(len(KINDS))
    while made < count:
        change = KINDS[tried % len(KINDS)]
        tried += 1
        other, table = copy.deepcopy(document), [dict(row) for row in rows]
        change(draw, other, table)
        if other == document and table == rows:
            continue
        made += 1
        yield change.__name__, other, table, False
        renewed = copy.deepcopy(other)
        renew(renewed, table)
        yield change.__name__, renewed, table, True


def renew(document, rows):
    """Compute all digests of a changed proof again."""
    dims = [name for name, _ in document["problem"]["dims"]]
    try:
        found = read_observations(rows, dims, document["data"]["columns"])
        document["data"]["rows"], document["data"]["digest"] = found.rows, found.digest
    except Exception:  # rows that cannot be read keep the old digest
        document["data"]["digest"] = hashlib.sha256(b"").hexdigest()
    document["digest"] = digest_of(document)
    assert stranger.digest(document) == document["digest"]

"""What a proof that was accepted says, and what it rests on: in words made from what was checked.

The words that the file itself has (`statement`, `assumptions`) are not read.
"""

WAYS = {"max": "larger is better", "min": "smaller is better", "watch": "only has a limit"}
TWO_ARMS = ("given the past, the next pull of an arm has its mean and that noise",
            "pulls of different arms are independent")
ONE_ARM = ("given the arm's own earlier pulls, its next pull has its mean and that noise",
           "pulls of different arms may depend on each other in any way")
UP_TO = "follow from the values up to then, and were not chosen by later ones"


def numbers(values):
    return ", ".join(f"{float(x)!r}" for x in values)


def goal_words(proof):
    """Return what holds of groups that are in and out."""
    goal, slack = proof.goal, numbers(proof.epsilon)
    if goal == "pareto":
        return ("no group that is out is Pareto optimal, and none that is in is beaten by another "
                f"one by more than epsilon ({slack} by dim) in every dim")
    if goal == "map":
        many, rows = proof.mapped, "; ".join(map(numbers, proof.given_weights))
        return (f"for the weights between {rows}: each group is within {slack} of the best at all "
                f"weights that are mapped to it ({many['some']} of {many['of']} weights of a fixed "
                "grid are mapped to some group), a group that is in at some of them, and no group "
                "that is out is the best for any weight")
    best = "the best one" if goal == "best" else f"the worth of number {proof.top}"
    out = "the only best one" if goal == "best" else f"among the {proof.top} best (unless it ties)"
    return (f"with the weights {numbers(proof.weights)}: no group that is out is {out}, and a "
            f"group that is in is within epsilon ({slack}), times the sum of weights, of {best}")


def worth_words(problem):
    """Return what a group is worth, and which arms count."""
    worth, dims = problem.get("worth", "best"), [entry[0] for entry in problem["dims"]]
    name, n = (worth, 0) if isinstance(worth, str) else worth
    which = {"best": "the largest mean of its arms", "worst": "the least mean of its arms",
             "mean": "the average of the means of its arms", "kth": f"mean number {n}, from the "
             "largest on, of its arms", "quantile": f"the quantile {n!r} of the means of its arms"}
    found = [f"a group is worth, in each dim, {which[name]}"]
    found += [f"an arm counts if its mean keeps {dims[d]} {sense} {at!r}, does not if it is beyond "
              f"that by more than {tolerance!r}, and either is right in between"
              for d, sense, at, tolerance in problem.get("limits", [])]
    return found + [f"arms that have left: {group}, {', '.join(arms)}"
                    for group, arms in problem.get("gone", [])]


def dim_words(entry, noise):
    name, way, *treatment = entry
    law = ", ".join(f"{key} {value}" for key, value in noise.items() if key != "kind")
    treated = f", treated by {treatment[0]}" if treatment else ""
    return f"{name}: {WAYS[way]}{treated}; noise: {noise['kind']}{' ' + law if law else ''}"


def method_words(proof):
    """Return what the method takes for granted of rows, arms and items."""
    method, kind = proof.method, proof.method["kind"]
    budget, many = method.get("budget"), method.get("repeats", 1)
    if "order" not in method:
        words = list(ONE_ARM if kind == "boxes" and "sums" not in method else TWO_ARMS)
        words += [f"the counts, and shares of delta, that were fixed while rows came {UP_TO}"
                  ] * (budget in ("scouted", "named", "leaders", "measured"))
        words += [f"the arms and pulls of each measurement of a leader {UP_TO}"
                  ] * (budget == "measured")
        words += ["the weighted sum of the dims of a pull has symmetric noise, too"
                  ] * (str(proof.method.get("process")).count("symmetric and sums"))
    else:
        what = "clusters of items" if "clusters" in method else "items"
        pool = method["target"] == "pool"
        words = [f"means are those over a pool of {method['count']} items" if pool else
                 f"{what} are independent draws, and means are expectations of an item"]
        words += ([f"the order of the {what} was drawn at random before any value was seen"
                   if method["ordered_by"] == "given" else "the order is that of digests of names"
                   ] if kind != "pool" else [])
        words += [f"a cluster has at most {method['clusters']['largest']} items, fixed beforehand"
                  ] if "clusters" in method else []
        words += [f"terms and leaders {UP_TO}"] * (budget == "terms")
        words += [f"the value of an arm on an item is the mean of {many} rows"] * (many != 1)
    words += ["the arms that stand for a leader were chosen for costs"] * ("costs" in method)
    changed = {"as they came": "arms may have been added because of what was seen",
               "room": "arms may have come and gone because of what was seen"}
    return [*words, changed.get(budget, "groups and arms were fixed before values were seen"),
            "dims, the goal, limits and delta were fixed before values were seen",
            "no row was left out or picked because of its value",
            "how long an evaluation takes, and whether it fails, says nothing about its value"]


def lines(proof, document, found):
    """Return a page on what was verified."""
    decided = [i for own in found.values() for i in own]
    found = {**found, "open": [i for i in range(proof.N) if i not in decided]}
    for key, own in found.items():
        yield f"{key}: {', '.join(proof.groups[i] for i in own) or 'none'}"
    sure = "for certain" if proof.method["kind"] == "pool" else (
        f"with probability at least 1 - {float(proof.delta)!r}")
    yield f"{sure}, {goal_words(proof)};"
    yield from worth_words(document["problem"])
    yield "if"
    pairs = zip(document["problem"]["dims"], document["noise"]["dims"])
    yield from (f"- {dim_words(*pair)}" for pair in pairs)
    yield f"- dims of one pull: {document['noise']['dependence']}"
    if document["data"].get("gaps"):
        yield "- whether a value is missing has nothing to do with what it is"
    yield from (f"- {words}" for words in method_words(proof))

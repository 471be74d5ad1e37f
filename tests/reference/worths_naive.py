"""Limits and worths by definition: sets of arms, sorted lists, every set F that is right."""

from itertools import chain, combinations


def sets_between(keeps, tolerable):
    """Yield every set F of arms with keeps <= F <= tolerable."""
    free = sorted(tolerable - keeps)
    for chosen in chain.from_iterable(combinations(free, n) for n in range(len(free) + 1)):
        yield keeps | set(chosen)


def truth_sets(means, limits):
    """Return F_0 and F_1 as sets of (group, arm); limits are (dim, sign, at, tolerance)."""
    arms = [(i, j) for i, rows in enumerate(means) for j in range(len(rows))]
    beyond = {a: [s * (means[a[0]][a[1]][d] - at) for d, s, at, _ in limits] for a in arms}
    keeps = {a for a in arms if all(x <= 0 for x in beyond[a])}
    slack = [limit[3] for limit in limits]
    tolerable = {a for a in arms if all(x <= t for x, t in zip(beyond[a], slack, strict=True))}
    return keeps, tolerable


def worth(values, rank):
    """Return the rank-th largest value, the average for rank 0; None if there are too few."""
    if rank == 0:
        return sum(values) / len(values)
    return sorted(values, reverse=True)[rank - 1] if len(values) >= rank else None


def worths(means, counts, ranks, dims):
    """Return the worth of every group in each dim, None for a group that is out."""
    found = []
    for i, rows in enumerate(means):
        own = [rows[j] for j in range(len(rows)) if (i, j) in counts]
        by_dim = [worth([row[d] for row in own], ranks[i]) for d in range(dims)]
        found.append(None if None in by_dim else by_dim)
    return found


def is_false(status, R, epsilon, weights):
    """Return whether statuses say something false of groups with these worths."""
    N = len(R)
    for i in range(N):
        rivals = [R[j] for j in range(N) if j != i and R[j] is not None]
        if R[i] is None:
            if status[i] == "in":
                return True
            continue
        if weights is None:
            beaten = any(all(b > a for a, b in zip(R[i], r, strict=True)) for r in rivals)
            far = any(
                all(b > a + e for a, b, e in zip(R[i], r, epsilon, strict=True)) for r in rivals
            )
        else:
            own = sum(w * x for w, x in zip(weights, R[i], strict=True))
            best = max(
                (sum(w * x for w, x in zip(weights, r, strict=True)) for r in rivals), default=own
            )
            beaten, far = best >= own and bool(rivals), best > own + epsilon * sum(weights) + 1e-12
        if (status[i] == "in" and far) or (status[i] == "out" and not beaten):
            return True
    return False


def statuses(low, high, limits, ranks, dims, epsilon, weights):
    """Return what boxes [group][arm][dim] prove, by sets and sorted lists."""
    N = len(low)
    arms = [(i, j) for i in range(N) for j in range(len(low[i]))]
    counts, barred = set(), set()
    for i, j in arms:
        ends = [
            sorted((s * (low[i][j][d] - at), s * (high[i][j][d] - at))) for d, s, at, _ in limits
        ]
        if all(most <= t for (_, most), (*_, t) in zip(ends, limits, strict=True)):
            counts.add((i, j))
        elif any(least > 0 for least, _ in ends):
            barred.add((i, j))
    lower = worths(low, counts if limits else set(arms), ranks, dims)
    upper = worths(high, set(arms) - barred, ranks, dims)
    status = ["undecided"] * N
    for i in range(N):
        if upper[i] is None:
            status[i] = "out"
    if weights is not None:
        return _best(status, lower, upper, epsilon, weights)
    for i in range(N):
        for j in range(N):
            if i != j and lower[j] and upper[i]:
                if all(a > b for a, b in zip(lower[j], upper[i], strict=True)):
                    status[i] = "out"
    out = {i for i in range(N) if status[i] == "out"}
    for i in set(range(N)) - out:
        if lower[i] and all(
            any(a + e >= b for a, b, e in zip(lower[i], upper[j], epsilon, strict=True))
            for j in range(N)
            if j != i and j not in out
        ):
            status[i] = "in"
    return status


def _best(status, lower, upper, epsilon, weights):
    N = len(status)
    least = [lo and sum(w * x for w, x in zip(weights, lo, strict=True)) for lo in lower]
    most = [up and sum(w * x for w, x in zip(weights, up, strict=True)) for up in upper]
    slack = epsilon * sum(weights)
    for k in range(N):
        if any(
            i != k and least[i] is not None and upper[k] and least[i] > most[k] for i in range(N)
        ):
            status[k] = "out"
    ahead = [
        i
        for i in range(N)
        if lower[i]
        and all(upper[k] is None or least[i] + slack >= most[k] for k in range(N) if k != i)
    ]
    if ahead:
        first = max(ahead, key=lambda i: least[i])
        for k in range(N):
            if status[k] != "out" and k != first:
                status[k] = "not needed" if epsilon > 0 else "out"
        status[first] = "in"
    return status

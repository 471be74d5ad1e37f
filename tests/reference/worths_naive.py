"""Limits and worths by definition: sets of arms, sorted lists, every set F that is right."""

import math
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


class WarmUp:
    """What the first values of all arms fix, for noise of a known scale: shares of delta, precisions.

    `first[i, j]` has the values of arm j of group i in the warm-up, [n][dims]; D dims are judged.
    """

    def __init__(self, first, limits, epsilon, scale, delta):
        self.delta, self.dims = delta, range(len(epsilon))
        self.n = {arm: len(rows) for arm, rows in first.items()}
        self.mean = {
            (arm, d): float(sum(row[d] for row in rows)) / len(rows) / scale[d]
            for arm, rows in first.items()
            for d in range(len(scale))
        }
        self.epsilon = [e / scale[d] for d, e in enumerate(epsilon)]
        self.groups = sorted({i for i, _ in first})
        self.arms = {i: [arm for arm in first if arm[0] == i] for i in self.groups}
        self.far = {arm: self._far(arm, limits, scale) for arm in first}
        self.hope = {i for i in self.groups if any(self.far[arm] == 0 for arm in self.arms[i])}
        self.top = {
            (i, d): max(
                (arm for arm in self.arms[i] if i not in self.hope or self.far[arm] == 0),
                key=lambda arm: self.mean[arm, d],
            )
            for i in self.groups
            for d in self.dims
        }

    def _far(self, arm, limits, scale):
        beyond = [
            (s * (self.mean[arm, int(d)] - at / scale[int(d)]) - slack / scale[int(d)] / 2)
            for d, s, at, slack in limits
        ]
        return sum(x * x * self.n[arm] for x in beyond if x > 1e-12)

    def error(self, a, b):
        return 1 / self.n[a] + 1 / self.n[b]

    def leads(self, i, j, times):
        """Return by how much i is ahead of j, plus so many epsilons, with its variance, by dim."""
        pairs = [(self.top[i, d], self.top[j, d], d) for d in self.dims]
        return [
            (self.mean[a, d] - self.mean[b, d] + times * self.epsilon[d], self.error(a, b))
            for a, b, d in pairs
        ]

    def arm_share(self, arm, d):
        i = arm[0]
        if i not in self.hope:
            return 1 / len(self.arms[i])
        best = self.top[i, d]
        weight = {}
        for own in self.arms[i]:
            behind = max(self.mean[best, d] - self.mean[own, d], 0)
            weight[own] = math.exp(-(behind**2 / self.error(own, best) + self.far[own]) / 2)
        return 0.2 / len(weight) + 0.8 * weight[arm] / sum(weight.values())

    def dim_share(self, i, j, d):
        if not {i, j} <= self.hope:
            return 1 / len(self.dims)
        return part(self.leads(i, j, 1), d)

    def rival_share(self, i, j):
        others = [k for k in self.groups if k != i]
        hope = [k for k in others if k in self.hope]
        if not hope:
            return 1 / len(others)
        share = 0.0
        if j in hope:
            leads = [min(self.leads(k, i, 0)) for k in hope]
            share = part(leads, hope.index(j)) - 0.2 / len(hope)
        return 0.2 / len(others) + share

    def cost(self, i):
        others = [j for j in self.groups if j != i and j in self.hope]
        if not others or i not in self.hope:
            return 0.0
        if any(min(gap for gap, _ in self.leads(j, i, -0.5)) > 0 for j in others):
            gap, error = max(min(self.leads(j, i, 0)) for j in others)
        else:
            gap, error = min(max(self.leads(i, j, 1)) for j in others)
        return 1 / (gap**2 + error / 2)

    def group_share(self, i):
        costs = {j: self.cost(j) for j in self.groups}
        if not any(costs.values()):
            return 1 / len(costs)
        return 0.2 / len(costs) + 0.8 * costs[i] / sum(costs.values())

    def near_level(self, arm, j, d):
        share = self.group_share(arm[0]) * self.dim_share(arm[0], j, d) * self.arm_share(arm, d)
        return -math.log(self.delta / 2 * share)

    def over_level(self, arm, j, d):
        share = self.group_share(j) * self.rival_share(j, arm[0]) * self.arm_share(arm, d)
        return -math.log(self.delta / 2 * share)

    def precision(self, a, b, d, shift):
        gap = self.mean[a, d] - self.mean[b, d] + shift
        return 4.5 / max(gap**2, self.error(a, b))


def part(leads, k):
    """Return .2 / n + .8 w_k / sum w, w = exp(-z^2 / 2), z standard errors behind the largest lead."""
    most, error = max(leads)
    weights = [math.exp(-((most - gap) ** 2) / (2 * (own + error))) for gap, own in leads]
    return 0.2 / len(weights) + 0.8 * weights[k] / sum(weights)

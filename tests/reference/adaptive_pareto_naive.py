"""The adaptive algorithm for Pareto groups again: everything anew at every step, in plain Python.

Only the scalar functions of the evidence are the product's. What the product updates where
a pull has changed something is computed here from the counts and the tape, for all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from bestgroup.inference.evalues.normal import mixture_edge, pair_evidence, pair_evidence_above

INF = math.inf
Arm = tuple[int, int]
Wish = tuple[str, int, int, int, int]


@dataclass
class Naive:
    """One run. `sums[n - 1][i][j][d]` is the sum of the first n rewards of arm (i, j) in dim d."""

    sums: Any
    sizes: tuple[int, ...]
    delta: float
    slack: list[float]  # epsilon
    scale: list[float]
    cost: dict[Arm, float]
    batch: int | float
    boxes: bool
    n: dict[Arm, int] = field(default_factory=dict)
    base: dict[Arm, int] = field(default_factory=dict)  # pulls in scouting
    phase: str = "first"
    clock: float = 0.0
    status: list[str] = field(default_factory=list)
    won: set = field(default_factory=set)  # (i, j, k, d)
    over: set = field(default_factory=set)  # (j, i, k, d)
    wait: dict = field(default_factory=dict)
    box: dict = field(default_factory=dict)  # (i, j, d) -> (low, high)
    beaten: dict[int, int] = field(default_factory=dict)
    share: dict = field(default_factory=dict)  # minus the logs of the shares of delta

    def __post_init__(self) -> None:
        self.groups = range(len(self.sizes))
        self.epsilon = [e / s for e, s in zip(self.slack, self.scale, strict=True)]
        self.dims = range(len(self.scale))
        self.arms = [(i, j) for i in self.groups for j in range(self.sizes[i])]
        self.n = dict.fromkeys(self.arms, 0)
        self.base = dict.fromkeys(self.arms, 0)
        least = min(self.cost.values())
        self.price = {arm: math.sqrt(cost / least) for arm, cost in self.cost.items()}
        self.priced = len(set(self.cost.values())) > 1
        self.status = ["accepted" if len(self.sizes) == 1 else "open"] * len(self.sizes)
        for i in self.groups:
            self.share["group", i] = math.log(len(self.sizes))
            for d in self.dims:
                for m in range(self.sizes[i]):
                    self.share["arm", i, m, d] = math.log(self.sizes[i])
                for j in self.groups:
                    self.share["dim", i, j, d] = math.log(len(self.scale))
                    self.share["rival", i, j] = math.log(max(len(self.sizes) - 1, 1))

    def others(self, i: int) -> list[int]:
        return [j for j in self.groups if j != i]

    def mean(self, i: int, j: int, d: int) -> float:
        """The mean of all pulls, in units of the scale."""
        count = self.n[i, j]
        return self.sums[count - 1][i][j][d] / (count * self.scale[d])

    def settled(self, i: int, j: int) -> bool:
        return any(all((i, j, k, d) in self.won for k in range(self.sizes[j])) for d in self.dims)

    # ---- what to pull -----------------------------------------------------------------

    def plan(self) -> dict[Arm, int]:
        if self.phase == "first":
            return dict.fromkeys(self.arms, 8)
        counts = {arm: float(count) for arm, count in self.n.items()}
        pulls = dict.fromkeys(self.arms, 0)
        arm, least = self.next_arm(counts)
        if not isinstance(self.batch, int):
            pulls[arm] = max(1, int(self.batch * least))
            return pulls
        pulls[arm] = 1
        for _ in range(self.batch - 1):
            counts[arm] += 1.0
            arm, _ = self.next_arm(counts)
            pulls[arm] += 1
        return pulls

    def next_arm(self, counts: dict[Arm, float]) -> tuple[Arm, float]:
        alive = [arm for arm in self.arms if self.status[arm[0]] != "rejected"]
        poorest = min(alive, key=lambda arm: counts[arm])
        total = 0.0
        for arm in self.arms:
            total += counts[arm]
        look = Look(self, counts)
        if look.pick is None or counts[poorest] * len(self.arms) < 0.1 * total:
            return poorest, counts[poorest]
        kind, a, b, k, d = look.pick
        m = look.front(kind, a, b, d)
        if counts[a, m] * self.price[a, m] <= counts[b, k] * self.price[b, k]:
            scout = look.wide(kind, a, b, d)[1]
            return (a, scout), min(counts[a, m], counts[a, scout])
        return (b, k), counts[b, k]

    # ---- what follows from pulls --------------------------------------------------------

    def step(self, pulls: dict[Arm, int]) -> None:
        for arm, count in pulls.items():
            self.n[arm] += count
        total = float(sum(self.n.values()))
        if total >= 1.1 * self.clock:
            self.clock = total
        if self.phase == "first":
            self.phase = "proving" if self.boxes else "scouting"
        if self.phase == "proving":
            if self.boxes:
                self.test_boxes()
            else:
                self.test_pairs()
            self.decide()
        counts = {arm: float(count) for arm, count in self.n.items()}
        if self.phase == "scouting" and Look(self, counts).least >= 0.1:
            self.phase = "proving"
            share_out(self, Look(self, counts))
            self.base = dict(self.n)

    def later_mean(self, i: int, j: int, d: int) -> float:
        now, then = self.n[i, j], self.base[i, j]
        rest = self.sums[now - 1][i][j][d] - self.sums[then - 1][i][j][d]
        return rest / (float(now - then) * self.scale[d])

    def scouted_mean(self, i: int, j: int, d: int) -> float:
        then = self.base[i, j]
        return self.sums[then - 1][i][j][d] / (then * self.scale[d])

    def test_pairs(self) -> None:
        level = math.log(1.0 / self.delta)
        settled = {(i, j) for i in self.groups for j in self.others(i) if self.settled(i, j)}
        for i in self.groups:
            for j in self.others(i):
                for d in self.dims:
                    f, m = front(self, "won", i, j, d), front(self, "over", i, j, d)
                    for k in range(self.sizes[j]):
                        start = level + self.share["arm", i, m, d]
                        if self.status[j] == "open" and (i, j, k, d) not in self.over:
                            wanted = start + self.share["group", j] + self.share["rival", j, i]
                            if self.proves("over", (i, m, j, k), d, 0.0, wanted):
                                self.over.add((i, j, k, d))
                        needed = self.status[i] == "open" and self.status[j] != "rejected"
                        needed = needed and (i, j) not in settled
                        start = level + self.share["arm", i, f, d]
                        if needed and (i, j, k, d) not in self.won:
                            wanted = start + self.share["group", i] + self.share["dim", i, j, d]
                            if self.proves("won", (i, f, j, k), d, self.epsilon[d], wanted):
                                self.won.add((i, j, k, d))

    def proves(self, kind: str, arms: tuple, d: int, shift: float, wanted: float) -> bool:
        """Whether mu_a + shift > mu_b is proven; a failed test waits for more strength."""
        i, m, j, k = arms
        n_a, n_b = float(self.n[i, m] - self.base[i, m]), float(self.n[j, k] - self.base[j, k])
        if n_a == 0 or n_b == 0:
            return False
        gap = self.later_mean(i, m, d) - self.later_mean(j, k, d) + shift
        key = (kind, i, j, k, d)
        z = strength(gap, n_a, n_b)
        if gap <= 0 or z < wanted + self.wait.get(key, -(2.0 * math.log(2.0) + 1e-6)):
            return False
        seen = self.scouted_mean(i, m, d) - self.scouted_mean(j, k, d) + shift
        error = math.sqrt(1.0 / self.base[i, m] + 1.0 / self.base[j, k])
        size = max(abs(seen), error)
        q = 4.5 / (size * size)
        own, other = self.price[i, m], self.price[j, k]
        ratios = (other + own) / (2.0 * own), (own + other) / (2.0 * other)
        q_a, q_b = (q * (ratio * ratio) for ratio in ratios)
        value = pair_evidence_above(gap, n_a, n_b, q_a, q_b)
        if value >= wanted:
            value = pair_evidence(gap, n_a, n_b, q_a, q_b)
        self.wait[key] = (z - wanted) + 0.7 * (wanted - value)
        return value >= wanted

    def test_boxes(self) -> None:
        alpha = self.delta / (len(self.scale) * (len(self.arms) + len(self.sizes)))
        for i, j in self.arms:
            n = float(self.n[i, j])
            for d in self.dims:
                low, high = self.box.get((i, j, d), (-INF, INF))
                mean = self.sums[self.n[i, j] - 1][i][j][d] / n
                reach = self.scale[d] * mixture_edge(n, alpha) / n
                self.box[i, j, d] = max(low, mean - reach), min(high, mean + reach)
        for i in self.groups:
            for j in self.others(i):
                for d in self.dims:
                    low = max(self.box[i, m, d][0] for m in range(self.sizes[i]))
                    for k in range(self.sizes[j]):
                        apart = low - self.box[j, k, d][1]
                        if apart >= 0:
                            self.over.add((i, j, k, d))
                        if apart + self.slack[d] >= 0:
                            self.won.add((i, j, k, d))

    def decide(self) -> None:
        for i in self.groups:
            for j in self.others(i):
                cells = [(j, i, k, d) for k in range(self.sizes[i]) for d in self.dims]
                if self.status[i] == "open" and all(cell in self.over for cell in cells):
                    self.status[i] = "rejected"
                    self.beaten[i] = j
        for i in self.groups:
            rivals = [j for j in self.others(i) if self.status[j] != "rejected"]
            if self.status[i] == "open" and all(self.settled(i, j) for j in rivals):
                self.status[i] = "accepted"


def strength(gap: float, n_a: float, n_b: float) -> float:
    return gap * abs(gap) * (n_a * n_b) / (2.0 * (n_a + n_b))


def priced(width: float, price: float) -> float:
    return width / price if width > 0 else width * price


def toll(run: Naive, kind: str, i: int, j: int, d: int) -> float:
    """The price of j's side: the root of the costs of its arms, the closest to i counting most."""
    means = [run.mean(j, k, d) for k in range(run.sizes[j])]
    best = max(run.mean(i, m, d) for m in range(run.sizes[i]))
    gap = best + (run.epsilon[d] if kind == "won" else 0.0) - max(means)
    if gap <= 0:
        return run.price[j, means.index(max(means))]
    costs = 0.0
    for k, mean in enumerate(means):
        near = gap / (gap + max(means) - mean)
        costs += near * near * run.price[j, k] * run.price[j, k]
    return math.sqrt(costs)


def front(run: Naive, kind: str, i: int, j: int, d: int) -> int:
    """The arm of i that is to be shown above j in dim d."""
    arms = range(run.sizes[i])
    if not run.priced:
        return max(arms, key=lambda m: run.mean(i, m, d))
    shift = run.epsilon[d] if kind == "won" else 0.0
    best = max(run.mean(j, k, d) for k in range(run.sizes[j]))
    price = toll(run, kind, i, j, d)
    return max(
        arms, key=lambda m: priced(run.mean(i, m, d) + shift - best, run.price[i, m] + price)
    )


class Look:
    """All bounds and scores at some counts, and the duel (kind, a, b, k, d) with the least score."""

    def __init__(self, run: Naive, counts: dict[Arm, float]) -> None:
        self.run, self.counts = run, counts
        self.level = math.log(1.0 / run.delta)
        self.bonus = {arm: math.sqrt(math.log(run.clock) / counts[arm]) for arm in run.arms}
        self.leader, self.scout, self.best, self.U, self.L = {}, {}, {}, {}, {}
        for i in run.groups:
            for d in run.dims:
                means = [run.mean(i, m, d) for m in range(run.sizes[i])]
                ups = [mean + self.bonus[i, m] for m, mean in enumerate(means)]
                self.best[i, d], self.leader[i, d] = max(means), means.index(max(means))
                self.U[i, d], self.scout[i, d] = max(ups), ups.index(max(ups))
                self.L[i, d] = max(mean - self.bonus[i, m] for m, mean in enumerate(means))
        self.lead = {
            i: max((self.margin(j, i) for j in self.alive(i)), default=-INF)
            for i in run.groups
            if run.status[i] == "open"
        }
        self.least, self.pick = INF, None
        for i in self.lead:
            for score, duel in self.wishes(i):
                if score < self.least:
                    self.least, self.pick = score, duel

    def alive(self, i: int) -> list[int]:
        return [j for j in self.run.others(i) if self.run.status[j] != "rejected"]

    def margin(self, i: int, j: int) -> float:
        return min(
            self.best[i, d] - self.best[j, d] - self.run.epsilon[d] / 2.0 for d in self.run.dims
        )

    def front(self, kind: str, i: int, j: int, d: int) -> int:
        return front(self.run, kind, i, j, d)

    def wide(self, kind: str, i: int, j: int, d: int) -> tuple[float, int]:
        """The largest U_i - L_j, with epsilon for "won", for its price if costs differ; its arm."""
        run, arms = self.run, range(self.run.sizes[i])
        shift = run.epsilon[d] if kind == "won" else 0.0
        if not run.priced:
            return self.U[i, d] - self.L[j, d] + shift, self.scout[i, d]
        price = toll(run, kind, i, j, d)
        widths = [
            priced(
                run.mean(i, m, d) + self.bonus[i, m] - self.L[j, d] + shift, run.price[i, m] + price
            )
            for m in arms
        ]
        return max(widths), widths.index(max(widths))

    def hope(self, i: int, j: int) -> float:
        return min(self.wide("over", i, j, d)[0] for d in self.run.dims)

    def wishes(self, i: int) -> list[tuple[float, Wish]]:
        """What the undecided group i would have pulled, with its scores."""
        if self.lead[i] > 0:
            rival = max(self.alive(i), key=lambda j: self.hope(j, i))
            return self.fall(i, rival)
        return [
            wish
            for j in self.alive(i)
            if not (j in self.lead and self.lead[j] > 0) and not self.run.settled(i, j)
            for wish in self.rise(i, j)
        ]

    def fall(self, i: int, j: int) -> list[tuple[float, Wish]]:
        run = self.run
        left = [
            (k, d) for d in run.dims for k in range(run.sizes[i]) if (j, i, k, d) not in run.over
        ]
        if not left:
            return []
        scores = []
        for k, d in left:
            m = self.front("over", j, i, d)
            wanted = self.level + run.share["group", i] + run.share["rival", i, j]
            wanted += run.share["arm", j, m, d]
            gap = run.mean(j, m, d) - run.mean(i, k, d)
            scores.append(strength(gap, self.counts[j, m], self.counts[i, k]) / wanted)
        k, d = max(left, key=lambda kd: run.mean(i, *kd) + self.bonus[i, kd[0]] - self.L[j, kd[1]])
        return [(min(scores), ("over", j, i, k, d))]

    def rise(self, i: int, j: int) -> list[tuple[float, Wish]]:
        run = self.run
        d = max(run.dims, key=lambda d: self.wide("won", i, j, d)[0])
        left = [k for k in range(run.sizes[j]) if (i, j, k, d) not in run.won]
        m = self.front("won", i, j, d)
        wanted = self.level + run.share["group", i] + run.share["arm", i, m, d]
        wanted += run.share["dim", i, j, d]
        scores = []
        for k in left:
            gap = run.mean(i, m, d) + run.epsilon[d] - run.mean(j, k, d)
            scores.append(strength(gap, self.counts[i, m], self.counts[j, k]) / wanted)
        k = max(left, key=lambda k: run.mean(j, k, d) + self.bonus[j, k])
        return [(min(scores), ("won", i, j, k, d))]


def share_out(run: Naive, look: Look) -> None:
    """Share delta out: the closer to the best alternative, the more; a fifth equally."""

    def spread(i: int, d: int) -> float:
        return 1.0 / look.counts[i, look.leader[i, d]]

    def shares(weights: list[float]) -> list[float]:
        total = 0.0
        for weight in weights:
            total += weight
        return [-math.log(0.2 / len(weights) + (1.0 - 0.2) * w / total) for w in weights]

    def near(behind: float, error: float) -> float:
        return math.exp(-behind * behind / (2.0 * error))

    for i in run.groups:
        for d in run.dims:
            logs = shares(
                [
                    near(
                        look.best[i, d] - run.mean(i, m, d),
                        1.0 / look.counts[i, m] + 1.0 / look.counts[i, look.leader[i, d]],
                    )
                    for m in range(run.sizes[i])
                ]
            )
            for m, value in enumerate(logs):
                run.share["arm", i, m, d] = value
    price = []
    for i in run.groups:
        hardest = (INF, 1.0)
        for j in run.others(i):
            gaps = [look.best[i, d] - look.best[j, d] + run.epsilon[d] for d in run.dims]
            errors = [spread(i, d) + spread(j, d) for d in run.dims]
            top = gaps.index(max(gaps))
            logs = shares([near(gaps[top] - gaps[d], errors[d] + errors[top]) for d in run.dims])
            for d, value in enumerate(logs):
                run.share["dim", i, j, d] = value
            if gaps[top] < hardest[0]:
                hardest = (gaps[top], errors[top])
        leads = []
        for j in run.others(i):
            gaps = [look.best[j, d] - look.best[i, d] for d in run.dims]
            d = gaps.index(min(gaps))
            leads.append((gaps[d], spread(i, d) + spread(j, d)))
        top = max(leads, key=lambda lead: lead[0])
        logs = shares([near(top[0] - gap, error + top[1]) for gap, error in leads])
        for j, value in zip(run.others(i), logs, strict=True):
            run.share["rival", i, j] = value
        gap, error = top if look.lead[i] > 0 else hardest
        price.append(1.0 / (gap * gap + error / 2.0))
    for i, value in enumerate(shares(price)):
        run.share["group", i] = value

"""The adaptive algorithm for Pareto groups again: everything anew at every step, in plain Python.

Only the scalar functions of the evidence are the product's. What the product updates where
a pull has changed something is computed here from the counts and the tape, for all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestgroup.inference.confidence_sequences.boxes import absorb
from bestgroup.inference.evalues.normal import mixture_edge, pair_evidence, pair_evidence_above
from bestgroup.inference.evalues.pair_wealth import ROOM, pair_lack
from bestgroup.inference.evalues.wealth import BETS, STATISTICS
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, POWERS, SUBGAUSSIAN

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
    union: bool = False  # over all groups, as versions up to 5 had it
    keep: Any = None  # the statistics that evidence keeps, where no scale is known
    values: Any = (
        None  # then also (i, j, first, stop) -> rewards, which sums give only up to rounding
    )
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
    extra: dict = field(default_factory=dict)  # (i, j, d) -> what is kept of the values
    base_extra: dict = field(default_factory=dict)
    pooled: dict = field(default_factory=dict)
    belief: dict[int, str] = field(default_factory=dict)  # only where the answer is named
    order: list[int] = field(default_factory=list)
    parts: list[float] = field(default_factory=list)
    own: dict[int, float] = field(default_factory=dict)
    surprises: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.union = self.union or self.boxes
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
        self.kind = [SUBGAUSSIAN for _ in self.dims]
        if self.keep is not None and not self.boxes:
            self.kind = self.keep.kind.tolist()
            for i, j in self.arms:
                for d in self.dims:
                    self.extra[i, j, d] = self.keep.start.copy()
        for i in self.groups:
            self.share["accept", i] = self.share["reject", i] = math.log(len(self.sizes))
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

    def squares(self, i: int, j: int, d: int) -> float:
        total, square = self.extra[i, j, d][1:3]
        return max(square - total * total / self.n[i, j], 0.0)

    def pool(self) -> None:
        """The variance of all arms in a dim, by their first pulls."""
        for d in self.dims:
            self.pooled[d] = 0.0
            if self.kind[d] in (GAUSSIAN, POWERS):
                squares = values = 0.0
                for i, j in self.arms:
                    squares += self.squares(i, j, d)
                    values += self.n[i, j] - 1.0
                means = [self.mean(i, j, d) for i, j in self.arms]
                reach = max(means) - min(means)
                self.pooled[d] = max(squares / values, 1e-6 * reach * reach)

    def variance(self, i: int, j: int, d: int) -> float:
        """About the variance of a pull, by all of them."""
        n = float(self.n[i, j])
        if self.kind[d] == SUBGAUSSIAN:
            return 1.0
        if self.kind[d] == BERNOULLI:
            p = (self.sums[self.n[i, j] - 1][i][j][d] + 1.0) / (n + 2.0)
            return p * (1.0 - p)
        rare = 0.01 if self.kind[d] == POWERS else 0.0
        v = self.squares(i, j, d) + 2.0 * self.pooled[d] + rare
        return max(v / (n - 1.0 + 2.0), 1e-280)

    def deviation(self, i: int, j: int, d: int) -> float:
        return math.sqrt(self.variance(i, j, d)) if self.kind[d] != SUBGAUSSIAN else 1.0

    def bend(self, d: int) -> float:
        return 0.0 if self.kind[d] == SUBGAUSSIAN else 0.25

    def strength(self, gap: float, d: int, one: tuple, other: tuple) -> float:
        """g |g| / (2 (v / n + v' / n')) of two arms, each with its count."""
        (a, n_a), (b, n_b) = one, other
        more = self.bend(d) * gap * gap
        v_a, v_b = self.variance(*a, d) + more, self.variance(*b, d) + more
        return gap * abs(gap) * (n_a * n_b) / (2.0 * (v_b * n_a + v_a * n_b))

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
        above = counts[a, m] * self.price[a, m] / self.deviation(a, m, d)
        if above <= counts[b, k] * self.price[b, k] / self.deviation(b, k, d):
            scout = look.wide(kind, a, b, d)[1]
            return (a, scout), min(counts[a, m], counts[a, scout])
        return (b, k), counts[b, k]

    # ---- what follows from pulls --------------------------------------------------------

    def step(self, pulls: dict[Arm, int]) -> None:
        for arm, count in pulls.items():
            for k in range(count):
                self.take(arm, k + 1)
            self.n[arm] += count
        total = float(sum(self.n.values()))
        if total >= 1.1 * self.clock:
            self.clock = total
        if self.phase == "first":
            self.pool()
            self.phase = "proving" if self.boxes else "scouting"
        if self.phase == "proving":
            if self.boxes:
                self.test_boxes()
            else:
                self.test_pairs()
            while self.decide():
                self.test_pairs()
        counts = {arm: float(count) for arm, count in self.n.items()}
        if self.phase == "scouting" and Look(self, counts).least >= (0.1 if self.union else 0.12):
            self.phase = "proving"
            share_out(self, Look(self, counts))
            if not self.union:
                name_answer(self, Look(self, counts))
            self.base = dict(self.n)
            self.base_extra = {key: extra.copy() for key, extra in self.extra.items()}
            self.base_variance = {
                (i, j, d): self.variance(i, j, d) for i, j in self.arms for d in self.dims
            }

    def take(self, arm: Arm, k: int) -> None:
        """Take up the value of pull k of a plan in what is kept."""
        i, j = arm
        number = self.n[arm] + k
        for d in self.dims:
            if self.extra:
                value = float(self.values(i, j, number - 1, number)[0][d])
                absorb(self.keep, self.extra[i, j, d], float(number), value, d)

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
                            wanted = start + self.share["reject", j] + self.share["rival", j, i]
                            if self.proves("over", (i, m, j, k), d, 0.0, wanted):
                                self.over.add((i, j, k, d))
                        needed = self.status[i] == "open" and self.status[j] != "rejected"
                        needed = needed and (i, j) not in settled
                        start = level + self.share["arm", i, f, d]
                        if needed and (i, j, k, d) not in self.won:
                            wanted = start + self.share["accept", i] + self.share["dim", i, j, d]
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
        if gap <= 0:
            return False
        z = self.strength(gap, d, ((i, m), n_a), ((j, k), n_b))
        if self.kind[d] != SUBGAUSSIAN:
            return self.proves_by_bets(key, arms, d, shift, wanted, z)
        if z < wanted + self.wait.get(key, -(2.0 * math.log(2.0) + 1e-6)):
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

    def proves_by_bets(
        self, key: tuple, arms: tuple, d: int, shift: float, wanted: float, z: float
    ):
        """The same where no scale is known; a failed test waits for larger counts."""
        i, m, j, k = arms
        n_a, n_b = float(self.n[i, m] - self.base[i, m]), float(self.n[j, k] - self.base[j, k])
        if z < 0.25 * wanted or n_a * n_b < self.wait.get(key, -1.0) * (n_a + n_b):
            return False
        rest = lack_by_bets(self, arms, d, shift, wanted)
        growth = min(max(0.25 * rest / z, 0.006), 0.25)
        self.wait[key] = n_a * n_b / (n_a + n_b) * (1.0 + growth)
        return rest <= 0.0

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

    def decide(self) -> bool:
        for i in self.groups:
            for j in self.others(i):
                cells = [(j, i, k, d) for k in range(self.sizes[i]) for d in self.dims]
                if self.status[i] == "open" and all(cell in self.over for cell in cells):
                    self.status[i] = "rejected"
                    self.beaten[i] = j
        again = self.take_surprises()
        for i in self.groups:
            rivals = [j for j in self.others(i) if self.status[j] != "rejected"]
            if self.status[i] == "open" and all(self.settled(i, j) for j in rivals):
                self.status[i] = "accepted"
        return self.take_surprises() or again

    def is_surprise(self, i: int) -> bool:
        return self.status[i] not in ("open", self.belief.get(i, self.status[i]))

    def take_surprises(self) -> bool:
        """What stands behind a new surprise is proven again, if it needs more now."""
        again = set()
        for i in self.order:
            if self.is_surprise(i) and i not in self.surprises:
                self.surprises.append(i)
                again |= {j for j in self.behind(i) if self.before(j) <= 3}
        for j in again:
            self.price_of(j)
            if self.belief[j] == "rejected":
                self.over = {cell for cell in self.over if cell[1] != j}
            else:
                self.won = {cell for cell in self.won if cell[0] != j}
            kind, at = ("over", 2) if self.belief[j] == "rejected" else ("won", 1)
            self.wait = {
                key: wait for key, wait in self.wait.items() if (key[0], key[at]) != (kind, j)
            }
            if self.status[j] == self.belief[j]:
                self.status[j] = "open"
        for i in self.groups if again else ():
            rivals = [j for j in self.others(i) if self.status[j] != "rejected"]
            if self.status[i] == "accepted" and not all(self.settled(i, j) for j in rivals):
                self.status[i] = "open"
        return bool(again)

    def behind(self, i: int) -> list[int]:
        return self.order[self.order.index(i) + 1 :]

    def before(self, i: int) -> int:
        """How many surprises there were about groups before i."""
        return sum(i in self.behind(j) for j in self.surprises)

    def price_of(self, i: int) -> None:
        """Set what deciding i costs after the surprises before it."""
        parts = dict(enumerate(self.parts))
        for way in ("accept", "reject"):
            part = parts.get(self.before(i), 0.0) if self.belief[i] == way + "ed" else 0.0
            self.share[way, i] = -math.log(self.own[i] + part)

    def public(self) -> list[str]:
        """What is proven together at any time, group by group."""
        found = list(self.status)
        for i in self.order:
            ahead = [j for j in self.order if i in self.behind(j)]
            if self.status[i] == "accepted":
                ahead += [j for j in self.order if self.belief[j] == "rejected"]
            if self.status[i] == "rejected" and self.is_surprise(i):
                ahead = []
            if any(self.status[j] == "open" and j not in self.surprises for j in ahead):
                found[i] = "open"
        return found


def lack_by_bets(run: Naive, arms: tuple, d: int, shift: float, level: float) -> float:
    """What the average of bets and of the scale that a range gives lacks to the level."""
    i, m, j, k = arms
    kind = run.kind[d]
    n_a, n_b = float(run.n[i, m] - run.base[i, m]), float(run.n[j, k] - run.base[j, k])
    seen = run.scouted_mean(i, m, d) - run.scouted_mean(j, k, d) + shift
    base_a, base_b = run.base[i, m], run.base[j, k]
    prices = run.price[i, m], run.price[j, k]
    if kind != GAUSSIAN:
        gap = (run.later_mean(i, m, d) - run.later_mean(j, k, d) + shift) / 0.5
        size = max(abs(seen / 0.5), math.sqrt(1.0 / base_a + 1.0 / base_b))
        q = 4.5 / (size * size)
        ratios = (
            (prices[1] + prices[0]) / (2.0 * prices[0]),
            (prices[0] + prices[1]) / (2.0 * prices[1]),
        )
        q_a, q_b = (q * (ratio * ratio) for ratio in ratios)
        part = level - math.log(0.05)
        value = pair_evidence_above(gap, n_a, n_b, q_a, q_b)
        if value >= part:
            value = pair_evidence(gap, n_a, n_b, q_a, q_b)
        if value >= part:
            return part - value
        level += math.log1p(-math.exp(-(part - value))) - math.log(1.0 - 0.05)
    v = run.base_variance[i, m, d], run.base_variance[j, k, d]
    size = max(abs(seen), math.sqrt(v[0] / base_a + v[1] / base_b))
    weights = [price * math.sqrt(x) for price, x in zip(prices, v, strict=True)]
    bets = []
    for side in (0, 1):
        part = size * weights[side] / (weights[side] + weights[1 - side])
        most = INF
        if kind != GAUSSIAN:
            (g, arm), base = ((i, m), (j, k))[side], (base_a, base_b)[side]
            centre = run.scouted_mean(g, arm, d) - run.keep.origin[d] / run.keep.scale[d]
            most = 0.95 / ((1.0 - centre if side else centre) + math.sqrt(v[side] / base))
        bets.append((2.3 / math.sqrt(4.5) * part / (v[side] + part * part), most))
    errors = math.sqrt(v[0] / n_a), math.sqrt(v[1] / n_b)
    room = np.zeros((ROOM, BETS))
    a, b = sums_since(run, (i, m), d), sums_since(run, (j, k), d)
    return pair_lack(kind, a, b, tuple(bets), errors, shift, level, room)


def sums_since(run: Naive, arm: Arm, d: int) -> Any:
    """Counts and sums of an arm since scouting, as `wealth` takes them."""
    i, j = arm
    stat = np.zeros(STATISTICS)
    stat[0], stat[8] = run.n[arm] - run.base[arm], run.n[arm]
    if run.kind[d] == BERNOULLI:
        stat[2] = run.sums[run.n[arm] - 1][i][j][d] - run.sums[run.base[arm] - 1][i][j][d]
        return stat
    now, then = run.extra[i, j, d], run.base_extra[i, j, d]
    stat[1] = now[0]
    if run.kind[d] == GAUSSIAN:
        stat[1] -= run.extra[0, 0, d][0]
    powers = 2 if run.kind[d] == GAUSSIAN else 6
    stat[2 : 2 + powers] = now[1 : 1 + powers] - then[1 : 1 + powers]
    stat[9], stat[10] = now[2], now[powers]
    return stat


def priced(width: float, price: float) -> float:
    return width / price if width > 0 else width * price


def toll(run: Naive, kind: str, i: int, j: int, d: int) -> float:
    """The price of j's side: the root of the costs of its arms, the closest to i counting most."""
    means = [run.mean(j, k, d) for k in range(run.sizes[j])]
    best = max(run.mean(i, m, d) for m in range(run.sizes[i]))
    gap = best + (run.epsilon[d] if kind == "won" else 0.0) - max(means)
    if gap <= 0:
        k = means.index(max(means))
        return run.price[j, k] * run.deviation(j, k, d)
    costs = 0.0
    for k, mean in enumerate(means):
        near = gap / (gap + max(means) - mean)
        price = run.price[j, k] * run.deviation(j, k, d)
        costs += near * near * price * price
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
        arms,
        key=lambda m: priced(
            run.mean(i, m, d) + shift - best, run.price[i, m] * run.deviation(i, m, d) + price
        ),
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
                bonus = [self.bonus[i, m] * run.deviation(i, m, d) for m in range(run.sizes[i])]
                ups = [mean + more for mean, more in zip(means, bonus, strict=True)]
                self.best[i, d], self.leader[i, d] = max(means), means.index(max(means))
                self.U[i, d], self.scout[i, d] = max(ups), ups.index(max(ups))
                self.L[i, d] = max(mean - less for mean, less in zip(means, bonus, strict=True))
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
            (self.best[i, d] - self.best[j, d] - self.run.epsilon[d] / 2.0) / self.unit(i, j, d)
            for d in self.run.dims
        )

    def unit(self, i: int, j: int, d: int) -> float:
        """The mean standard deviation of the two leaders."""
        own = self.run.deviation(i, self.leader[i, d], d)
        return 0.5 * (own + self.run.deviation(j, self.leader[j, d], d))

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
                run.mean(i, m, d)
                + self.bonus[i, m] * run.deviation(i, m, d)
                - self.L[j, d]
                + shift,
                run.price[i, m] * run.deviation(i, m, d) + price,
            )
            for m in arms
        ]
        return max(widths), widths.index(max(widths))

    def hope(self, i: int, j: int) -> float:
        return min(self.wide("over", i, j, d)[0] / self.unit(i, j, d) for d in self.run.dims)

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
            wanted = self.level + run.share["reject", i] + run.share["rival", i, j]
            wanted += run.share["arm", j, m, d]
            gap = run.mean(j, m, d) - run.mean(i, k, d)
            one, other = ((j, m), self.counts[j, m]), ((i, k), self.counts[i, k])
            scores.append(run.strength(gap, d, one, other) / wanted)

        def threat(kd: tuple[int, int]) -> float:
            k, d = kd
            rise = run.mean(i, k, d) + self.bonus[i, k] * run.deviation(i, k, d)
            return (rise - self.L[j, d]) / self.unit(i, j, d)

        k, d = max(left, key=threat)
        return [(min(scores), ("over", j, i, k, d))]

    def rise(self, i: int, j: int) -> list[tuple[float, Wish]]:
        run = self.run
        d = max(run.dims, key=lambda d: self.wide("won", i, j, d)[0] / self.unit(i, j, d))
        left = [k for k in range(run.sizes[j]) if (i, j, k, d) not in run.won]
        m = self.front("won", i, j, d)
        wanted = self.level + run.share["accept", i] + run.share["arm", i, m, d]
        wanted += run.share["dim", i, j, d]
        scores = []
        for k in left:
            gap = run.mean(i, m, d) + run.epsilon[d] - run.mean(j, k, d)
            one, other = ((i, m), self.counts[i, m]), ((j, k), self.counts[j, k])
            scores.append(run.strength(gap, d, one, other) / wanted)
        k = max(left, key=lambda k: run.mean(j, k, d) + self.bonus[j, k] * run.deviation(j, k, d))
        return [(min(scores), ("won", i, j, k, d))]


def share_out(run: Naive, look: Look) -> None:
    """Share delta out: the closer to the best alternative, the more; a part equally."""
    even, sharp = (0.2, 1.0) if run.union else (0.05, 3.0)

    def spread(i: int, d: int) -> float:
        leader = look.leader[i, d]
        return run.variance(i, leader, d) / look.counts[i, leader]

    def shares(weights: list[float]) -> list[float]:
        total = 0.0
        for weight in weights:
            total += weight
        return [-math.log(even / len(weights) + (1.0 - even) * w / total) for w in weights]

    def near(behind: float, error: float) -> float:
        return math.exp(-sharp * behind * behind / (2.0 * error))

    for i in run.groups:
        for d in run.dims:
            logs = shares(
                [
                    near(
                        look.best[i, d] - run.mean(i, m, d),
                        run.variance(i, m, d) / look.counts[i, m] + spread(i, d),
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
            units = [look.unit(i, j, d) for d in run.dims]
            gaps = [
                (look.best[i, d] - look.best[j, d] + run.epsilon[d]) / units[d] for d in run.dims
            ]
            errors = [(spread(i, d) + spread(j, d)) / (units[d] * units[d]) for d in run.dims]
            top = gaps.index(max(gaps))
            logs = shares([near(gaps[top] - gaps[d], errors[d] + errors[top]) for d in run.dims])
            for d, value in enumerate(logs):
                run.share["dim", i, j, d] = value
            if gaps[top] < hardest[0]:
                hardest = (gaps[top], errors[top])
        leads = []
        for j in run.others(i):
            units = [look.unit(i, j, d) for d in run.dims]
            gaps = [(look.best[j, d] - look.best[i, d]) / units[d] for d in run.dims]
            d = gaps.index(min(gaps))
            leads.append((gaps[d], (spread(i, d) + spread(j, d)) / (units[d] * units[d])))
        top = max(leads, key=lambda lead: lead[0])
        logs = shares([near(top[0] - gap, error + top[1]) for gap, error in leads])
        for j, value in zip(run.others(i), logs, strict=True):
            run.share["rival", i, j] = value
        gap, error = top if look.lead[i] > 0 else hardest
        price.append(1.0 / (gap * gap + error / 2.0))
    for i, value in enumerate(shares(price)):
        run.share["accept", i] = run.share["reject", i] = value


def name_answer(run: Naive, look: Look) -> None:
    """Believe what the warm-up says; prices by that, unless too much is in doubt."""
    sure: dict[int, float] = {}
    belief: dict[int, str] = {}
    for i in run.groups:
        margins = []
        for j in run.others(i):
            found = []
            for d in run.dims:
                unit = look.unit(i, j, d)
                gap = look.best[j, d] - look.best[i, d] - run.epsilon[d] / 2.0
                error = 0.0
                for g in (i, j):
                    leader = look.leader[g, d]
                    error += run.variance(g, leader, d) / look.counts[g, leader]
                found.append((gap / unit, error / (unit * unit)))
            margins.append(min(found, key=lambda pair: pair[0]))
        most, error = max(margins, key=lambda pair: pair[0])
        belief[i], sure[i] = "rejected" if most > 1e-9 else "accepted", abs(most) / math.sqrt(error)
    doubts = {i: math.exp(-0.5 * z * z) / (2.0 + 2.5 * z) for i, z in sure.items()}
    total = 0.0
    for i in run.groups:
        total += doubts[i]
    if len(run.sizes) > 128 or total >= 1.0:
        return
    run.belief = belief
    steps = {i: math.floor(z * z * 2**20 + 0.3) for i, z in sure.items()}
    run.order = sorted(run.groups, key=lambda i: (belief[i] == "accepted", -steps[i], i))
    first = 0.88 * (1.0 - total * total * total)
    rest = 1.0 - first
    second = min(0.3 * rest, first)
    run.parts = [first, second, min(0.1 * rest, second)]
    for i in run.groups:
        even = 0.2 / len(run.sizes) + (1.0 - 0.2) * doubts[i] / total
        run.own[i] = (1.0 - 0.3 - 0.1) * rest * even
    for i in run.groups:
        run.price_of(i)

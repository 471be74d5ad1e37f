"""A naive TE+: a generator over Python sets; it shares only the boundary `mixture_edge` with the product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestgroup.inference.evalues.normal import mixture_edge

from .runner import Closest, Means, Outcome, Pulls, Setting


def levels(sizes: Sequence[int], dims: int, delta: float, arms: str) -> dict[str, float]:
    """The probabilities that the three kinds of events get."""
    total = sum(sizes)
    if arms == "arbitrary":
        return dict.fromkeys(("above", "near", "stale"), delta / (dims * (total + len(sizes))))
    spare = sum(dims * (size - 1) for size in sizes)
    stale = 0.1 / spare if spare else 0.0
    rivals = sum(total - size for size in sizes)
    above = (0.9 if spare else 1.0) / max(rivals, 1)
    near = 1 / (dims * total)
    used = sum(
        max(dims * size * near, (total - size) * above + dims * (size - 1) * stale)
        for size in sizes
    )
    return {
        "above": above * delta / used,
        "near": near * delta / used,
        "stale": (stale or above) * delta / used,
    }


def served(r: int) -> int:
    """The round whose boundary round r uses: multiples of 1, 2, 4, ... from 128, 256, ... on."""
    step = 1
    while r > 128 * step:
        step *= 2
    while r % step:
        r += 1
    return r


def te_plus(
    s: Setting, log: list[dict[str, Any]], *, arms: str = "independent", factor: float = 1.0
) -> Pulls:
    """TE+ as its module docstring has it, steps 1 to 5."""
    N, dims = len(s.sizes), range(s.dims)
    alpha = levels(s.sizes, s.dims, s.delta, arms)
    spread, times = (2.0, 1.0) if arms == "independent" else (1.0, 2.0)
    undecided = set(s.groups) if N > 1 else set()
    accepted = set() if N > 1 else {0}
    rejected: set[int] = set()
    active = {(i, d) for i in undecided for d in dims}
    alive = {(i, d): set(range(s.sizes[i])) for i in s.groups for d in dims}
    above: set[tuple[int, int, int]] = set()
    near: set[tuple[int, int, int]] = set()
    far: set[tuple[int, int, int]] = set()
    mu, close = Means(s), Closest()
    R = [[0.0] * s.dims for _ in s.groups]
    r = 0

    def open_pair(i: int, j: int) -> bool:
        return j not in rejected and not any((i, j, d) in near for d in dims)

    while undecided:
        r += 1
        pulled = [
            (i, j) for i, j in s.arms if any((i, d) in active and j in alive[i, d] for d in dims)
        ]
        mu.add(pulled, (yield pulled))
        rho = {
            kind: times * factor * mixture_edge(spread * served(r), level) / r
            for kind, level in alpha.items()
        }
        for i, d in active:
            R[i][d] = max(mu((i, j), d) for j in alive[i, d])
        new: list[tuple[set[tuple[int, int, int]], tuple[int, int, int]]] = []
        for i in undecided:
            for j in s.groups:
                if j == i:
                    continue
                for d in dims:
                    if (i, d) not in active or (j, d) not in active:
                        continue
                    ahead, behind = R[i][d] - R[j][d], R[j][d] - R[i][d]
                    if close(behind - rho["above"] * s.scale[d]) >= 0:  # 1
                        new.append((above, (j, i, d)))
                    if open_pair(i, j):
                        if close(ahead + s.epsilon[d] - rho["near"] * s.scale[d]) >= 0:
                            new.append((near, (i, j, d)))
                        if close(behind - s.epsilon[d] - rho["above"] * s.scale[d]) >= 0:
                            new.append((far, (j, i, d)))
        for signs, sign in new:
            signs.add(sign)
        beaten = {
            i
            for i in undecided
            if any(all((j, i, d) in above for d in dims) for j in s.groups if j != i)
        }
        rejected |= beaten  # 2
        undecided -= beaten
        safe = {i for i in undecided if not any(open_pair(i, j) for j in s.groups if j != i)}
        accepted |= safe  # 3
        undecided -= safe
        for i, d in active:  # 4
            alive[i, d] -= {
                j
                for j in alive[i, d]
                if close(R[i][d] - mu((i, j), d) - rho["stale"] * s.scale[d]) >= 0
            }
        active = {
            (k, d)
            for i in undecided
            for j in s.groups
            if j != i and open_pair(i, j)
            for d in dims
            if (j, i, d) not in far
            for k in (i, j)
        }  # 5
        log.append(
            {
                "G": set(undecided),
                "P": set(accepted),
                "rejected": set(rejected),
                "dims": set(active),
                "arms": {(i, d, j) for (i, d) in active for j in alive[i, d]},
                "Rhat": [list(row) for row in R],
                "beta": rho["above"],
                "pulled": set(pulled),
            }
        )
    return Outcome(accepted, R, log, margin=close.margin)

"""Compressors on the source files of Python's standard library, of which a part will do.

Groups are compressors, arms are their settings, items are files. Decided dims: the share of bytes that
is saved, and how fast the file is unpacked (log10 of MB/s over 4). Two settings never differ on one file
by as much as files differ from each other: that is declared, checked, and saves most of the work.

    python examples/codec_items/run.py
"""

from __future__ import annotations

import bz2
import lzma
import math
import sysconfig
import time
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import bestgroup as bg

CODECS = {
    "zlib": ["level=1", "level=6", "level=9"],
    "bz2": ["level=1", "level=9"],
    "lzma": ["preset=0", "preset=6"],
}
GOAL = bg.ParetoGroups(0.02)
DELTA = 0.05


@cache
def files() -> dict[str, Path]:
    """Return up to 500 source files of the standard library, by name."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    found = sorted(p for p in folder.rglob("*.py") if 4000 < p.stat().st_size < 200_000)
    kept = [p for p in found if "site-packages" not in p.parts][:500]
    return {p.relative_to(folder).as_posix(): p for p in kept}


def evaluate(group: str, arm: str, item: str) -> tuple[float, float]:
    """Return the share saved and the speed of unpacking of one file."""
    data, value = files()[item].read_bytes(), int(arm.partition("=")[2])
    if group == "zlib":
        packed, unpack = zlib.compress(data, value), zlib.decompress
    elif group == "bz2":
        packed, unpack = bz2.compress(data, value), bz2.decompress
    else:
        packed, unpack = lzma.compress(data, preset=value), lzma.decompress
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        unpack(packed)
        seconds.append(time.perf_counter() - begun)
    speed = math.log10(len(data) / 1e6 / min(seconds)) / 4
    return 1 - len(packed) / len(data), min(max(speed, 0.0), 1.0)


def solve(**options: Any) -> bg.Solution:
    """Return the proven answer."""
    problem = bg.Problem(
        CODECS,
        {"saved": "max", "speed": "max"},
        bg.Bounded([-1.0, 0.0], 1.0, difference=[0.5, 0.7]),
        items=bg.Items(names=list(files())),
    )
    return bg.solve(problem, GOAL, evaluate, delta=DELTA, **options)


def main() -> None:
    """Solve, and say what was saved."""
    found = solve()
    print(found)
    for group, why in found.explanations.items():
        done = ", ".join(f"{arm['arm']} {arm['pulls']:,}" for arm in why.arms)
        print(f"  {group}: {why.status}; files done: {done}")
    total = len(files()) * sum(map(len, CODECS.values()))
    share = found.answer.pulls / total
    print(
        f"{found.answer.pulls:,} of {total:,} cells of the table were scored: {1 - share:.0%} saved"
    )


if __name__ == "__main__":
    main()

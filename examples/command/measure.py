"""A stand-in for any program: compresses random text and prints the ratio and the time.

Called as `measure.py GROUP ARM SEED`; prints two numbers on its last line.
"""

import bz2
import lzma
import random
import sys
import time
import zlib

METHODS = {
    "zlib": {"fast": lambda b: zlib.compress(b, 1), "best": lambda b: zlib.compress(b, 9)},
    "bz2": {"fast": lambda b: bz2.compress(b, 1), "best": lambda b: bz2.compress(b, 9)},
    "lzma": {
        "fast": lambda b: lzma.compress(b, preset=0),
        "best": lambda b: lzma.compress(b, preset=6),
    },
}
WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "seven",
    "wizards",
    "mix",
    "potions",
]


def main() -> None:
    """Compress one random text."""
    group, arm, seed = sys.argv[1:]
    draw = random.Random(int(seed))
    text = " ".join(draw.choices(WORDS, k=3000)).encode()
    begun = time.perf_counter()
    size = len(METHODS[group][arm](text))
    seconds = time.perf_counter() - begun
    print(f"compressed {len(text)} bytes")
    print(size / len(text), min(seconds, 1.0))


if __name__ == "__main__":
    main()

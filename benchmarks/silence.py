"""The longest silence of every command at a terminal: seconds of the clock without any output.

Each command runs on a pseudo-terminal, on the problems of `examples` and on a table drawn from their
means. Counted are the time before the first output, between two, and after the last one until it has
ended. `--cold` gives every command an empty cache of compiled code; without it each runs once before,
so that its code is there. What it writes over and over, such as a bar, counts as output: somebody who
looks sees that work goes on.

    python benchmarks/silence.py [--cold] [--only calibrate certify] [--show]
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

import bestgroup as bg

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MEASURE = "import sys; print({'a': .9, 'b': .2}[sys.argv[1]])"
QUICK = f"""
name = "quick"
delta = 0.05
[goal]
kind = "best"
epsilon = 0.1
weights = {{ score = 1.0 }}
[dims]
score = "max"
[noise]
kind = "bounded"
low = 0.0
high = 1.0
[groups]
a = ["x", "y"]
b = ["x", "y"]
[evaluate]
command = "{sys.executable} measure.py {{group}}"
"""


class Silence(NamedTuple):
    """How long a command took and said nothing."""

    first: float  # seconds before the first output
    between: float  # between two, at most
    last: float  # after the last one
    whole: float
    before: str  # what it had said before its longest silence
    code: int


def prepare(folder: Path) -> None:
    """Write what the commands read."""
    shutil.copy(EXAMPLES / "bundles.toml", folder)
    shutil.copy(EXAMPLES / "limits" / "serving.toml", folder)
    (folder / "quick.toml").write_text(QUICK)
    (folder / "measure.py").write_text(MEASURE)
    spec = bg.load_spec(folder / "bundles.toml")
    means = spec.instance().means
    rng, rows = np.random.default_rng(0), ["group,arm,profit,satisfaction,returns"]
    for i, group in enumerate(spec.groups):
        for j, arm in enumerate(spec.arms[i]):
            values = (rng.random((400, 3)) < np.abs(means[i][j])).astype(int)
            rows += [",".join([group, arm, *map(str, row)]) for row in values.tolist()]
    (folder / "table.csv").write_text("\n".join(rows) + "\n")


COMMANDS = {
    "help": ["--help"],
    "demo": ["demo", "--out", "demo"],
    "simulate": ["simulate", "bundles.toml"],
    "simulate, limits": ["simulate", "serving.toml", "--runs", "20"],
    "compare": ["compare", "bundles.toml"],
    "calibrate": ["calibrate", "bundles.toml", "--runs", "500", "--plot", "rates.png"],
    "bounds": ["bounds", "bundles.toml"],
    "plan": ["plan", "bundles.toml"],
    "init": ["init", "table.csv", "--out", "pilot.toml"],
    "certify": ["certify", "table.csv", "--problem", "bundles.toml", "--proof", "proof.json"],
    "verify": ["verify", "proof.json", "table.csv"],
    "solve": ["solve", "quick.toml", "--csv", "quick.csv"],
    "study create": ["study", "create", "bundles.toml"],
    "study ask": ["study", "ask", "bundles", "-n", "5"],
    "study import": ["study", "import", "bundles", "table.csv"],
    "study status": ["study", "status", "bundles"],
    "study answer": ["study", "answer", "bundles"],
    "study explain": ["study", "explain", "bundles", "office"],
    "study report": ["study", "report", "bundles", "report.html"],
    "study export": ["study", "export", "bundles", "exported.csv"],
    "study check": ["study", "check", "bundles"],
    "reproduce": ["reproduce", "all", "--runs", "2", "--instances", "1", "--survey", "2"],
    "serve": ["serve", "--port", "0", "--no-auth", "--storage", "memory", "--quiet"],
    "work": ["work"],
}


def listen(words: list[str], folder: Path, cache: Path, stop: bool, show: bool) -> Silence:
    """Run a command at a terminal; with `stop` it gets Ctrl-C after what it says first."""
    begun = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"BESTGROUP_CACHE": str(cache), "TERM": "xterm", "COLUMNS": "100"}
        os.execv(sys.executable, [sys.executable, "-m", "bestgroup", *words])
    times, texts = [begun], [b"(nothing)"]
    while True:
        try:
            ready, _, _ = select.select([terminal], [], [], 600.0)
            chunk = os.read(terminal, 65536) if ready else b""
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        times.append(time.monotonic())
        texts.append(chunk)
        if show:
            print(f"{times[-1] - begun:8.2f} {chunk[:100]!r}", flush=True)
        if stop and len(times) == 2:
            time.sleep(0.5)
            os.kill(pid, signal.SIGINT)
    times.append(time.monotonic())
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    gaps = np.diff(times)
    said = texts[int(gaps.argmax())].decode(errors="replace").split("\n")
    middle = float(gaps[1:-1].max()) if len(gaps) > 2 else 0.0
    words_before = next((line.strip() for line in reversed(said) if line.strip()), "")[:40]
    return Silence(float(gaps[0]), middle, float(gaps[-1]), times[-1] - begun, words_before, code)


@contextmanager
def served(folder: Path, cache: Path) -> Iterator[str]:
    """Serve a study of the quick problem; yields the address."""
    bestgroup = [sys.executable, "-m", "bestgroup"]
    where = f"sqlite:///{folder / 'served.db'}"
    surroundings = os.environ | {"BESTGROUP_CACHE": str(cache)}
    given = {"cwd": folder, "env": surroundings, "text": True}
    create = [*bestgroup, "study", "create", "quick.toml", "--storage", where]
    subprocess.run(create, check=False, capture_output=True, **given)
    serve = [*bestgroup, "serve", "--storage", where, "--port", "0", "--no-auth", "--json"]
    with subprocess.Popen([*serve, "--quiet"], stdout=subprocess.PIPE, **given) as server:
        text = ""
        assert server.stdout is not None
        while "}" not in text:
            text += server.stdout.readline()
        try:
            yield next(word for word in text.replace('"', " ").split() if word.startswith("http"))
        finally:
            server.send_signal(signal.SIGINT)


def measure(name: str, folder: Path, cache: Path, show: bool) -> Silence:
    """Return how silent a command is."""
    words = COMMANDS[name]
    if name != "work":
        return listen(words, folder, cache, name == "serve", show)
    with served(folder, cache) as address:
        line = f"{sys.executable} measure.py {{group}}"
        return listen([*words, address, "--command", line], folder, cache, False, show)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cold", action="store_true", help="an empty cache for each command")
    parser.add_argument("--only", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--show", action="store_true", help="print what comes when")
    given = parser.parse_args()
    print(
        f"{'command':17} {'first':>6} {'between':>8} {'last':>6} {'whole':>7}  before the longest"
    )
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        prepare(folder)
        for name in given.only:
            cache = Path(os.environ.get("BESTGROUP_CACHE", folder / "cache"))
            if given.cold:
                cache = folder / f"cache of {name}"
            elif name not in ("serve", "help"):
                measure(name, folder, cache, False)
                for made in ("bestgroup.db", "served.db", "demo", "reproduce-output", "pilot.toml"):
                    if name in ("study create", "work", "demo", "reproduce", "init"):
                        path = folder / made
                        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            found = measure(name, folder, cache, given.show)
            failed = "" if found.code in (0, 130) else f"  FAILED ({found.code})"
            print(
                f"{name:17} {found.first:6.2f} {found.between:8.2f} {found.last:6.2f} "
                f"{found.whole:7.2f}  {found.before}{failed}",
                flush=True,
            )


if __name__ == "__main__":
    main()

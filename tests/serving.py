"""A real server as a child process, and what tests of the service share."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import httpx

WRITER, READER = "writer-token-for-tests", "reader-token-for-tests"
GROUPS = {"alpha": ["a1", "a2"], "beta": ["b1"], "gamma": ["c1", "c2"]}
MEANS = {
    "alpha": {"a1": (0.9, 0.2), "a2": (0.3, 0.4)},
    "beta": {"b1": (0.2, 0.9)},
    "gamma": {"c1": (0.1, 0.1), "c2": (0.15, 0.05)},
}


HARD = {
    "alpha": {"a1": (0.6, 0.3), "a2": (0.3, 0.4)},
    "beta": {"b1": (0.3, 0.6)},
    "gamma": {"c1": (0.5, 0.3), "c2": (0.45, 0.2)},
}


def evaluate(group, arm, seed, means=MEANS):
    """Return a draw of an arm that its seed alone decides."""
    rng = random.Random(seed)
    return [float(rng.random() < mean) for mean in means[group][arm]]


def evaluate_hard(group, arm, seed):
    """Return a draw of a problem that takes many more pulls."""
    return evaluate(group, arm, seed, HARD)


def description(name="demo", groups=GROUPS, dims=("profit", "speed"), **rest):
    """Return the body that creates a study."""
    return {
        "name": name,
        "problem": {
            "groups": groups,
            "dims": dict.fromkeys(dims, "max"),
            "noise": {"kind": "bounded", "low": 0, "high": 1},
        },
        "goal": {"kind": "pareto", "epsilon": 0.2},
        "delta": 0.1,
        "algorithm": "te",
        **rest,
    }


START = "from bestgroup.cli.main import run; run()"


class Served:
    """`bestgroup serve` on a file; it can be killed and started again on the same port."""

    def __init__(self, folder, storage=None, before=""):
        self.folder = folder
        self._before = before  # a line of Python that runs first
        self._storage = storage or f"sqlite:///{folder}/served.db"
        self.port = 0
        self.log = folder / "serve.log"
        self.start()

    def start(self):
        words = ["serve", "--storage", self._storage, "--port", str(self.port), "--json"]
        environment = {
            **os.environ,
            "BESTGROUP_TOKEN": WRITER,
            "BESTGROUP_READER_TOKEN": READER,
        }
        program = ["-c", f"{self._before}\n{START}"] if self._before else ["-m", "bestgroup"]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )
        assert self.process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, self.log.read_text()[-2000:]
            text += line
        self.url = json.loads(text)["writer"]
        self.base = self.url.split("?")[0]
        self.port = int(self.base.rsplit(":", 1)[1].strip("/"))
        deadline = time.monotonic() + 30
        while True:
            try:
                httpx.get(f"{self.base}healthz", trust_env=False).raise_for_status()
                return
            except httpx.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def client(self, token=WRITER):
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(
            base_url=f"{self.base}api/v1", headers=headers, timeout=60, trust_env=False
        )

    def kill(self):
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        self.process.stdout.close()


def worker(url, *options, folder, function="evaluate"):
    """Start `bestgroup work` with a function of this module."""
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    words = [sys.executable, "-m", "bestgroup", "work", url, "--python", f"serving:{function}"]
    return subprocess.Popen(
        [*words, "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    )

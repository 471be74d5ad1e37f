"""Observations a second over HTTP: one server on SQLite, a few clients, batches of 100.

A request tells 100 observations and brings the tickets of the next 100. A reader asks for the page's
view once a second meanwhile. Prints the rates, and how long the slowest view took.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

SECONDS, CLIENTS, BATCH = 10.0, 2, 100
TOKEN = "a-token-for-the-benchmark"
GROUPS = {f"group {i}": [f"arm {i}.{j}" for j in range(5)] for i in range(10)}


def serve(folder: Path) -> tuple[subprocess.Popen[str], str]:
    words = [
        "serve",
        "--storage",
        f"sqlite:///{folder}/bench.db",
        "--port",
        "0",
        "--json",
        "--quiet",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "bestgroup", *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BESTGROUP_TOKEN": TOKEN},
    )
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    return process, json.loads(text)["writer"].split("?")[0]


def connect(base: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "identity"}
    return httpx.Client(base_url=f"{base}api/v1", headers=headers, timeout=60, trust_env=False)


def create(base: str, name: str) -> None:
    body = {
        "name": name,
        "problem": {
            "groups": GROUPS,
            "dims": {"profit": "max", "speed": "max"},
            "noise": {"kind": "subgaussian", "scale": 1.0},
        },
        "goal": {"kind": "pareto", "epsilon": 0.0001},
        "algorithm": "te",
        "horizon": 100_000,
    }
    with connect(base) as client:
        while True:
            try:
                client.post("/studies", json=body).raise_for_status()
                return
            except httpx.ConnectError:
                time.sleep(0.1)


def work(base: str, study: str, repeats: int, end: float, told: list[int]) -> None:
    query = {"study": study}
    owner = threading.current_thread().name
    wish = {"n": BATCH // repeats, "repeats": repeats, "owner": owner}
    with connect(base) as client:
        answer = client.post("/ask", params=query, json=wish).raise_for_status().json()
        while time.monotonic() < end:
            results = [
                {
                    "ticket": {k: t[k] for k in ("group", "arm", "index", "repeats", "owner")},
                    "values": [[(seed % 997) / 997, (seed % 991) / 991] for seed in t["seeds"]],
                }
                for t in answer["tickets"]
            ]
            body = {"results": results, "ask": wish}
            response = client.post("/tell", params=query, json=body).raise_for_status()
            answer = response.json()
            told.append(answer["new"])


def look(base: str, study: str, end: float, views: list[tuple[float, int]]) -> None:
    with connect(base) as client:
        while time.monotonic() < end:
            begun = time.monotonic()
            response = client.get("/view", params={"study": study}).raise_for_status()
            views.append((time.monotonic() - begun, len(response.content)))
            time.sleep(1.0)


def processor(pid: int) -> float:
    """Return the seconds of processor time of a process; NaN where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(repeats: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        process, base = serve(Path(folder))
        try:
            create(base, "bench")
            before = processor(process.pid)
            told, views, spent = load(base, "bench", repeats)
            cpu = processor(process.pid) - before
        finally:
            process.terminate()
            process.wait()
    total, kind = sum(told), f"{BATCH // repeats} tickets of {repeats}"
    slowest, size = max(v[0] for v in views), max(v[1] for v in views)
    print(
        f"{kind:>18}: {total / spent:7,.0f} observations/s told ({len(told)} batches of {BATCH}); "
        f"{total / cpu:7,.0f} in a second of the server's processor time; "
        f"view: slowest {slowest:.2f} s, largest {size / 1000:.0f} kB"
    )


def load(base: str, study: str, repeats: int) -> tuple[list[int], list[tuple[float, int]], float]:
    told: list[int] = []
    views: list[tuple[float, int]] = []
    begun = time.monotonic()
    end = begun + SECONDS
    threads = [
        threading.Thread(target=work, args=(base, study, repeats, end, told), name=f"c{k}")
        for k in range(CLIENTS)
    ]
    threads.append(threading.Thread(target=look, args=(base, study, end, views)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told, views, time.monotonic() - begun


def main() -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{CLIENTS} clients, {SECONDS:g} s each, {cores} cores, load {os.getloadavg()[0]:.1f}")
    for repeats in (100, 10, 1):
        measure(repeats)


if __name__ == "__main__":
    main()

"""The service under load: imports, explanations and 50 workers; others must hardly notice.

`BESTGROUP_LOAD_SECONDS` sets how long; `make verify` takes ten minutes. A second server, which has
nothing to do but to answer the same probe, shows what the computer allows at that time.
"""

import io
import multiprocessing
import os
import random
import threading
import time

import httpx
import numpy as np
import pytest

from servers import storage
from serving import HARD, WRITER, Served, description, evaluate

SPAWN = multiprocessing.get_context("spawn")
HEADERS = {"Authorization": f"Bearer {WRITER}"}
WORKERS, CROWDS = 50, 5
DONE = ("tell", "import", "explain")
GROUPS = {f"g{k}": [f"a{j}" for j in range(4)] for k in range(40)}


def client(base):
    return httpx.Client(base_url=f"{base}api/v1", headers=HEADERS, timeout=60, trust_env=False)


def work(base, until, seed):
    """Ask and tell on one of the crowds' studies until the time is over."""
    rng = random.Random(seed)
    study = f"crowd {seed % CROWDS}"
    with client(base) as http:
        tickets = []
        while time.time() < until:
            results = [
                {"ticket": t, "values": evaluate(t["group"], t["arm"], t["seed"], HARD)}
                for t in tickets
            ]
            body = {"n": 4, "owner": f"w{seed}", "lease": 30}
            if results:
                answer = http.post(
                    "/tell", params={"study": study}, json={"results": results, "ask": body}
                )
            else:
                answer = http.post("/ask", params={"study": study}, json=body)
            assert answer.status_code in (200, 409), answer.text
            tickets = answer.json().get("tickets", [])
            time.sleep(rng.uniform(0.1, 0.5))


def crowd(base, until):
    threads = [threading.Thread(target=work, args=(base, until, k)) for k in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def burden(base, until):
    """Import tables into studies of their own, and have them explained."""
    rng, round_ = np.random.default_rng(0), 0
    with client(base) as http:
        while time.time() < until:
            name = f"heavy {round_}"
            round_ += 1
            body = description(name, groups=GROUPS, goal={"kind": "pareto", "epsilon": 0.01})
            assert http.post("/studies", json=body).status_code == 201
            lines = io.StringIO()
            lines.write("group,arm,profit,speed\n")
            for group, arms in GROUPS.items():
                for arm in arms:
                    for x, y in rng.random((250, 2)):
                        lines.write(f"{group},{arm},{x:.6f},{y:.6f}\n")
            answer = http.post("/import", params={"study": name}, content=lines.getvalue())
            assert answer.status_code == 200, answer.text
            for group in list(GROUPS)[:10]:
                got = http.get("/explain", params={"study": name, "group": group})
                assert got.status_code == 200, got.text
            http.get("/view", params={"study": name})
            http.delete("/study", params={"study": name})


def probe(base, until):
    """Return the times of health, ask and tell of a study that has nothing to do with all that."""
    times = {"health": [], "ask": [], "tell": []}
    with client(base) as http, httpx.Client(trust_env=False) as plain:
        while time.time() < until:
            begun = time.perf_counter()
            assert plain.get(f"{base}healthz").status_code == 200
            times["health"].append(time.perf_counter() - begun)
            begun = time.perf_counter()
            body = {"owner": "probe", "n": 1}
            (ticket,) = http.post("/ask", params={"study": "probe"}, json=body).json()["tickets"]
            times["ask"].append(time.perf_counter() - begun)
            result = {"ticket": ticket, "values": [0.5, 0.5]}
            begun = time.perf_counter()
            told = http.post("/tell", params={"study": "probe"}, json={"results": [result]})
            assert told.json()["new"] == 1
            times["tell"].append(time.perf_counter() - begun)
            time.sleep(0.05)
    return times


def family(pid):
    """Return the numbers of a process and of those that it has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid, *(p for child in file.read().split() for p in family(int(child)))]


def memory(pid):
    """Return the megabytes of a server and its background process."""
    pages = 0
    for process in family(pid):
        with open(f"/proc/{process}/statm") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def probe_apart(base, until, found):
    """Probe from a process of its own, so that two probes do not wait for each other."""
    found.put(probe(base, until))


def start(folder, place, names):
    """Return a server with studies of these names that do not end soon."""
    folder.mkdir()
    served = Served(folder, place)
    with client(served.base) as http:
        for name in names:
            body = description(name, horizon=200, goal={"kind": "pareto", "epsilon": 0.01})
            assert http.post("/studies", json=body).status_code == 201
    return served


def shown(times):
    """Return the 99 % quantiles, and a text of them."""
    slow = {key: float(np.quantile(found, 0.99)) for key, found in times.items()}
    return slow, ", ".join(f"{key} {value * 1e3:.0f} ms" for key, value in slow.items())


def load(folder, places, seconds):
    served = start(folder / "busy", places[0], ["probe", *(f"crowd {k}" for k in range(CROWDS))])
    quiet = start(folder / "quiet", places[1], ["probe"])
    until = time.time() + seconds
    others = [
        SPAWN.Process(target=target, args=(served.base, until), daemon=True)
        for target in (crowd, burden)
    ]
    for process in others:
        process.start()
    found, sizes = SPAWN.Queue(), []
    time.sleep(min(20.0, seconds / 4))  # until all of it was loaded and done once
    beside = SPAWN.Process(target=probe_apart, args=(quiet.base, until, found), daemon=True)
    beside.start()
    watch = threading.Thread(target=weigh, args=(served.process.pid, until, sizes))
    watch.start()
    times = probe(served.base, until)
    alone = found.get(timeout=120)
    watch.join()
    for process in (*others, beside):
        process.join(120)
        assert process.exitcode == 0
    lines = served.log.read_text().splitlines()
    served.stop()
    quiet.stop()
    assert not [line for line in lines if '"status": 5' in line]
    slow, text = shown(times)
    count = {route: sum(f'"route": "/api/v1/{route}"' in line for line in lines) for route in DONE}
    done = ", ".join(f"{number} {route}" for route, number in count.items())
    third = len(sizes) // 3
    early, late = max(sizes[:third]), max(sizes[-third:])
    print(
        f"{seconds:g} s, {WORKERS} workers, {done}: 99 % within {text}; of a server without load, "
        f"at the same time, {shown(alone)[1]}; load average {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores; memory at most {early:.0f} MB in the first third, {late:.0f} MB "
        "in the last"
    )
    return slow, early, late


def weigh(pid, until, sizes):
    """Note the memory of a server and its background process every half second."""
    while time.time() < until:
        sizes.append(memory(pid))
        time.sleep(0.5)


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_ten_minutes_of_load(kind, tmp_path):
    seconds = float(os.environ.get("BESTGROUP_LOAD_SECONDS", "600"))
    places = storage(kind, tmp_path), storage(kind, tmp_path)
    slow, early, late = load(tmp_path, places, seconds)
    assert slow["health"] < 0.1 and slow["ask"] < 0.25 and slow["tell"] < 0.25
    assert late < 1.2 * early + 50

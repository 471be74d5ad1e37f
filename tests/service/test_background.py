"""What may take long is done in a process of its own, which may end at any time."""

import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from bestgroup.service.app import create_app
from bestgroup.service.background import Background
from bestgroup.studies.storage.memory import MemoryStore
from serving import WRITER, Served, description

TABLE = "group,arm,profit,speed\n" + "".join(
    f"{group},{arm},{k / 40:.3f},{k % 2}\n"
    for group, arm in (("alpha", "a1"), ("alpha", "a2"), ("beta", "b1"), ("gamma", "c1"))
    for k in range(40)
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("background"))
    yield server
    server.stop()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def test_long_work_is_done_by_another_process(served):
    with served.client() as http:
        assert http.post("/studies", json=description("apart")).status_code == 201
        asked = {"owner": "w1", "n": 2}
        tickets = http.post("/ask", params={"study": "apart"}, json=asked).json()["tickets"]
        results = [{"ticket": ticket, "values": [0.5, 1.0]} for ticket in tickets]
        http.post("/tell", params={"study": "apart"}, json={"results": results})
        new = http.post("/import", params={"study": "apart"}, content=TABLE).json()["new"]
        assert new == 160
        view = http.get("/view", params={"study": "apart"}).json()
        # Who asked and told is known to the process that they asked.
        assert {row["owner"]: row["told"] for row in view["workers"]} == {"w1": 2, "import": 160}
        assert view["status"]["told"] == 162 and view["rate"] > 0
        why = http.get("/explain", params={"study": "apart", "group": "alpha"})
        assert why.json()["group"] == "alpha"
        assert len(http.get("/export", params={"study": "apart"}).text.splitlines()) == 163
        assert http.get("/explain", params={"study": "apart", "group": "?"}).status_code == 422
        assert http.get("/view", params={"study": "no"}).status_code == 404
        assert http.get("/nothing").status_code == 404
    address = f"{served.base}metrics"
    text = httpx.get(address, headers={"Authorization": f"Bearer {WRITER}"}).text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert float(numbers["bestgroup_observations_told_total"]) == 162
    assert float(numbers["bestgroup_background_resident_memory_bytes"]) > 3e7
    assert 0 <= float(numbers["bestgroup_certificate_lag"]) <= 162
    (child,) = children(served.process.pid)
    assert "background_process" in Path(f"/proc/{child}/cmdline").read_text()
    lines = served.log.read_text()
    assert '"route": "/api/v1/import"' in lines and '"study":' in lines and "apart" not in lines


def test_studies_made_again_are_the_new_ones(served):
    with served.client() as http:
        for turn in range(3):
            assert http.post("/studies", json=description("again")).status_code == 201
            (ticket,) = http.post("/ask", params={"study": "again"}, json={"owner": "w"}).json()[
                "tickets"
            ]
            result = {"ticket": ticket, "values": [0.25 * turn, 0.5]}
            told = http.post("/tell", params={"study": "again"}, json={"results": [result]})
            assert told.json()["new"] == 1
            assert http.get("/status", params={"study": "again"}).json()["told"] == 1
            assert http.delete("/study", params={"study": "again"}).status_code == 200
            gone = http.post("/ask", params={"study": "again"}, json={"owner": "w"})
            assert gone.status_code == 404


def test_a_process_that_ends_is_started_again(served):
    with served.client() as http:
        http.post("/studies", json=description("lasting"))
        for _ in range(2):
            (child,) = children(served.process.pid)
            os.kill(child, signal.SIGKILL)
            assert http.get("/status", params={"study": "lasting"}).json()["told"] == 0
            assert http.post("/ask", params={"study": "lasting"}, json={"owner": "w"}).json()
        assert "the background process has ended" in served.log.read_text()


def test_a_body_that_is_too_long_is_refused_before_it_is_all_there(served):
    def endless():
        for _ in range(20):
            yield b" " * 2**20

    with served.client() as http:
        assert http.post("/studies", content=endless()).status_code == 413
        assert http.get("/studies").status_code == 200


def test_it_ends_with_its_server_however_that_ends(tmp_path):
    server = Served(tmp_path)
    (child,) = children(server.process.pid)
    server.kill()
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        if Path(f"/proc/{child}/stat").read_text().split(") ")[1][0] == "Z":
            break  # nobody collects it here
        time.sleep(0.05)
    else:
        assert not os.path.exists(f"/proc/{child}")


def test_a_storage_in_memory_has_no_other_process(tmp_path):
    assert create_app(MemoryStore(), None, apart=True).state.background is None
    assert create_app("memory", None, apart=True).state.background is None
    app = create_app(f"sqlite:///{tmp_path}/x.db", None, apart=True)
    assert isinstance(app.state.background, Background)
    app.state.hub.close()

"""What people send who mean no good, or do not know better: a sentence, never a 5xx, nothing stored."""

import gzip
import json
import socket
import threading

import httpx
import pytest

from serving import WRITER, Served, description

HEADERS = {"Authorization": f"Bearer {WRITER}"}
JSON = {"Content-Type": "application/json"}
DEEP = 100_000


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("hostile"))
    with server.client() as http:
        assert http.post("/studies", json=description("target")).status_code == 201
    yield server
    server.stop()
    log = server.log.read_text()
    assert '"status": 5' not in log and "Traceback" not in log


@pytest.fixture
def http(served):
    with served.client() as client:
        before = client.get("/studies").json()
        yield client
        assert client.get("/studies").json() == before  # nothing was stored


def ticket(**changes):
    return {"group": "alpha", "arm": "a1", "index": 0, "owner": "w", **changes}


def results(values, **changes):
    return json.dumps({"results": [{"ticket": ticket(**changes), "values": values}]})


BODIES = {
    "NaN": results([0.5, 0.5]).replace("0.5", "NaN"),
    "Infinity": results([0.5, 0.5]).replace("0.5", "-Infinity"),
    "1e999": results([0.5, 0.5]).replace("0.5", "1e999"),
    "a giant integer": results([0.5, 0.5]).replace("0.5", "9" * 5_000),
    "a giant index": results([0.5, 0.5]).replace('"index": 0', f'"index": {10**400}'),
    "an index beyond 64 bits": results([0.5, 0.5], index=2**63),
    "a negative index": results([0.5, 0.5], index=-1),
    "deep lists": '{"results": ' + "[" * DEEP + "]" * DEEP + "}",
    "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "a number": "1",
    "half a text": '{"results": [{"ticket"',
    "bytes": b"\xff\xfe\x00{",
    "lone surrogates": results([0.5, 0.5]).replace("alpha", "\\ud800"),
    "a null character": results([0.5, 0.5]).replace("alpha", "al\\u0000pha"),
    "too few values": results([0.5]),
    "texts for values": results(["0.5", "x"]),
    "a million rows": results([[0.5, 0.5]] * 200_000, repeats=200_000),
    "another's identity": results([0.5, 0.5], identity="x" * 32),
}


@pytest.mark.parametrize("what", BODIES)
def test_bad_tells(http, what):
    answer = http.post("/tell", params={"study": "target"}, content=BODIES[what], headers=JSON)
    assert answer.status_code in (409, 413, 422), answer.text
    assert 10 < len(answer.json()["detail"]) < 2_000


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", "", "x"])
def test_wrong_content_types(http, kind):
    headers = {"Content-Type": kind}
    body = json.dumps({"owner": "w", "n": 0})
    for path in ("/ask", "/tell", "/studies", "/studies/file", "/import", "/fail", "/heartbeat"):
        answer = http.post(path, params={"study": "target"}, content=body, headers=headers)
        assert answer.status_code in (409, 422), (path, answer.text)
    assert "Content-Type: application/json" in http.post("/studies", content=body).text


def many(count, arms=("a",)):
    body = description("many", groups={f"g{k}": list(arms) for k in range(count)})
    return json.dumps(body)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (many(100_000), "groups"),
        (many(100_001), "groups"),
        (many(3, ["a"] * 2), "a"),
        (json.dumps(description("x" * 5_000)), "200"),
        (json.dumps(description("x", delta=float("nan"))), "delta"),
        (json.dumps(description("x", delta=10**30)), "delta"),
        (json.dumps(description("x", horizon=10**30)), "horizon"),
        (json.dumps(description("x", seed=2**80)), "seed"),
        (json.dumps(description("x", batch=-1)), "batch"),
        (json.dumps(description("x", goal={"kind": "pareto", "epsilon": -1})), "epsilon"),
        (json.dumps(description("x", algorithm="../../etc/passwd")), "algorithm"),
        ("[" * DEEP, "JSON"),
    ],
)
def test_studies_that_cannot_be(http, body, sentence):
    answer = http.post("/studies", content=body, headers=JSON)
    assert answer.status_code == 422 and sentence in answer.json()["detail"], answer.text


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 60_000) + " = 1\n",
        "x = " + "[" * DEEP,
        "delta = " + "9" * DEEP,
        "name = '\\u0000'",
        "\x00" * 1_000,
        "a = 1\n" * 100_000,
        '[noise]\nkind = "exec"\n',
    ],
)
def test_problem_files_that_are_none(http, text):
    answer = http.post("/studies/file", json={"text": text})
    assert answer.status_code == 422 and answer.json()["detail"], answer.text


@pytest.mark.parametrize(
    "table",
    [
        gzip.compress(b"group,arm,profit,speed\n" + b"alpha,a1,1,1\n" * 3_000_000),
        b"",
        b"\xff" * 100_000,
        b"group,arm,profit,speed\nalpha,a1,nan,1\n",
        b"group,arm,profit,speed\nalpha,a1,1e999,1\n",
        b"group,arm,profit,speed\nalpha,a1," + b"9" * DEEP + b",1\n",
        b"group,arm,profit,speed\nnobody,a1,1,1\n",
        b"group,arm,profit,speed" + b",x" * 1_500_000,
        b'group,arm,profit,speed\n"alpha' + b"\n" * 1_000_000,
        b"PAR1" + b"\x00" * 100,
        b"group,arm,profit,speed\nalpha,a1,1,1\n" + b"alpha,a1,1,1,1\n",
    ],
)
def test_tables_that_are_none(http, table):
    answer = http.post("/import", params={"study": "target"}, content=table)
    assert answer.status_code == 422 and len(answer.json()["detail"]) < 2_000, answer.text
    packed = http.post(
        "/import", params={"study": "target"}, content=table, headers={"Content-Encoding": "gzip"}
    )
    assert packed.status_code == 422


NAMES = ["../../etc/passwd", "/etc/passwd", "..%2f..%2f", "a\x00b", "\ud800", "'; DROP TABLE x;--"]


@pytest.mark.parametrize("name", [*NAMES, "x" * 10_000, "%s%n", "${jndi:ldap://x}", "\u202e"])
def test_names_lead_nowhere(served, http, name):
    told = name.encode("utf-8", "surrogatepass")
    query = "study=" + "".join(f"%{byte:02x}" for byte in told)
    for path in ("/view", "/export", "/report", "/explain", "/events", "/course", "/study"):
        answer = http.get(f"{path}?{query}")
        assert answer.status_code in (404, 422), (path, answer.text)
    for path in ("static/../app.py", "static/..%2fapp.py", "static/%2e%2e/auth.py", "static//etc"):
        assert httpx.get(served.base + path, headers=HEADERS).status_code == 404


def test_names_of_any_kind_can_be_made_and_removed(served):
    with served.client() as http:
        for name in ("../../etc/passwd", "'; DROP TABLE bestgroup_studies;--", "\u202ex", "%s"):
            assert http.post("/studies", json=description(name)).status_code == 201
            assert http.get("/view", params={"study": name}).json()["name"] == name
            assert http.get("/export", params={"study": name}).status_code == 200
            assert http.delete("/study", params={"study": name}).status_code == 200


@pytest.mark.parametrize(
    "query",
    ["page=-1", "page=9e99", "size=0", f"size={10**30}", "x=nothing", "only=all", "sort=%00"],
)
def test_bad_questions(http, query):
    assert http.get(f"/view?study=target&{query}").status_code in (200, 422)
    assert http.get(f"/arms?study=target&{query}").status_code in (200, 422)
    assert http.get(f"/listing?{query}").status_code in (200, 422)


def test_words_that_are_no_http(served):
    host, port = "127.0.0.1", served.port
    for words in (
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"a" * 200_000,
        b"POST /api/v1/tell HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/v1/tell HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Length: 1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50_000,
    ):
        with socket.create_connection((host, port), timeout=20) as connection:
            try:
                connection.sendall(words)
                connection.shutdown(socket.SHUT_WR)
                said = connection.recv(1_000)
            except ConnectionError:
                continue
            assert b" 5" not in said.split(b"\r\n")[0]
    assert httpx.get(f"{served.base}healthz").status_code == 200


def test_delete_and_tell_at_once(served):
    codes = []

    def tell(client, asked):
        body = {"results": [{"ticket": t, "values": [0.5, 0.5]} for t in asked]}
        codes.append(client.post("/tell", params={"study": "brief"}, json=body).status_code)

    for _ in range(6):
        with served.client() as one, served.client() as two:
            assert one.post("/studies", json=description("brief")).status_code == 201
            wish = {"owner": "w", "n": 5}
            asked = one.post("/ask", params={"study": "brief"}, json=wish).json()["tickets"]
            thread = threading.Thread(target=tell, args=(two, asked))
            thread.start()
            assert one.delete("/study", params={"study": "brief"}).status_code == 200
            thread.join()
    assert len(codes) == 6 and set(codes) <= {200, 404, 409}

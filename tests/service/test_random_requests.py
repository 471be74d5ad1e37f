"""Random requests to every route of a real server, past every client library: none is answered with 5xx."""

import collections
import json
import os
import random
import socket
import time
from urllib.parse import quote

import httpx
import pytest

from serving import READER, WRITER, Served, description

SECONDS = float(os.environ.get("BESTGROUP_FUZZ_SECONDS", "60"))
TICKET = {"group": "alpha", "arm": "a1", "index": 0, "owner": "w"}
BODIES = {
    "/api/v1/studies": description("another"),
    "/api/v1/ask": {"n": 2, "owner": "w"},
    "/api/v1/tell": {"results": [{"ticket": TICKET, "values": [[0.5, 0.5]]}]},
    "/api/v1/fail": {"ticket": TICKET, "reason": "x"},
    "/api/v1/heartbeat": {"tickets": [TICKET], "lease": 5},
    "/api/v1/studies/file": {"text": "x = 1"},
}
TEXTS = ("", "\0", "demo", "\ud800", "a" * 5000, "../../x", "-1", "1e309", "NaN", "9" * 400, "[]")
TEXTS += ("'; drop table x;--", "\u202eabc", "<script>", "0", "1.5", "null")
VALUES = (None, True, 0, -1, 2**63, 10**400, 1.5, -1e308, *TEXTS, [], [[]], {}, [None], [1] * 50)
VALUES += ({"": ""}, TICKET, [TICKET], [[1e308, 1]], [["1", "2"]])
QUERY = ("group", "sort", "x", "y", "page", "size", "against", "find", "identity", "down", "state")
HEADERS = (b"Content-Type: application/json", b"Content-Type: text/csv", b"Content-Type: \xff")
HEADERS += (b"Content-Type: multipart/form-data; boundary=x", b"Content-Encoding: gzip")
HEADERS += (b"Accept: text/html", b"Range: bytes=0-5", b"X: y")
TOKENS = (WRITER, WRITER, WRITER, READER, "nobody")


def spoilt(rng, value):
    """Return a body with one entry, somewhere inside, replaced or left out."""
    if not (isinstance(value, dict) and value) or rng.random() < 0.1:
        return rng.choice(VALUES)
    key, rest = rng.choice(list(value)), dict(value)
    if rng.random() < 0.2:
        del rest[key]
    else:
        rest[key] = spoilt(rng, rest[key])
    return rest


def body_of(rng, path):
    kind = rng.random()
    if kind < 0.75:
        text = json.dumps(spoilt(rng, BODIES.get(path, {})))
        return text.encode("utf-8", "surrogatepass")
    if kind < 0.85:
        return rng.randbytes(rng.randint(0, 300))
    return rng.choice([b"[" * 5000, b"group,arm,profit,speed\nalpha,a1,nan,1", b'a,b\n"', b"\xff"])


def sent(port, method, path, body, header, token):
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    end = f"\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(head.encode() + header + end + body)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return int(answer[9:12])


@pytest.mark.verify
def test_no_random_request_gets_a_5xx(tmp_path):
    rng, seen, served = random.Random(1), collections.Counter(), Served(tmp_path)
    with served.client() as client:
        assert client.post("/studies", json=description()).status_code == 201
        spec = client.get(f"{served.base}openapi.json").json()
    routes = [(m.upper(), p) for p, entry in spec["paths"].items() for m in entry]
    routes = [(m, p) for m, p in routes if not p.endswith("/events")]  # has no end
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        method, path = rng.choice(routes)
        study = "demo" if rng.random() < 0.8 else rng.choice(TEXTS)
        query = {"study": study, **{k: rng.choice(TEXTS) for k in rng.sample(QUERY, 3)}}
        if method == "DELETE":
            query["study"] = "nobody"
        words = "&".join(
            f"{k}={quote(v.encode('utf-8', 'surrogatepass'))}" for k, v in query.items()
        )
        body = body_of(rng, path) if method == "POST" else b""
        request = method, f"{path}?{words}", body, rng.choice(HEADERS), rng.choice(TOKENS)
        status = sent(served.port, *request)
        seen[status] += 1
        assert status < 500, request
    assert httpx.get(f"{served.base}healthz", trust_env=False).status_code == 200
    served.stop()
    assert "Traceback" not in served.log.read_text()
    print(f"{seen.total()} random requests in {SECONDS:g} s: {dict(sorted(seen.items()))}")

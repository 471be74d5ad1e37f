"""The whole OpenAPI by schemathesis: whatever is sent, no 5xx and nothing that is not described."""

import os
import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.studies.storage.memory import MemoryStore
from serving import READER, WRITER, description

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from fastapi.testclient import TestClient
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

pytestmark = pytest.mark.filterwarnings("ignore")
CHECKS = (
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
HEADERS = {"Authorization": f"Bearer {WRITER}"}
QUICK = settings(
    max_examples=int(os.environ.get("SCHEMA_EXAMPLES", "5")),
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


app = create_app(MemoryStore(), Tokens(WRITER, READER))


def make_demo():
    """Make the study that the cases are about, unless it is there."""
    client = TestClient(app, base_url="http://localhost", headers=HEADERS)
    if client.get("/api/v1/study?study=demo").status_code == 404:
        assert client.post("/api/v1/studies", json=description(horizon=50)).status_code == 201
        asked = client.post("/api/v1/ask?study=demo", json={"n": 30, "owner": "w"}).json()
        results = [{"ticket": t, "values": [0.5, 0.5]} for t in asked["tickets"][:20]]
        assert client.post("/api/v1/tell?study=demo", json={"results": results}).is_success


loaded = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
# A stream of events has no end; tests/service/test_service_work.py reads one.
schema = loaded.exclude(path="/api/v1/events")


# By names of their own: of tests of one name a run in several processes runs one only.
OPERATIONS = {
    operation.label: operation
    for operation in (found.ok() for found in schema.get_all_operations())
}


def send(label, check):
    """Check what comes back from cases of an operation: what fits its schema, and what does not."""
    operation = OPERATIONS[label]
    modes = [GenerationMode.POSITIVE]
    if [*operation.iter_parameters()] or operation.body:  # else it cannot be asked wrongly
        modes.append(GenerationMode.NEGATIVE)
    for mode in modes:
        QUICK(given(case=operation.as_strategy(generation_mode=mode))(check))()


@pytest.mark.parametrize("label", OPERATIONS)
def test_any_study(label):
    def check(case):
        case.call_and_validate(headers=HEADERS, checks=CHECKS)

    send(label, check)


@pytest.mark.parametrize("label", OPERATIONS)
def test_a_study_that_is_there(label):
    def check(case):
        make_demo()  # the case before may have removed it
        if case.query and "study" in case.query:
            case.query["study"] = "demo"
        if isinstance(case.body, dict) and isinstance(case.body.get("ticket"), dict):
            case.body["ticket"] |= {"group": "alpha", "arm": "a1"}
        case.call_and_validate(headers=HEADERS, checks=CHECKS)

    send(label, check)


@pytest.mark.parametrize("label", OPERATIONS)
def test_strangers_get_401(label):
    def check(case):
        response = case.call(headers={"Authorization": "Bearer none-of-the-tokens"})
        assert response.status_code in ((200, 405) if case.path == "/healthz" else (401, 429))

    send(label, check)

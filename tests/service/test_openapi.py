"""The description of the service is true: what it allows works, what it does not is refused."""

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from refold.service import ModelStore, Settings, create


@pytest.fixture(scope="module")
def described(models):
    chosen = {name: models[name] for name in ("ref", "penguins")}
    app = create(ModelStore(chosen), Settings(max_rows=50), lambda entry: None)
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.slow
def test_no_request_breaks_it_and_every_answer_is_as_described(described):
    for found in described.get_all_operations():

        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        @given(found.ok().as_strategy())
        def holds(case):
            # What CSV or Arrow must hold cannot be said there.
            other = case.media_type not in (None, "application/json")
            case.call_and_validate(excluded_checks=[positive_data_acceptance] if other else [])

        holds()


def test_rows_are_described_by_the_columns_of_each_model(client):
    document = client.get("/openapi.json").json()
    row = document["components"]["schemas"]["Row-penguins"]
    assert row["properties"]["body_mass_g"]["type"] == ["number", "null"]
    assert "string" in row["properties"]["island"]["type"]
    assert set(row["required"]) == set(row["properties"])


def test_its_pages_load_nothing_from_elsewhere(client):
    for path in ("/docs", "/v1/models/ref"):
        answer = client.get(path, headers={"accept": "text/html"})
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", answer.text)

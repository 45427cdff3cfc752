"""A row by itself is answered, counted and watched as one among many."""

import json

import numpy as np
import pytest

from refold.service import ModelStore, create

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}
ROWS = [
    GOOD,
    {"x0": 9.0, "x1": -0.0, "x2": 1e300},
    {"x0": 1, "x1": 2**70, "x2": -3},
    {"x0": 1e-310, "x1": 0.2, "x2": None},
]


@pytest.mark.parametrize("name", ["ref", "creased", "plain", "numbers"])
@pytest.mark.parametrize("reasons", [0, 3])
def test_the_answer_is_that_of_many_rows_byte_by_byte(client, name, reasons):
    at = f"/v1/models/{name}/score?reasons={reasons}"
    lines = {"accept": "application/x-ndjson"}
    for row in ROWS:
        short = client.post(at, json=[row])
        among = client.post(at, json=[GOOD, row, GOOD], headers=lines)
        assert short.headers["content-type"] == "application/json"
        assert short.text.endswith(f'"rows": [{among.text.splitlines()[1]}]}}')
        assert json.loads(short.text)["model"] == name


@pytest.mark.parametrize("name", ["ref", "numbers"])
def test_no_row_that_came_alone_is_lost_to_drift_or_metrics(client, name):
    rows = np.random.default_rng(5).normal(size=(520, 3))  # more than are put together
    rows[::10, 0] = 50.0
    objects = [dict(zip(GOOD, row, strict=True)) for row in rows.tolist()]
    told = []
    for alone in (True, False):
        for sent in [[row] for row in objects] if alone else [objects]:
            assert client.post(f"/v1/models/{name}/score", json=sent).status_code == 200
        told.append(client.get(f"/v1/models/{name}/drift").json())
        client.post(f"/v1/models/{name}/drift/reset")
    assert told[0] == told[1]
    assert told[0]["rows"] == 520
    text = client.get("/metrics").text
    assert f'refold_rows_total{{model="{name}"}} 1040.0' in text
    assert f'refold_outliers_total{{model="{name}"}} 0.0' not in text


def test_below_the_path_of_another_application_it_is_found_too(models):
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.testclient import TestClient

    service = create(ModelStore({"ref": models["ref"]}), log=lambda entry: None)
    client = TestClient(Starlette(routes=[Mount("/quality", service)]))
    alone = TestClient(service).post("/v1/models/ref/score", json=[GOOD])
    assert client.post("/quality/v1/models/ref/score", json=[GOOD]).json() == alone.json()
    assert client.post("/v1/models/ref/score", json=[GOOD]).status_code == 404

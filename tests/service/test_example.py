"""The example of a model's row: the service takes it, and the model finds it normal."""

import numpy as np
import pandas as pd
import plotly.express as px
import pytest
from starlette.testclient import TestClient
from vega_datasets import data

import refold
from refold.service import ModelStore, create


def written_dates(form):
    days = pd.date_range("2024-01-31", periods=300, freq="17h")
    level = np.random.default_rng(0).normal(20.0, 1.0, 300)
    return pd.DataFrame({"day": days.strftime(form), "level": level})


TABLES = {
    "tips": px.data.tips,
    "weather": data.seattle_weather,
    "iris": lambda: px.data.iris().drop(columns="species_id"),
    "dotted dates": lambda: written_dates("%d.%m.%Y"),
    "dates and times": lambda: written_dates("%d/%m/%Y %H:%M"),
    "iso": lambda: written_dates("%Y-%m-%dT%H:%M:%S"),
    "clock": lambda: written_dates("%H:%M"),
    "decimal commas": lambda: pd.DataFrame(
        {"price": [f"€ {k % 9 + 1},50" for k in range(90)], "machine": ["A", "B"] * 45}
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_it_is_taken_and_normal(name, tmp_path):
    refold.save(refold.Detector(alpha=0.05).fit(TABLES[name]()), tmp_path / "model.json")
    store = ModelStore({"model": tmp_path / "model.json"})
    (served,) = store
    with TestClient(create(store, log=lambda entry: None)) as client:
        answer = client.post("/v1/models/model/score", json=[served.example])
    assert answer.status_code == 200, answer.text
    assert answer.json()["rows"][0]["label"] == 1
    assert None not in served.example.values()


def test_every_kind_of_model_takes_its_own(client, models):
    for served in ModelStore(models):
        answer = client.post(f"/v1/models/{served.name}/score", json=[served.example])
        assert answer.json()["rows"][0]["label"] == 1, (served.name, served.example)
        assert set(served.example) == set(served.row_schema["required"])

"""Verdicts by HTTP are Python's, to the bit, in every format."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from starlette.testclient import TestClient

import refold
from refold.service import ModelStore, Settings, create

ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"


def number_rows():
    X = np.random.default_rng(3).normal(size=(20, 3)) * 2
    X[1, 0] = np.nan
    return X


def objects(X):
    return [{f"x{k}": None if np.isnan(v) else float(v) for k, v in enumerate(row)} for row in X]


def plain(frame):
    """Rows as JSON has them."""
    return json.loads(frame.to_json(orient="records"))


@pytest.fixture
def strange(penguins):
    """Penguins, some of them with what none has."""
    frame = penguins.iloc[::20].reset_index(drop=True)
    frame.loc[1, "island"] = "Bisco"
    frame.loc[2, "body_mass_g"] = 9000.0
    frame.loc[3, "sex"] = None
    return frame


def expected(file, rows):
    model = refold.load(file)
    known = {"label": model.predict(rows), "distance": -model.score_samples(rows)}
    return known | {"p_value": model.p_values(rows) if hasattr(model, "calibration_") else None}


def assert_same(answer, right):
    assert [row["label"] for row in answer] == right["label"].tolist()
    assert [row["distance"] for row in answer] == right["distance"].tolist()
    if right["p_value"] is None:
        assert {row["p_value"] for row in answer} == {None}
    else:
        assert [row["p_value"] for row in answer] == right["p_value"].tolist()


@pytest.mark.parametrize("name", ["ref", "creased", "plain"])
def test_numbers_in_json_are_judged_as_in_python(client, models, name):
    X = number_rows()
    answer = client.post(f"/v1/models/{name}/score", json=objects(X))
    assert answer.status_code == 200
    assert_same(answer.json()["rows"], expected(models[name], X))


@pytest.mark.parametrize("name", ["penguins", "penguins-ref"])
def test_mixed_rows_in_json_are_judged_as_in_python(client, models, strange, name):
    answer = client.post(f"/v1/models/{name}/score", json=plain(strange))
    assert_same(answer.json()["rows"], expected(models[name], strange))


def test_columns_in_json_are_judged_as_rows_are(client):
    rows = objects(number_rows())
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    answers = [client.post("/v1/models/ref/score", json=sent).json() for sent in (rows, columns)]
    assert answers[0] == answers[1]


def test_names_of_columns_are_no_formulas_in_csv(tmp_path):
    name = "=HYPERLINK(1)"
    rows = pd.DataFrame({name: np.arange(200.0) % 7, "b": np.arange(200.0) % 5})
    refold.Detector(alpha=0.05).fit(rows).save(tmp_path / "m.json")
    app = create(ModelStore({"m": tmp_path / "m.json"}), Settings(), lambda entry: None)
    with TestClient(app) as client:
        row = [{name: 1e6, "b": 1}]
        answer = client.post("/v1/models/m/score", json=row, headers={"accept": "text/csv"})
    names, cells = csv.reader(io.StringIO(answer.text))
    assert dict(zip(names, cells, strict=True))["reason_1"] == f"'{name}"


def test_one_object_is_one_row(client):
    (row,) = objects(number_rows()[:1])
    assert len(client.post("/v1/models/ref/score", json=row).json()["rows"]) == 1


@pytest.mark.parametrize("kind", [ARROW, ARROW_FILE, "text/csv", "application/x-ndjson"])
@pytest.mark.parametrize("name", ["ref", "penguins"])
def test_other_formats_are_judged_as_json_is(client, strange, kind, name):
    table = pa.table({f"x{k}": c for k, c in enumerate(number_rows().T)})
    table = pa.Table.from_pandas(strange, preserve_index=False) if name == "penguins" else table
    rows = [
        {name: None if cell != cell else cell for name, cell in row.items()}
        for row in table.to_pylist()
    ]
    table = pa.Table.from_pylist(rows)
    body = io.BytesIO()
    if kind == "text/csv":
        pyarrow.csv.write_csv(table, body)
    elif kind == "application/x-ndjson":
        body.write("\n".join(map(json.dumps, rows)).encode())
    else:
        new = pa.ipc.new_stream if kind == ARROW else pa.ipc.new_file
        with new(body, table.schema) as writer:
            writer.write_table(table)
    sent = {"content": body.getvalue(), "headers": {"content-type": kind}}
    answer = client.post(f"/v1/models/{name}/score", **sent)
    assert answer.status_code == 200, answer.text
    assert answer.json() == client.post(f"/v1/models/{name}/score", json=rows).json()


@pytest.mark.parametrize("kind", [ARROW, ARROW_FILE, "text/csv", "application/x-ndjson"])
def test_the_answer_comes_in_the_format_asked_for(client, kind):
    rows = objects(number_rows())
    usual = client.post("/v1/models/ref/score", json=rows).json()["rows"]
    answer = client.post("/v1/models/ref/score", json=rows, headers={"accept": kind})
    assert answer.headers["content-type"].startswith(kind)
    if kind == "application/x-ndjson":
        assert [json.loads(line) for line in answer.text.splitlines()] == usual
        return
    if kind == "text/csv":
        table = pyarrow.csv.read_csv(io.BytesIO(answer.content))
    else:
        opened = pa.ipc.open_stream if kind == ARROW else pa.ipc.open_file
        table = opened(answer.content).read_all()
    assert table["distance"].to_pylist() == [row["distance"] for row in usual]
    assert table["reason_1"].to_pylist()[0] == usual[0]["reasons"][0]


def test_reasons_are_as_many_as_asked_for(client):
    rows = objects(number_rows())
    for asked in (0, 1, 2):
        found = client.post(f"/v1/models/ref/score?reasons={asked}", json=rows).json()["rows"]
        assert max(len(row["reasons"]) for row in found) == asked


def test_a_full_explanation_says_what_is_normal_and_what_would_be_accepted(client):
    row = {"x0": 40.0, "x1": 0.1, "x2": 0.2}
    answer = client.post("/v1/models/ref/score?explain=full", json=[row]).json()["rows"][0]
    reason = answer["reasons"][0]
    assert reason["feature"] == "x0"
    assert reason["normal"][0][1] < 6 < reason["value"]
    again = {**row, "x0": reason["accepted_at"]}
    assert client.post("/v1/models/ref/score", json=[again]).json()["rows"][0]["label"] == 1


def test_a_row_without_any_value_has_no_verdict(client):
    nothing = {"x0": None, "x1": None, "x2": None}
    answer = client.post("/v1/models/ref/score", json=[nothing, {**nothing, "x0": 0.1}]).json()
    assert [row["label"] for row in answer["rows"]] == [None, 1]


def test_columns_that_the_model_does_not_know_do_not_matter(client):
    rows = objects(number_rows())
    more = [{"serial": [1, 2], **row, "note": "x"} for row in rows]
    answers = [client.post("/v1/models/ref/score", json=sent).json() for sent in (rows, more)]
    assert answers[0] == answers[1]

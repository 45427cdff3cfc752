"""Models come from files, and are loaded again when these change."""

import shutil

import numpy as np
import pytest

import refold
from refold.base.errors import UserError
from refold.modelfile import ModelFileError
from refold.service import ModelStore

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}


@pytest.fixture
def file(tmp_path, models):
    return shutil.copy(models["ref"], tmp_path / "line4.json")


def test_a_file_that_changes_is_loaded_anew(file):
    store = ModelStore({"line4": file})
    before = store.get("line4")
    assert store.refresh() == []
    refold.save(refold.REF().fit(np.eye(5)[:, :3] + np.arange(5)[:, None]), file)
    assert store.refresh() == [("line4", None)]
    assert store.get("line4").judge.threshold == 1.0 != before.judge.threshold


@pytest.mark.parametrize("broken", [b"", b"{}", b"not a model"])
def test_a_broken_file_leaves_the_old_model_in_service_and_says_so(file, broken):
    store = ModelStore({"line4": file})
    before, whole = store.get("line4"), file.read_bytes()
    file.write_bytes(broken)
    ((name, problem),) = store.refresh()
    assert name == "line4"
    assert problem == store.problem("line4")
    assert store.get("line4") is before
    assert store.refresh() == []  # said once
    file.write_bytes(whole)
    assert store.refresh() == [("line4", None)]
    assert store.problem("line4") is None


def test_a_file_that_is_gone_leaves_the_old_model_in_service(file):
    store = ModelStore({"line4": file})
    file.unlink()
    assert len(store.refresh()) == 1
    assert store.refresh() == []
    assert store.get("line4") is not None


def test_a_model_that_cannot_be_read_at_first_is_an_error(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ModelFileError):
        ModelStore({"x": tmp_path / "x.json"})


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "\n", "é", "x" * 101])
def test_a_name_that_is_no_part_of_an_address_is_refused(file, name):
    with pytest.raises(UserError, match=r"name=file"):
        ModelStore({name: file})


def test_the_card_is_told_as_json_and_as_a_page(client):
    card = client.get("/v1/models/penguins").json()
    assert card["facts"]["Training rows"] == "344"
    assert card["row"]["required"] == card["columns"]
    shown = client.get("/v1/models/penguins", headers={"accept": "text/html"})
    assert "<h1>penguins</h1>" in shown.text
    assert "bill_length_mm" in shown.text


def test_hostile_names_do_not_become_markup(tmp_path, penguins):
    from starlette.testclient import TestClient

    from refold.service import create

    evil = "<script>alert(1)</script>"
    file = tmp_path / "evil.json"
    refold.save(refold.Detector().fit(penguins.rename(columns={"year": evil})), file)
    with TestClient(create(ModelStore({"evil": file}), log=lambda entry: None)) as client:
        for path in ("/docs", "/v1/models/evil"):
            text = client.get(path, headers={"accept": "text/html"}).text
            assert "alert(1)" in text
            assert text.count("<script") == text.count('<script>"use strict";')


def test_drift_of_what_was_scored_is_told_and_begins_anew(client):
    rng = np.random.default_rng(5)
    at = "/v1/models/ref"
    assert client.get(f"{at}/drift").json()["verdict"] is None
    rows = [dict(zip(GOOD, row, strict=True)) for row in rng.normal(size=(600, 3)).tolist()]
    client.post(f"{at}/score", json=rows)
    assert client.get(f"{at}/drift").json()["verdict"] == "same"
    moved = [{**row, "x1": row["x1"] + 1.0} for row in rows]
    client.post(f"{at}/score", json=moved)
    told = client.get(f"{at}/drift").json()
    assert (told["verdict"], told["features"]) == ("changed", ["x1"])
    assert 'refold_drift{model="ref",verdict="changed"} 1.0' in client.get("/metrics").text
    assert client.post(f"{at}/drift/reset").status_code == 204
    assert client.get(f"{at}/drift").json()["rows"] == 0


def test_drift_can_be_left_out(client_of):
    client = client_of(drift=False)
    client.post("/v1/models/ref/score", json=[GOOD])
    assert client.get("/v1/models/ref/drift").json()["watched"] is False


def test_metrics_count_requests_rows_and_outliers(client):
    client.post("/v1/models/ref/score", json=[GOOD, {**GOOD, "x0": 90}])
    client.post("/v1/models/ref/score", json=[{}])
    text = client.get("/metrics").text
    assert 'refold_requests_total{model="ref",status="200"} 1.0' in text
    assert 'refold_requests_total{model="ref",status="400"} 1.0' in text
    assert 'refold_rows_total{model="ref"} 2.0' in text
    assert 'refold_outliers_total{model="ref"} 1.0' in text
    assert 'refold_request_seconds_count{model="ref"} 2.0' in text

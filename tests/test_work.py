"""A table is converted once, a column parsed once and a row scored once, whoever asks."""

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

import refold
from refold import Detector
from refold.app import Workspace
from refold.service import ModelStore, Settings
from refold.service import create as create_service
from tests.command import run_in_process
from tests.work import counted

PARSED = 2  # columns: of texts, one holds numbers and one dates
TRIED = 200  # rows among which fit looks for a typical one


def bolts(rows, seed=0):
    rng = np.random.default_rng(seed)
    days = rng.integers(1, 28, rows)
    return pd.DataFrame(
        {
            "machine": rng.choice(["A", "B", "C"], rows),
            "torque": rng.normal(75.0, 2.0, rows).round(2),
            "angle": [f"{angle:.1f} mm" for angle in rng.normal(300.0, 9.0, rows)],
            "when": [f"2026-03-{day:02d} {8 + day % 9:02d}:15" for day in days],
            "serial": [f"SN-{number:06d}" for number in rng.integers(0, 10**6, rows)],
        }
    )


def new_bolts():
    return bolts(50, seed=1).assign(machine=["Z", *"AB" * 24, "A"])


@pytest.fixture(scope="module")
def model():
    return Detector().fit(bolts(500))


@pytest.mark.parametrize("rows", [150, 500, 20_000])
def test_fit(rows, monkeypatch):
    table = bolts(rows)
    with counted(monkeypatch) as done:
        Detector().fit(table)
    tried = len(range(0, rows, max(rows // TRIED, 1)))
    tried += min(rows, 2000) // 10 if rows >= 200 else 0  # whether the last tenth is as the rest
    assert done == {"tables": 1, "parsed": PARSED, "cells": PARSED * rows, "scored": tried + 2}


def test_fit_without_the_oddest_rows(monkeypatch):
    table = bolts(500)
    with counted(monkeypatch) as done:
        Detector(trim=0.02).fit(table)
    assert (done["tables"], done["parsed"]) == (1, PARSED)


@pytest.mark.parametrize("ask", ["predict", "score_samples", "p_values", "decision_function"])
def test_a_verdict(ask, model, monkeypatch):
    with counted(monkeypatch) as done:
        getattr(model, ask)(new_bolts())
    assert done == {"tables": 1, "parsed": PARSED, "cells": PARSED * 50, "scored": 50}


def test_predict_makes_no_encoder(model):
    encoder = model.encoder_
    model.predict(new_bolts())
    assert model.encoder_ is encoder


def test_explain(model, monkeypatch):
    rejected = int((model.predict(new_bolts()) == -1).sum())
    with counted(monkeypatch) as done:
        model.explain(new_bolts())
    assert done.pop("scored") <= 10 * rejected  # with other values in place of their own
    assert done == {"tables": 1, "parsed": PARSED, "cells": PARSED * 50, "explained": 50}


def test_learning_on_parses_new_rows_only(monkeypatch):
    model = Detector().fit(bolts(500))
    with counted(monkeypatch) as done:
        model.partial_fit(bolts(100, seed=2))
    assert done == {"tables": 1, "parsed": PARSED, "cells": PARSED * 100}


@pytest.mark.parametrize("ask", [refold.check, lambda table: refold.suspects(table, 5)])
def test_checks(ask, monkeypatch):
    with counted(monkeypatch) as done:
        ask(bolts(500))
    assert (done["tables"], done["parsed"]) == (1, PARSED)


def test_limits(model, monkeypatch):
    with counted(monkeypatch) as done:
        refold.limits(model, bolts(100, seed=2))
    assert (done["tables"], done["parsed"]) == (1, PARSED)


def test_the_commands(tmp_path, monkeypatch):
    bolts(500).to_csv(tmp_path / "good.csv", index=False)
    new_bolts().to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    with counted(monkeypatch) as done:
        run_in_process(monkeypatch, "fit", "good.csv", "-o", "model.json")
    assert (done["tables"], done["cells"]) == (1, PARSED * 500)
    with counted(monkeypatch) as done:
        run_in_process(
            monkeypatch, "score", "model.json", "new.csv", "-o", "out.csv", "--reasons", 2
        )
    assert (done["tables"], done["cells"], done["explained"]) == (1, PARSED * 50, 1)  # outliers


def test_a_request(model, tmp_path, monkeypatch):
    refold.save(model, tmp_path / "model.json")
    service = create_service(
        ModelStore({"bolts": tmp_path / "model.json"}), Settings(), lambda _: None
    )
    rows = new_bolts()[:1].to_dict("records")
    with TestClient(service) as client:
        client.post("/v1/models/bolts/score", json=rows)
        with counted(monkeypatch) as done:
            answer = client.post("/v1/models/bolts/score?reasons=2", json=rows)
    assert answer.status_code == 200, answer.text
    assert done == {"tables": 1, "parsed": PARSED, "cells": PARSED, "explained": 1}


def test_an_upload_that_is_checked_and_learned(tmp_path, monkeypatch):
    bolts(500).to_csv(tmp_path / "good.csv", index=False)
    (tmp_path / "work").mkdir()
    work = Workspace(tmp_path / "work")
    with counted(monkeypatch) as done:
        work.open_file(tmp_path / "good.csv", "good.csv", keep=True)
        work.worker.wait(120)
        work.learn(work.state.choice)
        work.worker.wait(120)
    assert work.state.trained is not None, work.news
    assert done["cells"] <= 2 * PARSED * 500

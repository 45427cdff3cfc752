"""Commands with a model that judges rows by their group, time and other columns."""

import json

import numpy as np
import pandas as pd
import pytest

import refold
from tests.command import run_in_process


def fleet(rows, seed=0):
    rng = np.random.default_rng(seed)
    machine = rng.integers(0, 20, rows)
    load = rng.uniform(1.0, 10.0, rows)
    heat = 40.0 * machine + 3.0 * load + rng.normal(size=rows)
    columns = {"machine": [f"M{k}" for k in machine], "load": load, "heat": heat}
    return pd.DataFrame({**columns, "flow": rng.normal(size=rows)}).round(3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fleet(2_000).to_csv("fleet.csv", index=False)
    new = fleet(200, seed=1)
    new.loc[3, "heat"] += 30.0
    new.to_csv("new.csv", index=False)
    arguments = ("--by", "machine", "--context", "load", "--alpha", "0.02")
    run_in_process(monkeypatch, "fit", "fleet.csv", "-o", "model.json", *arguments)
    return tmp_path


def test_a_file_is_scored_as_the_table_in_memory(folder, monkeypatch, capsys):
    run_in_process(monkeypatch, "score", "model.json", "new.csv", "-o", "scores.csv")
    scores = pd.read_csv("scores.csv")
    model = refold.load("model.json")
    new = pd.read_csv("new.csv")
    np.testing.assert_allclose(scores["distance"], -model.score_samples(new), rtol=1e-9)
    assert scores["reason_1"][3] == "heat"
    assert "for machine " in scores["because"][3]


def test_a_scored_table_has_the_numbers_of_the_file(folder, monkeypatch):
    run_in_process(monkeypatch, "score", "model.json", "new.csv", "-o", "scores.parquet")
    scores, new = pd.read_parquet("scores.parquet"), pd.read_csv("new.csv")
    np.testing.assert_allclose(scores["heat"].astype(float), new["heat"])


@pytest.mark.parametrize("command", ["explain", "drift", "report", "limits"])
def test_each_command_takes_it(folder, monkeypatch, capsys, command):
    out = ("-o", "page.html") if command == "report" else ()
    run_in_process(monkeypatch, command, "model.json", "new.csv", *out)
    said = capsys.readouterr().out
    expected = {
        "explain": "row 4: outlier; heat",
        "drift": "No difference from the training rows is proven",
        "report": "are outliers",
        "limits": "heat, up 90 % by group: ",
    }
    assert expected[command] in said


def test_limits_of_a_model_file_are_those_of_the_model(folder, monkeypatch, capsys):
    capsys.readouterr()
    run_in_process(monkeypatch, "limits", "model.json", "--json")
    found = json.loads(capsys.readouterr().out)
    model = refold.Detector(by=["machine"], context=["load"], alpha=0.02)
    own = refold.limits(model.fit(pd.read_csv("fleet.csv")))
    assert found["features"][0]["up_90"] == pytest.approx(own["heat"].up_90)
    assert len(found["groups"]) == 20


def test_two_models_are_compared(folder, monkeypatch, capsys):
    run_in_process(monkeypatch, "fit", "fleet.csv", "-o", "plain.json", "--alpha", "0.02")
    run_in_process(monkeypatch, "compare", "plain.json", "model.json", "new.csv")
    assert "machine: a category to old, part of the context to new." in capsys.readouterr().out


@pytest.mark.parametrize("column", ["heat", "load"])
def test_a_cell_that_is_no_number_is_refused_by_line_and_column(
    folder, monkeypatch, capsys, column
):
    cells = pd.read_csv("new.csv", dtype=str)
    cells.loc[7, column] = "abc"
    cells.to_csv("bad.csv", index=False)
    arguments = ("--bad-cells", "error", "-o", "scores.csv")
    run_in_process(monkeypatch, "score", "model.json", "bad.csv", *arguments, code=2)
    assert f"line 9, column '{column}': 'abc' is not a number" in capsys.readouterr().err


def test_a_cell_that_is_no_number_makes_its_row_an_outlier(folder):
    rows = pd.read_csv("new.csv", dtype=str).head(5)
    rows.loc[1, "heat"] = "abc"
    model = refold.load("model.json")
    assert model.predict(rows)[1] == -1
    assert "'abc'" in model.explain(rows)[1].sentence()


def test_a_file_without_the_group_is_refused_by_name(folder, monkeypatch, capsys):
    pd.read_csv("new.csv").drop(columns="machine").to_csv("less.csv", index=False)
    run_in_process(monkeypatch, "score", "model.json", "less.csv", "-o", "x.csv", code=2)
    assert "there is no column 'machine', which the model needs" in capsys.readouterr().err


def test_rows_without_a_context_that_was_learned_are_counted_and_said(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table = fleet(2_200).assign(at=pd.date_range("2025-01-01", periods=2_200, freq="h"))
    table.loc[:6, "machine"] = None
    new = table.tail(200).reset_index(drop=True)
    new.loc[:4, "machine"] = None
    new.loc[5:8, "machine"] = "M77"
    new.loc[9:10, "at"] = pd.NaT
    new.loc[11, "at"] = pd.Timestamp("2035-01-01")
    table.head(2_000).to_csv("fleet.csv", index=False)
    new.to_csv("new.csv", index=False)
    run_in_process(
        monkeypatch, "fit", "fleet.csv", "-o", "m.json", "--by", "machine", "--over", "at"
    )
    assert "machine: 7 of 2,000 rows have no group" in capsys.readouterr().err
    run_in_process(
        monkeypatch, "score", "m.json", "new.csv", "-o", "out.csv", "--summary", "s.json"
    )
    said = capsys.readouterr().err
    assert "5 rows without machine: judged by all rows." in said
    assert "4 rows with a machine that training did not have: judged by all rows." in said
    assert "2 rows whose at is missing or cannot be read: judged as at the end of training." in said
    assert "1 row later than was tried: learned until 2025-03-25, tried 58 days ahead." in said
    counts = json.loads((tmp_path / "s.json").read_text())["context"]
    assert counts == {"no_group": 5, "new_group": 4, "no_time": 2, "beyond": 1, "no_context": 0}
    run_in_process(monkeypatch, "report", "m.json", "new.csv", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "The model has learned until 2025-03-25, tried 58 days ahead." in page
    assert "4 rows with a machine that training did not have: judged by all rows." in page
    assert "machine, at; 20 groups; learned until 2025-03-25, tried 58 days ahead" in page

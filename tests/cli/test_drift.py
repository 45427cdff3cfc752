"""``refold drift``: tables of any columns, in words and as JSON."""

import json

import numpy as np
import pandas as pd
import pytest

import refold
from tests.command import run_in_process


def table(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "carrier": rng.choice(["AA", "UA", "DL"], rows, p=[0.5, 0.3, 0.2]),
            "torque": np.round(rng.normal(75.0, 2.0, rows), 2),
            "day": [f"2025-03-{day:02d}" for day in rng.integers(1, 29, rows)],
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refold.save(refold.Detector(method="ref").fit(table(2_000, 0)), "model.json")


def test_what_has_changed_is_said_in_the_words_of_the_table(folder, monkeypatch, capsys):
    new = table(1_000, 1)
    new.loc[(new["carrier"] == "AA") & (new.index % 2 == 0), "carrier"] = "UA"
    cells = new.astype({"torque": object})
    cells.loc[:99, "torque"] = "<0.05"
    cells.to_csv("new.csv", index=False)
    run_in_process(monkeypatch, "drift", "model.json", "new.csv")
    said = capsys.readouterr().out
    assert said.startswith("The data has changed")
    assert "'AA' 50" in said
    assert "unreadable 0 % → 10 % (p < 0.000001)" in said
    run_in_process(monkeypatch, "drift", "model.json", "new.csv", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "changed"
    assert [feature["kind"] for feature in found["features"]] == ["category", "number", "date"]
    assert found["features"][0]["moved"][0]["of"] == "value"


def test_a_file_is_compared_as_the_table_in_memory(folder, monkeypatch, capsys):
    new = table(700, 2)
    new.to_csv("new.csv", index=False)
    run_in_process(monkeypatch, "drift", "model.json", "new.csv", "--json")
    found = json.loads(capsys.readouterr().out)
    expected = refold.drift(refold.load("model.json"), new).to_dict()
    assert found == json.loads(json.dumps(expected))
    assert found["verdict"] == "same"

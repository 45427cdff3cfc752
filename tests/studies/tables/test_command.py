"""``refold benchmark --suite tables`` as a user runs it."""

from __future__ import annotations

import csv

import pytest
from sklearn.metrics import roc_auc_score

from refold import REF
from refold.studies.tables.methods import OneHot
from refold.studies.tables.suite import tables
from tests.studies.conftest import refold
from tests.studies.tables.made import write_tables

LINE = ("benchmark", "--suite", "tables", "--methods", "one-hot-REF,one-hot-IsolationForest")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    write_tables(tmp_path / "tables")
    return tmp_path


def cells_of(folder):
    with (folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_two_tables_and_two_methods_and_then_more(folder):
    out = folder / "out"
    done = refold(*LINE, "--sets", "natural-orders", "--out", out)
    assert done.returncode == 0, done.stderr
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.json")}
    assert len(kept) == 2
    done = refold(*LINE, "--out", out, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert [cell["outcome"] for cell in cells_of(out)] == ["done"] * 4
    assert done.stdout.endswith(f"Open {out / 'index.html'}\n")
    assert "one-hot-REF" in (out / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_the_figures_are_those_of_the_same_done_by_hand(folder):
    done = refold(*LINE, "--sets", "natural-orders", "--out", folder / "out")
    task = tables().task("natural-orders", 0)
    train, test = task.read("typed")
    encode = OneHot(train)
    model = REF(alpha=0.05, levels="all").fit(encode(train))
    is_anomaly = [kind == "anomaly" for kind in task.kinds]
    expected = roc_auc_score(is_anomaly, -model.score_samples(encode(test)))
    [found] = [cell for cell in cells_of(folder / "out") if cell["method"] == "one-hot-REF"]
    assert float(found["auroc anomaly"]) == pytest.approx(expected)
    [line] = [line for line in done.stdout.splitlines() if line.startswith("one-hot-REF")]
    assert line.split()[1] == f"{100 * expected:.1f}"


def test_no_tables_are_told_in_a_sentence(tmp_path):
    for data, why in (({}, "REFOLD_DATA is not set"), ({"REFOLD_DATA": str(tmp_path)}, "has none")):
        done = refold("benchmark", "--suite", "tables", env=data, cwd=tmp_path)
        assert done.returncode == 2
        assert why in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "benchmark-tables").exists()


def test_an_unknown_method_is_refused_with_those_there_are(folder):
    done = refold("benchmark", "--suite", "tables", "--methods", "LOF", cwd=folder)
    assert done.returncode == 2
    assert "one-hot-REF" in done.stderr

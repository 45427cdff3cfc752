"""``refold benchmark`` as a user runs it."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from refold.benchmark.data import divide, load
from tests.benchmark.conftest import refold


@pytest.mark.slow
def test_two_sets_and_three_methods(whole_run):
    assert whole_run.output.endswith(f"Open {whole_run.folder / 'index.html'}\n")
    assert (whole_run.folder / "index.html").exists()
    with (whole_run.folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [cell["outcome"] for cell in cells] == ["done"] * 18
    rows = divide(load("wine"), seed=1)
    scale = StandardScaler().fit(rows.train)
    lof = LocalOutlierFactor(novelty=True).fit(scale.transform(rows.train))
    expected = roc_auc_score(rows.is_anomaly, -lof.score_samples(scale.transform(rows.test)))
    [found] = [c for c in cells if (c["set"], c["method"], c["seed"]) == ("wine", "LOF", "1")]
    assert float(found["auroc"]) == pytest.approx(expected)
    table = {line.split()[0]: line.split()[1:] for line in whole_run.output.splitlines()[1:4]}
    mean = np.mean([float(cell["auroc"]) for cell in cells if cell["method"] == "REF"])
    assert table["REF"][0] == f"{100 * mean:.1f}"
    assert table["REF"][-1] == "2/2"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--sets", "wine,Wine", "'Wine' is not among"),
        ("--methods", "REF,kNN", "'kNN' is not among"),
        ("--seeds", "0", "Invalid value for '--seeds'"),
        ("--time-limit", "0", "Invalid value for '--time-limit'"),
    ],
)
def test_bad_values_are_refused(option, value, message, tmp_path):
    done = refold("benchmark", option, value, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


def test_data_that_cannot_be_had_is_an_error_without_traceback(tmp_path):
    (tmp_path / "adbench").mkdir()
    (tmp_path / "adbench" / "45_wine.npz").write_bytes(b"")
    environment = {"REFOLD_DATA": str(tmp_path), "HOME": str(tmp_path)}
    done = refold("benchmark", "--sets", "wine", "--out", tmp_path / "out", env=environment)
    assert done.returncode == 1
    assert "is damaged" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()

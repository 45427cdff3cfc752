"""``refold benchmark my.csv`` as a user types it."""

from __future__ import annotations

import csv
import json
import shlex

import numpy as np
import pytest

from tests.cli.conftest import as_csv
from tests.command import run_in_process

QUICK = ("--methods", "Detector,LOF", "--seeds", "2", "--jobs", "1")


@pytest.fixture
def labelled(tmp_path):
    """200 normal parts and 30 that are too hot."""
    rng = np.random.default_rng(0)
    rows = rng.normal([75, 300, 20], [2, 5, 1], size=(230, 3)).round(3).astype(object)
    rows[200:, 2] += 12.0
    state = np.repeat(["o k", "bad"], [200, 30])[:, None]
    path = tmp_path / "parts of today.csv"
    path.write_text(as_csv(np.hstack([rows, state]), ("torque", "speed", "heat", "state")))
    return path


@pytest.mark.slow
def test_a_labelled_table_is_compared_told_and_continued(refold, labelled, tmp_path):
    out = tmp_path / "out"
    line = ("benchmark", labelled, "--label", "state", "--normal", "o k", "--out", out, *QUICK)
    done = refold(*line)
    assert done.returncode == 0, done.stderr
    assert "tells anomalies from normal rows best: AUROC" in done.stdout
    assert done.stdout.endswith(f"Open {out / 'index.html'}\n")
    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        assert [cell["outcome"] for cell in csv.DictReader(file)] == ["done"] * 4
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.json")}
    document = json.loads(refold(*line, "--json").stdout)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.json")} == kept
    assert (document["learned"], document["judged"], document["anomalies"]) == (133, 67, 20)
    assert {method["method"] for method in document["methods"]} == {"Detector", "LOF"}
    for method in document["methods"]:
        assert method["means"]["auroc"] > 0.95
    model = tmp_path / "model.json"
    fit = shlex.split(document["fit"].replace("model.json", shlex.quote(str(model))))
    assert refold(*fit[1:]).returncode == 0
    assert model.exists()


@pytest.mark.slow
def test_without_labels_faults_are_put_in_and_said(refold, parts, tmp_path):
    done = refold("benchmark", parts / "normal.csv", "--json", *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["page"] == "benchmark-normal/index.html"
    assert (tmp_path / document["page"]).exists()
    assert {"beyond", "shift", "swapped", "missing"} <= {f["name"] for f in document["faults"]}
    [ours] = [method for method in document["methods"] if method["method"] == "Detector"]
    assert ours["caught"]["beyond 3"] == 1.0
    assert ours["caught"]["beyond 3"] >= ours["caught"]["beyond 0.1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["normal.csv", "--suite", "adbench"], "--suite: It does not go with a table of your own"),
        (["normal.csv", "--sets", "wine"], "--sets: It does not go with a table of your own"),
        (["normal.csv", "--label", "heat"], "--label and --normal go together"),
        (["normal.csv", "--alpha", "0.7"], "--alpha: It lies between 0 and 0.5"),
        (["normal.csv", "--bad-cells", "error"], "--bad-cells: Methods are given the cells"),
        (["normal.csv", "--methods", "SVDD"], "'SVDD' is not among Detector, Detector-ref"),
        (["normal.csv", "--ignore", "no"], "there is no column 'no'"),
        (["nothing.csv"], "nothing.csv"),
        (["--label", "heat"], "--label: It needs a table"),
        (["--json"], "--json: It needs a table"),
        (["--delimiter", ";"], "--delimiter: It needs a table"),
        (["--no-header"], "--no-header: It needs a table"),
        (["--alpha", "0.1"], "--alpha: It needs a table"),
    ],
)
def test_what_does_not_apply_is_refused_in_words(
    monkeypatch, capsys, parts, tmp_path, arguments, said
):
    arguments = [str(parts / a) if a == "normal.csv" else a for a in arguments]
    monkeypatch.chdir(tmp_path)
    run_in_process(monkeypatch, "benchmark", *arguments, code=2)
    error = capsys.readouterr().err
    assert said in " ".join(error.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"a,a\n1,2\n", "1 rows are too few"),
        (b"a,b\n" + b"1,2\n" * 19, "19 rows are too few"),
        (b"a,b\n" + b",\n" * 50, "0 rows are too few"),
        (b"\x00\x01\x02" * 50, ""),
    ],
)
def test_a_hostile_file_is_refused_in_a_sentence(monkeypatch, capsys, tmp_path, content, said):
    path = tmp_path / "hostile.csv"
    path.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    run_in_process(monkeypatch, "benchmark", path, code=2)
    error = capsys.readouterr().err
    assert said in error
    assert "bug in refold" not in error
    assert [entry.name for entry in tmp_path.iterdir()] == ["hostile.csv"]


def test_what_is_not_installed_is_said(monkeypatch, capsys, parts, tmp_path):
    monkeypatch.setattr("refold.studies.tables.methods.find_spec", lambda name: None)
    monkeypatch.setattr("refold.studies.measured.run", lambda *args, **keywords: stop())

    def stop():
        raise KeyboardInterrupt

    out = tmp_path / "out"
    run_in_process(monkeypatch, "benchmark", parts / "normal.csv", "--out", out, code=130)
    assert "kNN-5 is left out: pyod is not installed." in capsys.readouterr().err

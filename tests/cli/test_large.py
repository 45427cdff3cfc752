"""Tables that are not held in memory are learned all the same, and give the same models."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import refold as library
from refold import Detector
from refold.models.parts import learner
from tests.command import run_in_process


@pytest.fixture
def large(monkeypatch):
    """Take a few kilobytes for large, and few rows for many."""
    monkeypatch.setattr("refold.cli.large.LARGE", 5_000)
    monkeypatch.setattr("refold.tabular.table_source._MOST", 300)
    monkeypatch.setattr(learner, "HELD_OUT", 200)


def lines(rows, seed=0, decimal="."):
    rng = np.random.default_rng(seed)
    for k in range(rows):
        torque = f"{rng.normal(1075, 2):,.2f}" if decimal == "," else f"{rng.normal(1075, 2):.2f}"
        if decimal == ",":
            torque = torque.translate(str.maketrans(",.", ".,"))
        yield f"{'ABC'[k % 3]};{torque};{'good' if k % 5 else 'bad'}"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(["machine;torque;is", *lines(3000)]) + "\n")
    return tmp_path / "t.csv"


def fit(monkeypatch, *arguments):
    run_in_process(monkeypatch, "fit", *arguments, "-o", "model.json")
    return library.load("model.json")


@pytest.mark.usefixtures("large")
def test_a_file_is_read_again(file, monkeypatch, capsys):
    model = fit(monkeypatch, file, "--method", "ref", "--alpha", "0.05")
    said = capsys.readouterr().out
    assert "Learned from 2,800 of 3,000 rows, 3 columns:" in said
    assert "At most 5 % of normal rows will be called outliers: 200 rows were held out" in said
    assert model.calibration_.source == "held-out"
    assert model.predict([{"machine": "A", "torque": 1075.0, "is": "good"}]) == [1]
    assert model.predict([{"machine": "Z", "torque": 1075.0, "is": "good"}]) == [-1]


@pytest.mark.usefixtures("large")
def test_targets_are_counted_apart(file, monkeypatch, capsys):
    arguments = ("--target-column", "is", "--target", "good", "--method", "ref", "--json")
    model = fit(monkeypatch, file, *arguments)
    said = json.loads(capsys.readouterr().out)
    assert (said["rows_read"], said["rows"]) == (3000, 2200)
    assert model.feature_names_in_.tolist() == ["machine", "torque"]


@pytest.mark.usefixtures("large")
def test_a_pipe_gives_the_model_of_the_file(file, monkeypatch, tmp_path):
    expected = fit(monkeypatch, file, "--method", "ref")
    read, write = os.pipe()
    if os.fork() == 0:  # another process writes while this one reads
        os.write(write, b"")
        with os.fdopen(write, "wb") as pipe:
            pipe.write(file.read_bytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        model = fit(monkeypatch, "-", "--method", "ref")
    np.testing.assert_array_equal(model.calibration_.scores, expected.calibration_.scores)
    assert model.threshold_ == expected.threshold_


@pytest.mark.usefixtures("large")
def test_marks_of_numbers_are_read_once(tmp_path, monkeypatch):
    """1.075,31 is 1075.31, and does not become 107531 because blocks pass through twice."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(["machine;torque;is", *lines(3000, decimal=",")]))
    model = fit(monkeypatch, "t.csv", "--method", "ref")
    assert {column.name: column.role for column in model.columns_}["torque"] == "number"
    assert 1060 < model.summary_.low[0] < model.summary_.high[0] < 1090


@pytest.mark.usefixtures("large")
def test_bad_cells_are_found_where_they_are(file, monkeypatch, capsys):
    text = file.read_text().splitlines()
    text[2500] = "A;broken;good"
    file.write_text("\n".join(text) + "\n")
    arguments = ("fit", "t.csv", "-o", "model.json", "--method", "ref")
    run_in_process(monkeypatch, *arguments, "--bad-cells", "error", code=2)
    assert "t.csv, line 2501, column 'torque': 'broken' is not a number" in capsys.readouterr().err
    run_in_process(monkeypatch, *arguments)


@pytest.mark.usefixtures("large")
def test_what_needs_all_rows_has_them(file, monkeypatch):
    model = fit(monkeypatch, file, "--method", "ref", "--trim", "0.01")
    assert len(model.dropped_) == 30


LIMIT = 900 * 2**20


@pytest.mark.slow
def test_a_table_larger_than_memory_is_learned(refold, tmp_path):
    """The rows alone would take more memory than the process may have."""
    resource = pytest.importorskip("resource", reason="the system has no limits on memory")
    rng = np.random.default_rng(0)
    block = "".join(
        f"{'ABC'[k % 3]},{a:.12f},{b:.12f},serial {k:012} {' long' * 50}\n"
        for k, (a, b) in enumerate(rng.normal(size=(20_000, 2)))
    )
    with (tmp_path / "t.csv").open("w") as file:
        file.write("machine,heat,flow,serial\n")
        for _ in range(170):
            file.write(block)
    assert (tmp_path / "t.csv").stat().st_size > LIMIT

    def limited():
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))

    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    arguments = ("fit", tmp_path / "t.csv", "-o", tmp_path / "m.json", "--method", "ref")
    done = refold(*arguments, preexec_fn=limited, env=environment)
    assert done.returncode == 0, done.stderr
    assert "of 3,400,000 rows" in done.stdout
    assert isinstance(library.load(tmp_path / "m.json"), Detector)


LIMIT_TO_JUDGE = 450 * 2**20


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    """A file whose rows alone take more memory than the limit, and a model of such rows."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(0)
    names = ["heat", "flow", "level", "load", "speed"]
    library.save(
        library.REF(alpha=0.001).fit(pd.DataFrame(rng.normal(size=(5000, 5)), columns=names)),
        folder / "m.json",
    )
    rows = pa.table([*rng.normal(size=(5, 200_000))], names=names)
    with pq.ParquetWriter(folder / "t.parquet", rows.schema) as writer:
        for _ in range(60):
            writer.write_table(rows)
    assert 60 * rows.nbytes > LIMIT_TO_JUDGE
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["score", "-o", "scored.parquet"], "of 12,000,000 rows"),
        (["drift"], "12,000,000 rows;"),
        (["report", "-o", "page.html"], "of 12,000,000 rows are outliers"),
        (["report", "-o", "page.html", "--id-column", "heat"], "of 12,000,000 rows are outliers"),
    ],
    ids=["score", "drift", "report", "report with names"],
)
def test_a_table_larger_than_memory_is_judged(refold, many_rows, tmp_path, command, says):
    resource = pytest.importorskip("resource", reason="the system has no limits on memory")

    def limited():
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_TO_JUDGE, LIMIT_TO_JUDGE))

    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    name, *more = command
    files = many_rows / "m.json", many_rows / "t.parquet"
    done = refold(name, *files, *more, preexec_fn=limited, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout + done.stderr

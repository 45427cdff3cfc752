"""``refold export``: its options and errors; what is written is tested with the exports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

import refold
from refold import REF

COMMAND = Path(sys.executable).with_name("refold")


def run(*arguments, **keywords):
    return subprocess.run(
        [COMMAND, "export", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **keywords,
    )


def words(text):
    """Return the words of a message, whatever box it was drawn in."""
    return " ".join(text.replace("│", " ").split())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model of three nameless features, saved."""
    path = tmp_path_factory.mktemp("models") / "model.json"
    model = REF(n_iter=11).fit(np.random.default_rng(0).normal(size=(60, 3)))
    refold.save(model, path)
    return path, model


SQL = ("--to", "sql", "--table", "rows", "--dialect", "duckdb")
COLUMNS = ("--column", "a", "--column", "it's", "--column", "c")


def test_sql_on_the_output_runs(saved):
    path, model = saved
    done = run(path, *SQL, *COLUMNS, "--prefix", "ref_", "--view", "judged")
    assert done.returncode == 0, done.stderr
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE rows AS SELECT 0.1 AS a, 9 AS "it\'s", NULL AS c')
        connection.execute(done.stdout)
        (row,) = connection.execute(
            "SELECT ref_label, ref_distance, ref_reason_1 FROM judged"
        ).fetchall()
    assert row == (-1, -model.score_samples([[0.1, 9.0, np.nan]])[0], "it's")


def test_sql_in_a_file_is_that_of_the_output(saved, tmp_path):
    path, _ = saved
    out = tmp_path / "judge.sql"
    out.write_text("old")
    done = run(path, *SQL, *COLUMNS, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert out.read_text() == run(path, *SQL, *COLUMNS).stdout
    assert [entry.name for entry in tmp_path.iterdir()] == ["judge.sql"]


@pytest.mark.parametrize(("option", "kind"), [((), np.float64), (("--float32",), np.float32)])
def test_onnx_in_a_file_runs(option, kind, saved, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    path, model = saved
    out = tmp_path / "model.onnx"
    done = run(path, "--to", "onnx", "-o", out, *option)
    assert done.returncode == 0, done.stderr
    session = runtime.InferenceSession(out, providers=["CPUExecutionProvider"])
    X = np.array([[0.1, 9.0, 0.3], [0.0, 0.1, 0.2]])
    (labels,) = session.run(["label"], {session.get_inputs()[0].name: X.astype(kind)})
    np.testing.assert_array_equal(np.ravel(labels), model.predict(X))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "pmml"), "'pmml' is not one of 'onnx', 'sql', 'dbt'"),
        (("--to", "sql"), "SQL needs --table and --dialect."),
        (("--to", "sql", "--table", "rows"), "SQL needs --dialect."),
        ((*SQL, *COLUMNS, "--float32"), "It is for --to onnx only."),
        (("--to", "dbt"), "dbt needs --dialect."),
        (("--to", "dbt", "--dialect", "duckdb", "--prefix", "a"), "The test of dbt says"),
        (("--to", "onnx"), "A graph is written to a file: say -o FILE."),
        (("--to", "onnx", "-o", "x.onnx", "--table", "rows"), "It is for --to sql only."),
        (SQL, "The model was fitted without column names"),
        ((*SQL[:-1], "oracle", *COLUMNS), "dialect='oracle' is not among duckdb"),
        ((*SQL, *COLUMNS[:-1], "label"), "--prefix refold_"),
        ((*SQL, *COLUMNS, "--without", "shape"), "without=['shape'] is for a Detector"),
        ((*SQL, *COLUMNS, "-o", "no/such/folder.sql"), "There is no folder no/such."),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, message, saved, tmp_path):
    done = run(saved[0], *arguments, cwd=tmp_path, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 2
    assert message in words(done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\x80\x04pickle"])
def test_a_file_that_is_no_model_is_refused(content, tmp_path):
    path = tmp_path / "model.json"
    if content is not None:
        path.write_bytes(content)
    done = run(path, *SQL, *COLUMNS)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr

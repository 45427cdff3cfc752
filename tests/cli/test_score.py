"""``refold score``, ``explain``, ``inspect``, ``drift`` and ``demo`` say what the library says."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import refold as library
from tests.cli.conftest import NAMES, as_csv
from tests.warm import REFOLD


@pytest.fixture(scope="module")
def expected(parts):
    """Distances, labels and p-values of new.csv by the library."""
    X = np.loadtxt(parts / "new.csv", delimiter=",", skiprows=1)
    model = library.load(parts / "model.json")
    del model.feature_names_in_
    return -model.score_samples(X), model.predict(X), model.p_values(X)


def test_csv_on_standard_output_is_the_table_with_the_verdicts(refold, parts, expected):
    done = refold("score", "model.json", "new.csv", "--reasons", 1, cwd=parts)
    assert done.returncode == 0
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    distances, labels, p_values = expected
    assert [float(row["distance"]) for row in found] == distances.tolist()
    assert [int(row["label"]) for row in found] == labels.tolist()
    np.testing.assert_allclose([float(row["p_value"]) for row in found], p_values)
    given = [",".join(row[name] for name in NAMES) for row in found]
    assert given == (parts / "new.csv").read_text().splitlines()[1:]
    assert (found[16]["reason_1"], found[39]["reason_1"]) == ("torque", "speed")
    assert done.stderr.startswith(f"{(labels == -1).sum()} of 60 rows")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("out.parquet", pq.read_table),
        ("out.arrow", pa.feather.read_table),
        ("out.csv", pyarrow.csv.read_csv),
    ],
)
def test_output_files_by_their_names(name, read, refold, parts, expected, tmp_path):
    out = tmp_path / name
    assert refold("score", "model.json", "new.csv", "-o", out, cwd=parts).returncode == 0
    table = read(out)
    assert table.column("distance").to_pylist() == expected[0].tolist()
    assert table.schema.field("torque").type == pa.float64()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_columns_in_another_order_and_others_between(refold, parts, expected, tmp_path):
    X = np.loadtxt(parts / "new.csv", delimiter=",", skiprows=1, dtype=str)
    moved = np.c_[X[:, 2], np.full(60, "a part"), X[:, 1], X[:, 0]]
    (tmp_path / "t.csv").write_text(as_csv(moved, ("heat", "note", "speed", "torque")))
    done = refold("score", parts / "model.json", tmp_path / "t.csv")
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [float(row["distance"]) for row in found] == expected[0].tolist()
    assert found[0]["note"] == "a part"


def test_missing_columns_are_named(refold, parts, tmp_path):
    (tmp_path / "t.csv").write_text("torque,flow\n75,1\n")
    done = refold("score", parts / "model.json", tmp_path / "t.csv")
    assert done.returncode == 2
    assert "there is no column 'speed', 'heat', which the model needs" in done.stderr


def test_rows_without_any_value_have_no_verdict(refold, parts, tmp_path):
    (tmp_path / "t.csv").write_text("torque,speed,heat\n75,300,20\n,NA,?\n75,,20\n")
    line = ("score", parts / "model.json", tmp_path / "t.csv")
    done = refold(*line)
    assert [row["label"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["1", "", "1"]
    assert "1 row without any value could not be judged" in done.stderr
    done = refold(*line, "--json", "--fail-on-outlier")
    assert done.returncode == 1
    assert json.loads(done.stdout)["not_judged"] == 1


def test_json_has_the_worst_rows_with_reasons(refold, parts, expected):
    done = refold("score", "model.json", "new.csv", "--json", "--worst", 2, cwd=parts)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    outliers = int((expected[1] == -1).sum())
    assert (found["rows"], found["outliers"], found["normal"]) == (60, outliers, 60 - outliers)
    assert {row["row"] for row in found["worst"]} == {17, 40}
    worst = found["worst"][0]
    assert worst["distance"] == expected[0].max()
    low, high = worst["reasons"][0]["normal"][0]
    assert not low <= worst["reasons"][0]["value"] <= high


def test_outliers_are_an_exit_code_only_when_asked(refold, parts):
    line = ("score", "model.json")
    assert refold(*line, "new.csv", cwd=parts).returncode == 0
    assert refold(*line, "new.csv", "--fail-on-outlier", cwd=parts).returncode == 1
    inside = "torque,speed,heat\n75,300,20\n"
    done = refold(*line, "-", "--fail-on-outlier", cwd=parts, input=inside.encode())
    assert done.returncode == 0


def test_where_names_collide_those_that_are_added_have_a_prefix_and_that_is_said(
    refold, parts, tmp_path
):
    (tmp_path / "t.csv").write_text("torque,speed,heat,label\n75,300,20,x\n")
    line = ("score", parts / "model.json", tmp_path / "t.csv")
    done = refold(*line)
    assert done.returncode == 0
    assert "has label already: the columns added begin with refold_." in done.stderr
    assert done.stdout.startswith('"torque","speed","heat","label","refold_distance"')
    assert done.stdout == refold(*line, "--prefix", "refold_").stdout
    assert "already has the columns ['label']" in refold(*line, "--prefix", "").stderr


@pytest.mark.parametrize(
    ("out", "message"), [("out.ods", "does not end with"), ("new.csv", "is the same file as")]
)
def test_bad_outputs_are_refused(out, message, refold, parts):
    before = (parts / "new.csv").read_bytes()
    done = refold("score", "model.json", "new.csv", "-o", out, cwd=parts)
    assert done.returncode == 2
    assert message in done.stderr
    assert (parts / "new.csv").read_bytes() == before


def test_an_output_stays_as_it_was_when_the_table_is_bad(refold, parts, tmp_path):
    (tmp_path / "out.csv").write_text("kept")
    lines = (parts / "new.csv").read_text() + "75,x,20\n"
    line = ("score", parts / "model.json", "-", "-o", tmp_path / "out.csv")
    done = refold(*line, input=lines.encode())
    assert done.returncode == 2
    assert "standard input, line 62, column 'speed': 'x' is not a number" in done.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "kept"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_stops_listening_is_no_error(unbuffered, parts, tmp_path):
    table = (parts / "new.csv").read_text()
    (tmp_path / "long.csv").write_text(table + table.split("\n", 1)[1] * 2000)
    line = f"'{REFOLD}' score model.json '{tmp_path}/long.csv' | head -n 2"
    done = subprocess.run(
        line,
        shell=True,
        cwd=parts,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


def test_a_terminal_shows_the_outliers(parts):
    ours, theirs = pty.openpty()
    line = [str(REFOLD), "score", "model.json", "new.csv"]
    env = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    with subprocess.Popen(
        line, cwd=parts, stdout=theirs, stderr=subprocess.DEVNULL, env=env
    ) as run:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # how a terminal ends on Linux
            pass
    os.close(ours)
    assert run.returncode == 0
    text = shown.decode()
    assert "torque 99.5 is " in text
    assert "are outliers" in text
    assert '"distance"' not in text


def test_explain_says_what_the_library_says(refold, parts):
    done = refold("explain", "model.json", "new.csv", "--row", 17, cwd=parts)
    assert done.returncode == 0
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith("row 17: outlier; torque 99.5 is ")
    assert second.endswith(" × the limit, p = 0.005")
    done = refold("explain", "model.json", "new.csv", "--row", 61, cwd=parts)
    assert done.returncode == 2
    assert "new.csv has 60 rows: there is no row 61" in done.stderr


def test_inspect_shows_what_was_learned(refold, parts, rows):
    document = json.loads(refold("inspect", "model.json", "--json", cwd=parts).stdout)
    model = library.load(parts / "model.json")
    assert (document["rows"], document["alpha"]) == (200, 0.01)
    assert document["threshold"] == model.threshold_
    assert [f["name"] for f in document["features"]] == list(NAMES)
    np.testing.assert_allclose([f["high"] for f in document["features"]], rows.max(axis=0))
    assert [f["gain"] for f in document["features"]] == model.chain_.gain.tolist()
    text = refold("inspect", "model.json", cwd=parts).stdout
    assert "learned from 200 rows, 3 features" in text
    assert "1 % of normal rows" in text


def test_drift_tells_new_data_from_old(refold, parts, rows, tmp_path):
    (tmp_path / "t.csv").write_text(as_csv(rows + np.array([0, 8, 0])))
    line = ("drift", parts / "model.json", tmp_path / "t.csv")
    done = refold(*line, "--json", "--fail-on-drift")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["verdict"] == "changed"
    assert [f["name"] for f in found["features"] if f["changed"]] == ["speed"]
    done = refold("drift", parts / "model.json", parts / "normal.csv", "--fail-on-drift")
    assert done.returncode == 0
    assert done.stdout.startswith("No difference from the training rows is proven.")


def test_the_demo_names_the_cell_of_every_mistake(refold, tmp_path):
    done = refold("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["usual"]["outliers"] / document["usual"]["rows"] < 0.03
    for row in document["mistakes"]:
        assert (row["label"], row["reasons"][0]["feature"]) == (-1, row["column"]), row["mistake"]


@pytest.mark.parametrize(
    "command", ["fit", "score", "explain", "inspect", "limits", "drift", "demo"]
)
def test_help_has_examples(command, refold):
    done = refold(command, "--help")
    assert done.returncode == 0
    assert f"refold {command}" in done.stdout.split("For example:")[1]


def test_help_does_not_wait_for_scikit_learn():
    program = (
        "import sys, refold.cli; sys.exit('sklearn' in sys.modules or 'pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(parts, tmp_path):
    """Four times the rows must not take tens of megabytes more."""
    body = (parts / "new.csv").read_text().split("\n", 1)[1]
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    peaks = []
    for times in (10_000, 40_000):
        (tmp_path / "t.csv").write_text("torque,speed,heat\n" + body * times)
        line = [REFOLD, "score", parts / "model.json", tmp_path / "t.csv", "--json"]
        line = [sys.executable, "-c", program, *line, "-o", tmp_path / "out.parquet"]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.splitlines()[-1]) / 1024)
    assert peaks[1] - peaks[0] < 50

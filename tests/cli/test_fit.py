"""``refold fit``: which rows and columns are learned, and that the model is the library's own."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import refold as library
from tests.cli.conftest import NAMES, as_csv
from tests.command import run_in_process


@pytest.mark.parametrize("method", ["auto", "creased", "ref"])
def test_the_model_is_what_the_library_learns(refold, parts, tmp_path, method):
    out = tmp_path / "model.json"
    line = ("fit", parts / "normal.csv", "-o", out, "--alpha", "0.05", "--json")
    done = refold(*line, "--method", method)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(parts / "normal.csv")
    model, expected = library.load(out), library.Detector(method=method, alpha=0.05).fit(table)
    np.testing.assert_array_equal(model.score_samples(table), expected.score_samples(table))
    document = json.loads(done.stdout)
    assert {key: document[key] for key in ("model", "kind", "method", "rows", "rows_read")} == {
        "model": str(out),
        "kind": "Detector",
        "method": method,
        "rows": 200,
        "rows_read": 200,
    }
    assert (document["threshold"], document["alpha"]) == (expected.threshold_, 0.05)
    assert document["features"] == list(NAMES)
    torque = {
        "name": "torque",
        "role": "number",
        "distinct": None,
        "missing": 0,
        "unreadable": 0,
        "beside": None,
        "noticed": [],
        "form": "",
        "unit": "",
        "missing_words": [],
        "low": expected.columns_[0].low,
        "high": expected.columns_[0].high,
        "example": expected.columns_[0].example,
        "reading": "number",
    }
    assert document["columns"][0] == torque


def test_only_the_owner_may_read_a_file_that_holds_training_rows(refold, parts, tmp_path):
    line = ("fit", parts / "normal.csv", "-o", "m.json")
    assert refold(*line, cwd=tmp_path, umask=0o022).returncode == 0
    assert (tmp_path / "m.json").stat().st_mode & 0o777 == 0o600


def test_columns_are_chosen_by_name(refold, rows, parts, tmp_path):
    line = ("fit", parts / "normal.csv", "-o", "m.json", "--columns", "heat, torque")
    assert refold(*line, cwd=tmp_path).returncode == 0
    model = library.load(tmp_path / "m.json")
    assert list(model.feature_names_in_) == ["heat", "torque"]
    np.testing.assert_allclose(model.summary_.high, rows[:, [2, 0]].max(axis=0))
    done = refold(*line[:-1], "heat,weight", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no column 'weight'. It has 'torque', 'speed', 'heat'" in done.stderr


def test_only_rows_of_the_target_are_learned(refold, tmp_path):
    lines = [f"{k * k % 83},{'none' if k % 2 else 'bad'}" for k in range(1, 41)]
    # A cell that is no number does not matter in a row that is not learned.
    (tmp_path / "t.csv").write_text("a,class\n" + "\n".join(lines) + "\nbroken,bad\n")
    line = ("fit", "t.csv", "-o", "m.json", "--bad-cells", "error", "--target-column", "class")
    done = refold(*line, "--target", "none", cwd=tmp_path)  # a word for a missing value elsewhere
    assert done.returncode == 0, done.stderr
    assert "Learned from 20 of 41 rows, 2 columns:" in done.stdout
    summary = library.load(tmp_path / "m.json").summary_
    values = [k * k % 83 for k in range(1, 41, 2)]
    assert (summary.low[0], summary.high[0], summary.rows) == (min(values), max(values), 20)
    done = refold(*line, "--target", "fine", cwd=tmp_path)
    assert done.returncode == 2
    assert "no row has 'fine' in column 'class'. Found there: 'bad', 'none'" in done.stderr


def test_a_target_may_be_a_number(refold, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,1.0\n2,1\n3,0\n4,01.00\n")
    line = ("fit", "t.csv", "-o", "m.json", "--target-column", "y", "--target", "1", "--json")
    assert json.loads(refold(*line, cwd=tmp_path).stdout)["rows"] == 3


def test_roles_are_said_by_option(refold, tmp_path):
    text = "".join(f"{k % 3},0{k % 9}/02/2026,{k}{k % 7},x\n" for k in range(1, 90) if k % 9)
    (tmp_path / "t.csv").write_text('"shift=no",day,"a, b",note\n' + text)
    roles = '"shift=no"=category, day=date:"%d/%m/%Y", "a, b"=text'
    line = ("fit", "t.csv", "-o", "m.json", "--roles", roles, "--ignore", "note", "--json")
    done = refold(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    columns = json.loads(done.stdout)["columns"]
    assert [column["role"] for column in columns] == ["category", "date", "text"]
    assert json.loads(done.stdout)["ignored"] == ["note"]
    shown = json.loads(refold("inspect", "m.json", "--json", cwd=tmp_path).stdout)["columns"]
    assert (shown[1]["from"], shown[1]["to"]) == ("2026-02-01", "2026-02-08")
    assert shown[0]["frequent"][0]["value"] in "012"


def test_inspect_says_how_each_column_was_read(refold, tmp_path):
    lines = [f"{k % 9 + 1}.234,50 €;{'n.v.' if k % 7 == 0 else k % 5}" for k in range(70)]
    (tmp_path / "t.csv").write_text("\n".join(["preis;stufe", *lines]), encoding="utf-8")
    run = ("fit", "t.csv", "-o", "m.json", "--missing", "n.v.")
    assert "refold inspect m.json" in refold(*run, cwd=tmp_path).stdout
    done = refold("inspect", "m.json", cwd=tmp_path)
    shown = " ".join(done.stdout.replace("│", " ").split())
    assert {"number,", "€", "commas"} <= set(shown.split())
    assert "14.3 % (n.v.)" in shown
    price, step = json.loads(refold("inspect", "m.json", "--json", cwd=tmp_path).stdout)["columns"]
    assert (price["unit"], price["low"], price["high"]) == ("€", 1234.5, 9234.5)
    assert step["missing_words"] == ["n.v."]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ("torque", "'torque' is not like name=role"),
        ("weight=number", "there is no column 'weight'"),
        ("torque=nonsense", "torque cannot be 'nonsense': roles are number, category"),
        ("torque=date", "torque cannot be a date"),
    ],
)
def test_roles_that_make_no_sense(roles, message, refold, parts, tmp_path):
    done = refold("fit", parts / "normal.csv", "-o", tmp_path / "m.json", "--roles", roles)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_column_that_names_the_rows_is_not_learned(refold, tmp_path):
    lines = [f"P-{k * 7919 % 1000},{k * k % 83}" for k in range(60)]
    (tmp_path / "t.csv").write_text("part,a\n" + "\n".join(lines) + "\n")
    done = refold("fit", "t.csv", "-o", "m.json", "--id-column", "part", cwd=tmp_path)
    assert "  ignored     part (names the rows)\n" in done.stdout
    (tmp_path / "new.csv").write_text("a\n12\n")  # nor is it needed
    assert refold("score", "m.json", "new.csv", cwd=tmp_path).returncode == 0


def test_rows_that_look_odd_are_left_out_by_trim(refold, rows, tmp_path):
    odd = np.vstack([rows, np.random.default_rng(2).normal(0, 5000, (10, 3))])
    (tmp_path / "t.csv").write_text(as_csv(odd))
    line = ("fit", "t.csv", "-o", "m.json", "--trim", "0.05")
    done = refold(*line, cwd=tmp_path)
    assert "Learned from 210 rows, without the 10 oddest, 3 columns:" in done.stdout
    assert library.load(tmp_path / "m.json").summary_.high.max() < 1000


@pytest.mark.parametrize("cell", ["<0.05", "n.n."])
def test_a_cell_that_cannot_be_read_is_noticed_or_an_error(cell, refold, rows, tmp_path):
    texts = rows.astype(str)
    (tmp_path / "good.csv").write_text(as_csv(texts))
    texts[41, 1] = cell
    (tmp_path / "t.csv").write_text(as_csv(texts))
    where = f"t.csv, line 43, column 'speed': '{cell}' is not a number."
    done = refold("fit", "t.csv", "-o", "m.json", "--bad-cells", "error", cwd=tmp_path)
    assert (done.returncode, where in done.stderr) == (2, True)
    assert not (tmp_path / "m.json").exists()
    done = refold("fit", "t.csv", "-o", "m.json", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["columns"][1]["unreadable"] == 1
    assert (
        f"Noticed: speed has a cell that is not a number, such as '{cell}' in row 42" in done.stderr
    )
    # A model that has never met one takes it for a reason, unless it is told to stop.
    assert refold("fit", "good.csv", "-o", "good.json", cwd=tmp_path).returncode == 0
    line = ("good.json", "t.csv", "--json")
    done = refold("explain", *line, "--row", "42", cwd=tmp_path)
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["label"], row["reasons"][0]["value"]) == (-1, cell)
    done = refold("score", *line, "--bad-cells", "error", "-o", "out.csv", cwd=tmp_path)
    assert (done.returncode, where in done.stderr) == (2, True)
    assert not (tmp_path / "out.csv").exists()


def test_a_table_without_names(refold, rows, tmp_path):
    (tmp_path / "t.csv").write_text(as_csv(rows[1:], map(str, rows[0])))
    done = refold("fit", "t.csv", "-o", "m.json", "--no-header", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["features"] == ["x0", "x1", "x2"]
    assert json.loads(done.stdout)["rows"] == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alpha", "0.001"), "needs at least 999 rows"),
        (("--alpha", "2"), "alpha"),
        (("--target", "x"), "go together"),
        (("--delimiter", "::"), "One character"),
        (("--decimal", ";"), "It is . or ,"),
        (("--out", "no/m.json"), "There is no folder no"),
        (("--method", "some"), "--method"),
        (("--trim", "0.7"), "trim"),
    ],
)
def test_options_that_make_no_sense(options, message, refold, parts, tmp_path):
    line = ("fit", parts / "normal.csv", "-o", "m.json", *options)
    done = refold(*line, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_is_noticed_is_said_in_plain_lines_and_kept(refold, rows, tmp_path):
    numbered = np.column_stack([rows, np.arange(200)])
    (tmp_path / "t.csv").write_text(as_csv(numbered, (*NAMES, "part no\x1b[2J")))
    line = ("fit", "t.csv", "-o", "m.json")
    done = refold(*line, cwd=tmp_path)
    said = [text for text in done.stderr.splitlines() if text.startswith("Noticed: ")]
    assert any(r"part no\u001b[2J numbers the rows from 0 to 199" in text for text in said)
    assert "--roles '\"part no" in done.stderr  # advice for who types, not for who writes Python
    assert "Warning" not in done.stderr
    assert r"  ignored     part no\u001b[2J (a running number)" in done.stdout
    model = library.load(tmp_path / "m.json")
    assert [found.column for found in model.noticed_ if found.kind == "running-number"] == [
        "part no\x1b[2J"
    ]
    as_json = json.loads(refold(*line, "--json", cwd=tmp_path).stdout)
    assert len(as_json["noticed"]) == len(model.noticed_)
    assert as_json["ignored"] == ["part no\x1b[2J"]


def test_a_wide_table_is_told_in_fifteen_lines(refold, rng, tmp_path):
    names = [f"{kind}{k}" for kind in "nct" for k in range(80)]
    rows = [
        [f"{v:.3f}" for v in rng.normal(size=80)]
        + [*rng.choice(list("abc"), 80), *(f"w{n}" for n in rng.integers(0, 9000, 80))]
        for _ in range(100)
    ]
    rows[3][:10] = ["broken"] * 10
    (tmp_path / "t.csv").write_text(as_csv(rows, [*names[:-1], "long" * 50]))
    done = refold("fit", "t.csv", "-o", "m.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    assert len(lines) <= 15
    assert max(map(len, lines)) < 500
    assert "  number      n0, n1, n2" in done.stdout
    assert " more\n" in done.stdout


def test_a_cell_that_was_not_taken_as_normal_is_named_by_its_row(refold, tmp_path):
    rows = [f"{i % 7}.{i % 13},{i % 11}" for i in range(200)]
    rows[41] = "9999,3"
    (tmp_path / "good.csv").write_text("\n".join(["heat,load", *rows]))
    done = refold("fit", tmp_path / "good.csv", "-o", tmp_path / "m.json")
    # Rows count from 1, as in refold explain --row.
    assert "Noticed: heat 9999 in row 42 is far from all others" in done.stderr


def test_where_nothing_is_noticed_nothing_is_said(refold, parts, tmp_path):
    done = refold("fit", parts / "normal.csv", "-o", "m.json", cwd=tmp_path)
    assert "Noticed" not in done.stderr


def test_where_rows_are_alike_the_rate_that_is_said_is_the_one_that_comes_of_it(
    monkeypatch, capsys, tmp_path
):
    (tmp_path / "same.csv").write_text("a,b\n" + "1,x\n" * 100)
    run_in_process(monkeypatch, "fit", tmp_path / "same.csv", "-o", tmp_path / "model.json")
    said = "".join(capsys.readouterr())
    assert "About 0 % of normal rows will be called outliers: many have the same distance." in said
    assert "4.95 % of normal rows" not in said

"""``refold fit``: which rows and columns are learned, and that the model is the library's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import refold as library
from tests.cli.conftest import NAMES, as_csv


def test_the_model_is_what_the_library_learns(refold, rows, parts, tmp_path):
    out = tmp_path / "model.json"
    done = refold("fit", parts / "normal.csv", "-o", out, "--alpha", "0.01", "--json")
    assert done.returncode == 0, done.stderr
    model, expected = library.load(out), library.REF(alpha=0.01).fit(rows)
    assert list(model.feature_names_in_) == list(NAMES)
    assert model.threshold_ == expected.threshold_
    np.testing.assert_array_equal(model.chain_.shifts, expected.chain_.shifts)
    assert json.loads(done.stdout) == {
        "model": str(out),
        "rows": 200,
        "rows_read": 200,
        "features": list(NAMES),
        "ignored": [],
        "threshold": expected.threshold_,
        "alpha": 0.01,
        "noticed": [str(found) for found in expected.noticed_],
        "kind": "REF",
        "levels": "all",
        "engine": "exact",
    }


def test_a_model_of_dependence_is_learned_when_asked_for(refold, rows, parts, tmp_path):
    line = ("fit", parts / "normal.csv", "-o", "m.json", "--method", "creased")
    done = refold(*line, "--alpha", "0.05", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    model, expected = library.load(tmp_path / "m.json"), library.CreasedREF(alpha=0.05).fit(rows)
    assert list(model.feature_names_in_) == list(NAMES)
    distances = model.scorer().distances(rows)
    np.testing.assert_array_equal(distances, expected.scorer().distances(rows))
    done = refold(*line, "--levels", "all", cwd=tmp_path)
    assert (done.returncode, "--levels is for --method ref" in done.stderr) == (2, True)


def test_only_the_owner_may_read_a_file_that_holds_training_rows(refold, parts, tmp_path):
    for method, mode in (("ref", 0o644), ("creased", 0o600)):
        line = ("fit", parts / "normal.csv", "-o", f"{method}.json", "--method", method)
        assert refold(*line, cwd=tmp_path, umask=0o022).returncode == 0
        assert (tmp_path / f"{method}.json").stat().st_mode & 0o777 == mode


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
    lines = [f"{k},{'good' if k % 2 else 'bad'}" for k in range(1, 41)]
    # A cell that is no number does not matter in a row that is not learned.
    (tmp_path / "t.csv").write_text("a,class\n" + "\n".join(lines) + "\nbroken,bad\n")
    line = ("fit", "t.csv", "-o", "m.json", "--target-column", "class", "--target")
    done = refold(*line, "good", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Learned from 20 of 41 rows, 1 feature." in done.stdout
    summary = library.load(tmp_path / "m.json").summary_
    assert (summary.low[0], summary.high[0], summary.rows) == (1, 39, 20)
    done = refold(*line, "fine", cwd=tmp_path)
    assert done.returncode == 2
    assert "no row has 'fine' in column 'class'. Found there: 'bad', 'good'" in done.stderr


def test_a_target_may_be_a_number(refold, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,1.0\n2,1\n3,0\n4,01.00\n")
    line = ("fit", "t.csv", "-o", "m.json", "--target-column", "y", "--target", "1", "--json")
    assert json.loads(refold(*line, cwd=tmp_path).stdout)["rows"] == 3


def test_categories_become_features_and_new_ones_stand_out(refold, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{'ABC'[rng.integers(3)]}" for _ in range(200)]
    (tmp_path / "t.csv").write_text("a,machine\n" + "\n".join(lines) + "\n")
    line = ("fit", "t.csv", "-o", "m.json", "--categorical", "machine", "--alpha", "0.02")
    assert refold(*line, cwd=tmp_path).returncode == 0
    names = ["a", "machine=A", "machine=B", "machine=C", "machine=(other)"]
    assert list(library.load(tmp_path / "m.json").feature_names_in_) == names
    (tmp_path / "new.csv").write_text("machine,a\nB,0.1\nZ,0.1\n,0.1\n")
    done = refold("explain", "m.json", "new.csv", "--row", 1, "--row", 2, "--json", cwd=tmp_path)
    known, unknown = json.loads(done.stdout)["rows"]
    assert (known["label"], unknown["label"]) == (1, -1)
    assert unknown["reasons"][0]["feature"] == "machine=(other)"
    # A missing category is as if the model had been learned without that column.
    done = refold("explain", "m.json", "new.csv", "--row", 3, "--json", cwd=tmp_path)
    (missing,) = json.loads(done.stdout)["rows"]
    assert {r["feature"] for r in missing["reasons"] if r["value"] is not None} == {"a"}


def test_text_is_left_out_only_by_choice(refold, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,note\n1,2,x\n2,4,y\n3,3,z\n")
    done = refold("fit", "t.csv", "-o", "m.json", "--ignore-text", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["features"] == ["a", "b"]
    assert json.loads(done.stdout)["ignored"] == ["note"]


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
        (("--target", "x"), "need each other"),
        (("--delimiter", "::"), "One character"),
        (("--decimal", ";"), "It is . or ,"),
        (("--out", "no/m.json"), "There is no folder no"),
        (("--levels", "some"), "--levels"),
    ],
)
def test_options_that_make_no_sense(options, message, refold, parts, tmp_path):
    line = ("fit", parts / "normal.csv", "-o", "m.json", *options)
    done = refold(*line, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["ref", "creased"])
def test_what_is_noticed_is_said_in_plain_lines_and_kept(refold, rows, tmp_path, method):
    numbered = np.column_stack([rows, np.arange(200)])
    (tmp_path / "t.csv").write_text(as_csv(numbered, (*NAMES, "part no\x1b[2J")))
    line = ("fit", "t.csv", "-o", "m.json", "--method", method)
    done = refold(*line, cwd=tmp_path)
    said = [text for text in done.stderr.splitlines() if text.startswith("Noticed: ")]
    assert any(text.startswith(r"Noticed: part no\u001b[2J runs from 0 to 199") for text in said)
    assert "Warning" not in done.stderr
    model = library.load(tmp_path / "m.json")
    assert [found.column for found in model.noticed_ if found.kind == "running-number"] == [
        "part no\x1b[2J"
    ]
    as_json = refold(*line, "--json", cwd=tmp_path)
    assert json.loads(as_json.stdout)["noticed"] == [str(found) for found in model.noticed_]


def test_a_cell_that_was_not_taken_as_normal_is_named_by_its_row(refold, tmp_path):
    rows = [f"{i % 7}.{i % 13},{i % 11}" for i in range(200)]
    rows[41] = "9999,3"
    (tmp_path / "good.csv").write_text("\n".join(["heat,load", *rows]))
    done = refold("fit", tmp_path / "good.csv", "-o", tmp_path / "m.json", "--method", "creased")
    # Rows count from 1, as in refold explain --row.
    assert "Noticed: heat 9999 in row 42 is far from all others" in done.stderr


def test_where_nothing_is_noticed_nothing_is_said(refold, parts, tmp_path):
    done = refold("fit", parts / "normal.csv", "-o", "m.json", cwd=tmp_path)
    assert "Noticed" not in done.stderr

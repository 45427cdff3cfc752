"""``refold fit --suspects`` and ``--without``: a list to tick, and learning without those rows."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import refold as library


@pytest.fixture(scope="module")
def table():
    """Rows 41 and 121 are wrong."""
    rng = np.random.default_rng(0)
    found = pd.DataFrame(
        {
            "part": [f"P{k:04d}" for k in range(300)],
            "machine": rng.choice(["A", "B"], 300),
            "torque": rng.normal(75, 2, 300).round(2),
            "made": pd.date_range("2026-01-01", periods=300, freq="h").strftime("%d.%m.%Y %H:%M"),
            "row": rng.integers(0, 9, 300),
        }
    )
    found.loc[40, "torque"] = 750.5
    found.loc[120, "machine"] = "Ä"
    return found


@pytest.fixture
def folder(tmp_path, table):
    table.to_csv(tmp_path / "parts.csv", index=False)
    return tmp_path


FIT = ("fit", "parts.csv", "-o", "model.json", "--id-column", "part")
ONE, BOTH = {41: "x"}, {41: "x", 121: "x"}


def ticked(text, marks):
    """Return a list of suspects with marks, by row."""
    lines = list(csv.DictReader(io.StringIO(text)))
    for line in lines:
        line["leave_out"] = marks.get(int(line["row"]), "")
    out = io.StringIO()
    writer = csv.DictWriter(out, lines[0])
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def test_the_list_has_what_a_person_needs(refold, folder, table):
    done = refold(*FIT, "--suspects", "odd.csv", "--budget", "7", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Put an x into the column leave_out" in done.stdout
    lines = pd.read_csv(folder / "odd.csv")
    learned = table.drop(columns="part").astype(str)
    assert (lines["row"] - 1).tolist() == library.suspects(learned, 7).rows.tolist()
    assert set(lines["row"][:2]) == {41, 121}
    assert list(lines)[:4] == ["leave_out", "row", "part", "score"]
    assert lines["leave_out"].isna().all()
    first = lines.set_index("row").loc[41]
    assert (first["part"], first["torque"]) == ("P0040", 750.5)
    assert first["reason_1"].startswith("torque 750.5 is ")
    assert first["row (table)"] == table["row"][40]  # the table has a column of that name itself


def test_the_model_has_not_learned_what_is_ticked(refold, folder, table):
    refold(*FIT, "--suspects", "odd.csv", cwd=folder)
    text = (folder / "odd.csv").read_text()
    (folder / "ticked.csv").write_text(ticked(text, {41: "x", 121: "Yes "}))
    done = refold(*FIT, "--without", "ticked.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Learned from 298 of 300 rows" in done.stdout
    model = library.load(folder / "model.json")
    rest = table.drop(index=[40, 120])
    rest.to_csv(folder / "rest.csv", index=False)
    refold("fit", "rest.csv", "-o", "rest.json", "--id-column", "part", cwd=folder)
    expected, rows = library.load(folder / "rest.json"), table.drop(columns="part").astype(str)
    np.testing.assert_array_equal(model.score_samples(rows), expected.score_samples(rows))
    (found,) = [each for each in model.noticed_ if each.kind == "left-out"]
    assert found.rows == (40, 120)


def test_the_card_says_how_many_rows_were_left_out_and_why(refold, folder):
    refold(*FIT, "--suspects", "odd.csv", cwd=folder)
    (folder / "ticked.csv").write_text(ticked((folder / "odd.csv").read_text(), ONE))
    refold(*FIT, "--without", "ticked.csv", cwd=folder)
    said = "1 of 300 rows was left out: somebody has looked at the rows that look least like the"
    shown = refold("inspect", "model.json", "--json", cwd=folder)
    assert any(text.startswith(said) for text in json.loads(shown.stdout)["noticed"])
    refold("report", "model.json", "parts.csv", "-o", "page.html", cwd=folder)
    assert said in (folder / "page.html").read_text()


def test_a_list_that_went_through_a_spreadsheet_still_matches(refold, folder):
    """As a European Excel writes CSV: a mark of bytes, semicolons, decimal commas, other dates."""
    refold(*FIT, "--suspects", "odd.csv", cwd=folder)
    lines = list(csv.reader(io.StringIO(ticked((folder / "odd.csv").read_text(), BOTH))))
    changed = [lines[0], *sorted(lines[1:], reverse=True)]  # sorted by the column of ticks
    out = io.StringIO()
    written = [[cell.replace(".", ",") for cell in line] for line in changed]
    csv.writer(out, delimiter=";").writerows(written)
    (folder / "ticked.csv").write_text("\ufeff" + out.getvalue())
    done = refold(*FIT, "--without", "ticked.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Learned from 298 of 300 rows" in done.stdout


def test_a_workbook_is_written_ticked_and_read(refold, folder):
    assert refold(*FIT, "--suspects", "odd.xlsx", cwd=folder).returncode == 0
    lines = pd.read_excel(folder / "odd.xlsx", engine="calamine").astype({"leave_out": object})
    lines.loc[lines["row"] == 41, "leave_out"] = 1
    lines.loc[lines["row"] == 121, "leave_out"] = True
    lines.to_excel(folder / "ticked.xlsx", engine="xlsxwriter", index=False)
    done = refold(*FIT, "--without", "ticked.xlsx", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Learned from 298 of 300 rows" in done.stdout


def test_rows_are_those_of_the_file_where_only_some_are_learned(refold, folder, table):
    """Also in what is noticed: row 41 of the file is the 40th of its target, or before."""
    line = ("fit", "parts.csv", "-o", "m.json", "--target-column", "machine", "--target")
    own = table["machine"][40]
    done = refold(*line, own, "--suspects", "odd.parquet", "--json", cwd=folder)
    assert json.loads(done.stdout)["suspects"][0] == 41
    assert pd.read_parquet(folder / "odd.parquet")["row"][0] == 41
    assert "torque 750.5 in row 41 is far from all others" in done.stderr


def test_other_columns_may_be_learned_the_second_time(refold, folder):
    refold(*FIT, "--suspects", "odd.csv", cwd=folder)
    (folder / "ticked.csv").write_text(ticked((folder / "odd.csv").read_text(), ONE))
    done = refold(*FIT, "--ignore", "made", "--without", "ticked.csv", cwd=folder)
    assert done.returncode == 0, done.stderr


def test_the_next_list_has_none_of_the_rows_that_were_left_out(refold, folder):
    refold(*FIT, "--suspects", "odd.csv", "--budget", "5", cwd=folder)
    (folder / "ticked.csv").write_text(ticked((folder / "odd.csv").read_text(), BOTH))
    line = (*FIT, "--without", "ticked.csv", "--suspects", "next.csv", "--json")
    found = json.loads(refold(*line, cwd=folder).stdout)["suspects"]
    assert len(found) == 50
    assert not {41, 121} & set(found)


def refused(refold, folder, *options):
    before = (folder / "model.json").read_bytes()
    done = refold(*FIT, *options, cwd=folder)
    assert done.returncode == 2
    assert (folder / "model.json").read_bytes() == before
    return " ".join(done.stderr.replace("│", " ").split())


def test_what_cannot_be_meant_is_refused_and_nothing_is_lost(refold, folder, table):
    refold(*FIT, "--suspects", "odd.csv", cwd=folder)
    text = (folder / "odd.csv").read_text()
    said = refused(refold, folder, "--without", "odd.csv")
    assert "none of its 50 rows is ticked. Put an x into the column leave_out" in said
    (folder / "ticked.csv").write_text(ticked(text, {41: "maybe"}))
    said = refused(refold, folder, "--without", "ticked.csv")
    assert "'maybe' in the column leave_out is neither x, yes or 1" in said
    (folder / "ticked.csv").write_text(ticked(text, ONE))
    said = refused(refold, folder, "--without", "ticked.csv", "--suspects", "ticked.csv")
    assert "ticked.csv is the same file as ticked.csv, which is read" in said
    assert "no column 'leave_out'" in refused(refold, folder, "--without", "parts.csv")
    assert "does not end with one of" in refused(refold, folder, "--suspects", "odd.txt")
    table.drop(index=3).to_csv(folder / "parts.csv", index=False)
    said = refused(refold, folder, "--without", "ticked.csv")
    assert "row 41 is not the row 41 that parts.csv has now. The table has changed" in said
    table.head(20).to_csv(folder / "parts.csv", index=False)
    said = refused(refold, folder, "--without", "ticked.csv")
    assert "row 41 is ticked, but is none of the rows of parts.csv" in said

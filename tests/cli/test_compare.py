"""``refold compare`` says what the library says, and stops a deployment."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import refold as library
from tests.cli.conftest import as_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    """old.json and new.json, learned from halves; inches.json has one column in other units."""
    folder = tmp_path_factory.mktemp("compare")
    table = pd.DataFrame(rows, columns=["torque", "speed", "heat"])
    table.to_csv(folder / "rows.csv", index=False)
    library.save(library.REF(alpha=0.1).fit(table.iloc[:100]), folder / "old.json")
    library.save(library.CreasedREF(alpha=0.1).fit(table.iloc[100:]), folder / "new.json")
    library.save(library.Detector().fit(table * [1, 25.4, 1]), folder / "inches.json")
    return folder


def test_it_is_what_the_library_finds(refold, folder):
    old, new = (library.load(folder / f"{name}.json") for name in ("old", "new"))
    found = library.compare(old, new, pd.read_csv(folder / "rows.csv"))
    assert found.n_changed
    done = refold("compare", "old.json", "new.json", "rows.csv", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    document, expected = json.loads(done.stdout), json.loads(json.dumps(found.to_dict()))
    rows = [row.pop("row") for row in document["changed_rows"]]
    assert rows == [row.pop("row") + 1 for row in expected["changed_rows"]][:10]  # from 1
    assert document["changed_rows"] == expected["changed_rows"][:10]
    for given in (document, expected):
        given.pop("changed_rows")
    assert document == expected
    done = refold("compare", "old.json", "new.json", "rows.csv", cwd=folder)
    assert found.headline() in done.stdout
    assert f"new: {found.new.rejected} outliers (" in done.stdout


def test_models_of_numbers_and_of_tables_read_the_same_rows(refold, folder):
    done = refold("compare", "old.json", "inches.json", "rows.csv", "--json", cwd=folder)
    document = json.loads(done.stdout)
    model, rows = library.load(folder / "inches.json"), pd.read_csv(folder / "rows.csv")
    assert document["new"]["rejected"] == (model.predict(rows) == -1).sum()
    assert document["judged"] == 200


def test_the_gate_is_the_share_of_rows(refold, folder):
    run = ("compare", "old.json", "new.json", "rows.csv", "--json", "--fail-if-changed")
    share = json.loads(refold(*run[:-1], cwd=folder).stdout)["changed"]
    assert 0 < share < 1
    assert refold(*run, share, cwd=folder).returncode == 0
    assert refold(*run, share * 0.99, cwd=folder).returncode == 1
    assert refold(*run, 0, cwd=folder).returncode == 1
    assert refold(*run, 2, cwd=folder).returncode == 2


def test_a_model_beside_itself_passes_any_gate(refold, folder):
    done = refold(
        "compare", "old.json", "old.json", "rows.csv", "--fail-if-changed", "0", cwd=folder
    )
    assert done.returncode == 0
    assert done.stdout == "Nothing changes: the models say the same of all 200 rows.\n"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("torque,speed,heat\n", "has column names but no rows"),
        ("torque,heat\n1,2\n", "old.json: table.csv: there is no column 'speed'"),
        ("torque,speed,heat\n,,\n,,\n", "None of the 2 rows is judged by both models"),
        ("torque,speed,heat\n75,red,20\n", "table.csv, line 2, column 'speed'"),
    ],
)
def test_a_table_that_cannot_be_compared_on_is_refused_whatever_the_gate(
    refold, folder, tmp_path, table, said
):
    (tmp_path / "table.csv").write_text(table)
    models = (folder / "old.json", folder / "new.json")
    done = refold("compare", *models, "table.csv", "--fail-if-changed", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_the_page_is_one_whole_file_with_escaped_names(refold, folder, rows, tmp_path):
    hostile = "<img src=x onerror=alert(1)>"
    table = pd.DataFrame(rows, columns=["torque", hostile, "heat"])
    for name, some in (("old", table.iloc[:100]), ("new", table.iloc[100:])):
        library.save(library.REF(alpha=0.1).fit(some), tmp_path / f"{name}.json")
    table.to_csv(tmp_path / "rows.csv", index=False)
    run = ("compare", "old.json", "new.json", "rows.csv", "--html", "page.html")
    done = refold(*run, cwd=tmp_path)
    assert "The page is in page.html." in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    named = page.replace("http-equiv", "").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http://" not in named
    assert "https://" not in page
    assert refold(*run[:-1], "old.json", cwd=tmp_path).returncode == 2  # an input is not replaced


def test_a_column_in_other_units_is_said(refold, folder):
    library.save(library.Detector().fit(pd.read_csv(folder / "rows.csv")), folder / "detector.json")
    done = refold("compare", "detector.json", "inches.json", "rows.csv", cwd=folder)
    assert "Note: speed: learned values of new are 25.4 × those of old, as mm are to" in done.stdout


@pytest.mark.slow
def test_a_long_table_takes_bounded_memory(refold, folder, tmp_path):
    rng = np.random.default_rng(2)
    block = as_csv(rng.normal([75, 300, 20], [2, 5, 1], size=(20_000, 3)).round(2))
    heading, _, body = block.partition("\n")
    peaks = []
    for times in (2, 20):
        (tmp_path / "long.csv").write_text(f"{heading}\n{body * times}")
        code = (
            "import resource, sys; from refold.cli import app\n"
            "try: app()\n"
            "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        models = (str(folder / "old.json"), str(folder / "old.json"))
        line = [sys.executable, "-c", code, "compare", *models, str(tmp_path / "long.csv")]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        assert f"all {20_000 * times:,} rows" in done.stdout
        peaks.append(int(done.stderr.split()[-1]))
    assert peaks[1] < peaks[0] + 60_000  # kB

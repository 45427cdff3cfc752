"""Every command that takes a model takes the file of a CreasedREF."""

import json

import numpy as np
import pandas as pd
import pytest

import refold as library


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """model.json, learned from strains that follow loads; in new.csv row 4 does not."""
    folder, rng = tmp_path_factory.mktemp("creased"), np.random.default_rng(0)
    x = rng.normal(size=400)
    table = pd.DataFrame({"load": 50 + 5 * x, "strain": x + 0.1 * rng.normal(size=400)})
    library.save(library.CreasedREF(n_creases=32).fit(table), folder / "model.json")
    table.loc[3, "strain"] = -3.0
    table.head(50).to_csv(folder / "new.csv", index=False)
    return folder


def test_rows_are_scored_and_explained_by_what_was_expected(refold, folder):
    scored = refold("score", folder / "model.json", folder / "new.csv", "-o", folder / "out.csv")
    assert scored.returncode == 0, scored.stderr
    out = pd.read_csv(folder / "out.csv")
    assert out.label[3] == -1
    assert out.reason_1[3] == "strain"
    said = refold("explain", folder / "model.json", folder / "new.csv", "--row", 4)
    assert "outlier; strain −3 is " in said.stdout
    assert "expected " in said.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "model.json"),
        ("limits", "model.json"),
        ("drift", "model.json", "new.csv"),
        ("report", "model.json", "new.csv", "-o", "page.html"),
        ("export", "model.json", "--to", "onnx", "-o", "model.onnx"),
    ],
    ids=lambda command: command[0],
)
def test_the_other_commands_take_it_too(refold, folder, command):
    done = refold(*command, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_inspect_says_what_kind_of_model_it_is(refold, folder):
    document = json.loads(refold("inspect", folder / "model.json", "--json").stdout)
    assert (document["kind"], document["engine"]) == ("CreasedREF", None)
    assert document["alpha"] == pytest.approx(5 / 401)  # of 400 rows


def test_sql_is_refused_with_a_reason(refold, folder):
    done = refold(
        "export", folder / "model.json", "--to", "sql", "--table", "t", "--dialect", "duckdb"
    )
    assert done.returncode == 2
    assert "CreasedREF" in done.stderr

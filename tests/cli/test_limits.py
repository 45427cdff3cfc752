"""``refold limits`` says what the library says."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import refold as library


@pytest.mark.parametrize("table", [(), ("normal.csv",)])
def test_it_is_what_the_library_finds(refold, parts, table):
    model = library.load(parts / "model.json")
    found = library.limits(model, pd.read_csv(parts / "normal.csv") if table else None)
    done = refold("limits", "model.json", *table, cwd=parts)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(found)
    document = json.loads(refold("limits", "model.json", *table, "--json", cwd=parts).stdout)
    assert document == json.loads(json.dumps(found.to_dict()))
    assert [feature["name"] for feature in document["features"]] == ["torque", "speed", "heat"]


def test_rows_that_are_not_normal_are_refused_in_a_sentence(refold, parts):
    (parts / "far.csv").write_text("torque,speed,heat\n1e6,1e6,1e6\n")
    done = refold("limits", "model.json", "far.csv", cwd=parts)
    assert done.returncode == 2
    assert "far.csv: The model accepts none of the rows" in done.stderr

"""Rules in SQL: a database gives the answers of Python, or it is said what cannot be written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.base.errors import UserError
from refold.export import to_onnx, to_sql
from tests.export.test_sql import DuckDB, SQLite
from tests.export.test_sql_tables import judged

RULES = {
    "pressure": {"direction": "high", "min": 2.0},
    "weight": {"min": 1.5, "max": 2.5, "required": True},
    "grade": {"allowed": ["A", "B", "C"]},
    "machine": {"blame": False},
    "mute": ["machine = M2 until 2999-12-31"],
}


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "pressure": rng.normal(10.0, 1.0, n).round(2),
            "weight": rng.normal(2.0, 0.2, n).round(2),
            "grade": rng.choice(["A", "B"], n),
            "machine": rng.choice(["M1", "M2", "M3"], n),
        }
    )


def odd_rows():
    new = table(60, 1)
    new.loc[0:9, "pressure"] = 1.0
    new.loc[10:14, "pressure"] = 25.0
    new.loc[15:19, "weight"] = 9.0
    new.loc[20:24, "grade"] = "D"
    new.loc[25:29, "machine"] = "M9"
    new.loc[30:34, "weight"] = np.nan
    new.loc[35:39, "pressure"] = 5.0
    return new


def assert_as_python(model, new, database):
    found = judged(database, model, new)
    expected = -model.score_samples(new)
    assert [row[0] for row in found] == model.predict(new).tolist()
    np.testing.assert_allclose([row[1] for row in found], expected, rtol=1e-9, atol=1e-9)
    return found


@pytest.mark.parametrize("database", [DuckDB, SQLite])
@pytest.mark.parametrize(
    "columns", [["pressure", "weight", "grade", "machine"], ["pressure", "weight"]]
)
def test_a_database_keeps_to_the_rules(database, columns):
    rules = {name: said for name, said in RULES.items() if name in columns}
    if "machine" in columns:
        rules["mute"] = RULES["mute"]
    model = Detector(method="ref", rules=rules, n_jobs=1).fit(table(500, 0)[columns])
    new = odd_rows()[columns]
    with database() as opened:
        found = assert_as_python(model, new, opened)
    labels = np.array([row[0] for row in found])
    assert 5 < np.sum(labels == -1) < 40
    assert all(row[k] != "machine" for row in found for k in (2, 3, 4))
    judged_ones = np.arange(60) if "machine" not in columns else new.index[new["machine"] != "M2"]
    heavy = [k for k in range(15, 20) if k in judged_ones]
    assert heavy
    assert all(found[k][2] == "weight" for k in heavy)
    usual = [k for k in range(35, 40) if k in judged_ones]
    assert (labels[usual] == 1).all()  # low, which does not count


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"pressure": {"tolerance": 1.0}}, "pressure: a tolerance cannot be written as SQL"),
        ({"grade": {"format": "A"}}, "grade: a format cannot"),
        ({"weight": {"mute": "grade = A"}}, "weight: a column that is muted in some rows cannot"),
        ({"weight": {"if": {"when": {"grade": "A"}, "max": 5}}}, "weight: a limit that holds in"),
        ({"mute": "weight = 2"}, "mute: a condition on 'weight', which is not text, cannot"),
    ],
)
def test_what_cannot_be_written_is_refused_by_its_place(said, problem):
    model = Detector(method="ref", rules=said, n_jobs=1).fit(table(200, 0))
    with pytest.raises(UserError, match=r"^rules: ") as error:
        to_sql(model, "rows", "duckdb")
    assert problem in str(error.value)


def test_onnx_takes_no_rules_but_blame():
    rules = {"weight": {"max": 5}}
    model = Detector(method="ref", rules=rules, n_jobs=1).fit(table(200, 0))
    with pytest.raises(UserError, match="An ONNX graph does not take a model with rules that"):
        to_onnx(model)
    quiet = Detector(method="ref", rules={"machine": {"blame": False}}, n_jobs=1)
    assert to_onnx(quiet.fit(table(200, 0))).graph.node

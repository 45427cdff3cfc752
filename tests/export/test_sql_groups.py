"""The SQL of a model that judges rows by their group against Python."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.base.errors import UserError
from refold.export import to_sql
from tests.export.test_sql import DuckDB, all_databases
from tests.export.test_sql_tables import fill


def fleet(rows, seed=0):
    rng = np.random.default_rng(seed)
    site = rng.integers(0, 4, rows)
    machine = rng.integers(0, 6, rows)
    level = np.linspace(10.0, 400.0, 24)[6 * site + machine]
    return pd.DataFrame(
        {
            "site": np.array(["north", "it's", "süd", "x\\y"])[site],
            "machine": [f"M{k}" for k in machine],
            "heat": level + rng.normal(size=rows),
            "flow": np.exp(level / 200.0 + 0.1 * rng.normal(size=rows)),
        }
    )


def odd_rows():
    new = fleet(60, seed=1)
    new.loc[:9, "heat"] += np.linspace(-50.0, 50.0, 10)
    new.loc[10, "machine"] = "M-new"
    new.loc[11, ["site", "machine"]] = ["elsewhere", "M1"]
    new.loc[12, "site"] = None
    new.loc[13, "machine"] = None
    new.loc[14, "heat"] = np.nan
    new.loc[15, "flow"] = 0.0
    new.loc[16, "flow"] = -3.0
    new.loc[17, "heat"] = 1e12
    new.loc[18, "heat"] = -1e12
    return new


def assert_same(model, new, database):
    fill(database, new)
    statement = to_sql(model, "rows", database.dialect, prefix="r_")
    found = sorted(database.run(statement), key=lambda row: row[0])
    answers = [row[1 + new.shape[1] :] for row in found]
    np.testing.assert_allclose([row[1] for row in answers], -model.score_samples(new), rtol=1e-9)
    assert [row[0] for row in answers] == model.predict(new).tolist()
    assert [row[: 1 + new.shape[1]][1] for row in found] == [
        None if pd.isna(cell) else cell for cell in new.iloc[:, 0]
    ]
    return answers


@pytest.mark.parametrize("by", [["machine"], ["site", "machine"]])
def test_rows_have_pythons_distances_in_every_database(by, server):
    columns = [*by, "heat", "flow"]
    model = Detector(by=by, method="ref", alpha=0.05).fit(fleet(1_500)[columns])
    for database in all_databases(server):
        with database:
            answers = assert_same(model, odd_rows()[columns], database)
    assert {row[0] for row in answers} == {1, -1}


def test_a_table_with_other_columns_than_numbers(server):
    training = fleet(1_500).assign(kind=lambda t: np.where(t.index % 7, "a", "b"))
    model = Detector(by=["site", "machine"], method="ref", alpha=0.05).fit(training)
    new = odd_rows().assign(kind="a")
    new.loc[20, "kind"] = "c"
    for database in all_databases(server):
        if database.dialect == "sqlite":  # it cannot tell the shape of a new text
            continue
        with database:
            assert_same(model, new, database)


def test_groups_that_are_numbers(server):
    training = fleet(1_500).assign(machine=lambda t: t["machine"].str[1:].astype(int))
    model = Detector(by="machine", method="ref").fit(training.drop(columns="site"))
    new = fleet(40, seed=2).assign(machine=lambda t: t["machine"].str[1:].astype(int))
    new.loc[3, "machine"] = 77
    for database in all_databases(server):
        with database:
            assert_same(model, new.drop(columns="site"), database)


def test_the_reason_is_the_column_that_is_odd_for_its_group():
    model = Detector(by=["site", "machine"], method="ref").fit(fleet(1_500))
    new = fleet(40, seed=2)
    new.loc[5, "heat"] += 30.0
    with DuckDB() as database:
        answers = assert_same(model, new, database)
    assert answers[5][0] == -1
    assert answers[5][2] == "heat"


@pytest.mark.parametrize(
    ("arguments", "dialect", "said"),
    [
        (
            {"by": "machine", "context": "flow"},
            "duckdb",
            "does not take a model with over=, context= or window=",
        ),
        (
            {"by": "machine", "window": 5},
            "duckdb",
            "does not take a model with over=, context= or window=",
        ),
        ({"by": "machine"}, "bigquery", "not in bigquery, where it could not be tested"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(arguments, dialect, said):
    model = Detector(method="ref", **arguments).fit(fleet(600).drop(columns="site"))
    with pytest.raises(UserError, match=said):
        to_sql(model, "rows", dialect)


def test_a_number_that_groups_fix_is_judged_as_python_does():
    training = fleet(1_500).assign(rated=lambda t: 5.0 * t["machine"].str[1:].astype(int))
    model = Detector(by="machine", method="ref").fit(training.drop(columns="site"))
    new = fleet(40, seed=2).assign(rated=lambda t: 5.0 * t["machine"].str[1:].astype(int))
    new.loc[3, "rated"] += 5.0
    new.loc[4, "machine"] = "M-new"
    with DuckDB() as database:
        assert_same(model, new.drop(columns="site"), database)

"""Two cells of a row that never go together, though each is usual: the row contradicts itself."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

import refold
from refold import Detector, TableEncoder
from tests.export.test_onnx_tables import assert_same as assert_same_in_onnx
from tests.export.test_sql import DuckDB, SQLite
from tests.export.test_sql_tables import assert_same as assert_same_in_sql

CITIES = {"Berlin": "DE", "Munich": "DE", "Paris": "FR", "Lyon": "FR", "Rome": "IT"}


def orders(n=400, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(list(CITIES), n)
    return pd.DataFrame(
        {
            "city": city,
            "country": [CITIES[each] for each in city],
            "payment": rng.choice(["card", "cash"], n),
            "amount": rng.normal(50.0, 9.0, n).round(2),
        }
    )


def contradicting(n=60, seed=1):
    """Rows whose city lies elsewhere than they say."""
    rows = orders(n, seed)
    other = {"DE": "FR", "FR": "IT", "IT": "DE"}
    return rows.assign(country=rows["country"].map(other))


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_a_row_that_contradicts_itself_is_an_outlier_because_of_the_two(method):
    model = Detector(method=method).fit(orders())
    rows = contradicting()
    assert (model.predict(rows) == -1).all()
    assert (model.predict(orders(seed=2)) == -1).mean() < 0.03
    found = refold.explain(model, rows)
    assert {row.reasons[0].feature for row in found} <= {"city", "country"}
    assert all("never occurs where" in str(row) for row in found)


def test_the_sentence_counts_the_rows_beside_it():
    rows = orders()
    model = Detector().fit(rows)
    row = contradicting(1)
    country = row["country"][0]
    said = str(refold.explain(model, row)[0])
    times = int((rows["country"] == country).sum())
    city = row["city"][0]
    assert (
        f"never occurs where country is '{country}' (none of {times} rows)" in said
        or f"never occurs where city is '{city}'" in said
    )


def test_values_that_go_together_at_random_contradict_nothing():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        letters = {name: rng.choice(list("abcdef"), 150) for name in "xyz"}
        counts = Detector().fit(pd.DataFrame(letters)).encoder_.counts
        assert not any(counts.contradictions(k).any() for k in counts.contingency_tables)


def test_a_pair_that_came_once_may_come_again():
    rows = orders()
    rows.loc[0, ["city", "country"]] = ["Rome", "FR"]
    model = Detector().fit(rows)
    pair = model.encoder_.counts.contradictions(0)
    assert not pair.any()
    rows.loc[1, ["city", "country"]] = ["Rome", "FR"]  # twice it is a way that rows are
    counts = Detector().fit(rows).encoder_.counts
    city, country = (counts.plan.used[k].frequent for k in (0, 1))
    assert not counts.contradictions(0)[country.index("FR"), city.index("Rome")]
    assert counts.contradictions(0)[country.index("IT"), city.index("Berlin")]


def test_parts_contradict_what_a_cross_table_of_all_rows_does():
    rows = orders(600)
    half = TableEncoder().fit(rows[:300])
    merged = half.merge(deepcopy(half).partial_fit(rows[300:]).forget(rows[:300])).counts
    city, country = (merged.plan.used[k].frequent for k in (0, 1))
    never = pd.crosstab(rows["country"], rows["city"]) == 0
    found = merged.contradictions(0)[: len(country), : len(city)]
    np.testing.assert_array_equal(found, never.loc[list(country), list(city)])


def test_a_model_file_keeps_them(tmp_path):
    model = Detector().fit(orders())
    refold.save(model, tmp_path / "model.json")
    again = refold.load(tmp_path / "model.json")
    new = pd.concat([contradicting(), orders(seed=3)], ignore_index=True)
    np.testing.assert_array_equal(again.score_samples(new), model.score_samples(new))


@pytest.mark.parametrize("database", [DuckDB, SQLite])
def test_sql_knows_contradictions(database):
    model = Detector(method="ref").fit(orders())
    table = pd.concat([contradicting(), orders(100, seed=4)], ignore_index=True)
    with database() as connection:
        assert_same_in_sql(model, table, connection, without=("shape", "character"))


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_onnx_knows_contradictions(method):
    model = Detector(method=method).fit(orders())
    table = pd.concat([contradicting(), orders(100, seed=4)], ignore_index=True)
    assert_same_in_onnx(model, table)

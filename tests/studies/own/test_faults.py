"""Faults have the size and the kind that they say, and nothing else of a row changes."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import numpy as np
import pytest

from refold.studies.own.faults import FAULTS, SPREADS, injected, put_faults, swap
from refold.studies.own.table import OwnTable, divide_rows
from refold.studies.tables.columns import CleanColumn
from tests.studies.own.made import texts, twins
from tests.studies.tables.made import orders


@pytest.fixture(scope="module")
def table():
    return OwnTable("orders.csv", orders(600))


@pytest.fixture(scope="module")
def task(table):
    return divide_rows(table, 0)


def faulty(task, name):
    """Return (column, cell) of the faults of a kind and size."""
    places = [k for k, kind in enumerate(task.kinds) if kind == name]
    return [(task.columns[k], task.test[task.columns[k]].iat[k]) for k in places]


@pytest.mark.parametrize("size", SPREADS)
def test_a_number_beyond_is_as_far_as_it_says(task, size):
    found = [float(cell) for name, cell in faulty(task, f"beyond {size:g}") if name == "price"]
    prices = task.train["price"].astype(float)
    spread = np.subtract(*np.quantile(prices, [0.9, 0.1]))
    expected = {round(prices.max() + size * spread, 2), round(prices.min() - size * spread, 2)}
    assert expected == set(found)


def test_a_date_beyond_is_as_far_as_it_says(task):
    found = [datetime.fromisoformat(cell) for _, cell in faulty(task, "date 1")]
    days = task.train["placed"].map(datetime.fromisoformat)
    spread = np.subtract(*np.quantile([day.timestamp() for day in days], [0.9, 0.1]))
    beyond = {(day - days.max()).total_seconds() for day in found if day > days.max()}
    before = {(days.min() - day).total_seconds() for day in found if day < days.min()}
    assert beyond == before
    assert beyond.pop() == pytest.approx(spread, abs=1)


def test_a_shifted_number_is_moved_by_its_size(task):
    spread = np.subtract(*np.quantile(task.train["price"].astype(float), [0.9, 0.1]))
    others = {tuple(row) for row in task.test[["placed", "country", "article"]].to_numpy()[:200]}
    originals = {
        (row["placed"], row["country"], row["article"]): float(row["price"])
        for _, row in task.test[:200].iterrows()
    }
    assert len(others) == 200
    for k, kind in enumerate(task.kinds):
        if kind == "shift 1" and task.columns[k] == "price":
            row = task.test.iloc[k]
            before = originals[row["placed"], row["country"], row["article"]]
            assert abs(float(row["price"]) - before) == pytest.approx(spread, abs=0.006)


def test_swapped_cells_come_from_another_row(table):
    columns = [CleanColumn(name, table.normals[name].tolist()) for name in table.normals]
    for cells in (1, 2):
        found = swap(columns, table.normals, cells, np.random.default_rng(0))
        before = table.normals.iloc[found.places].reset_index(drop=True)
        assert ((found.rows != before).sum(axis=1) == cells).all()
        for name in table.normals:
            assert set(found.rows[name]) <= set(table.normals[name])
    assert swap(columns, table.normals, 3, np.random.default_rng(0)) is None


def test_every_kind_finds_a_place_and_is_told_with_an_example(task):
    told = list(injected(task))
    assert {kind.name for kind in FAULTS} - {kind.name for kind in told} == {"rare"}
    assert Counter(task.kinds)["missing"] == 100
    for kind in told:
        assert kind.rows >= 20
        assert kind.example.split(":")[0] in kind.columns


def test_a_seed_decides_everything(table, task):
    again, other = divide_rows(table, 0), divide_rows(table, 1)
    assert again.test.equals(task.test)
    assert again.kinds == task.kinds
    assert not other.test.equals(task.test)


def test_no_row_is_learned_and_judged(table):
    table = OwnTable("t", texts(a=range(90), b=np.arange(90) % 4))
    task = divide_rows(table, 3)
    judged = task.test["a"][: task.kinds.count("normal")]
    assert sorted([*task.train["a"].astype(int), *judged.astype(int)]) == list(range(90))


def test_columns_that_number_the_rows_get_no_faults():
    rows = orders(300).assign(number=[str(k) for k in range(300)])
    task = divide_rows(OwnTable("t", rows), 0)
    assert "number" not in task.columns


@pytest.mark.parametrize(
    "values",
    [
        ["1e308", "-1e308"] * 30,
        ["9999-12-30", "0001-01-02", "2020-01-01"] * 20,
        ["7"] * 60,
        [""] * 60,
        ["0"] * 59 + ["abc"],
        ["\x00", "💥", 'a,b\n"c"'] * 20,
    ],
)
def test_hostile_columns_do_no_harm(values):
    rows = texts(a=values, b=np.arange(60) % 7)
    columns = [CleanColumn(name, rows[name].tolist()[:40]) for name in rows]
    for _, found in put_faults(columns, rows[40:].reset_index(drop=True), np.random.default_rng(0)):
        assert "inf" not in set(found.rows["a"].dropna())
        assert "nan" not in set(found.rows["a"].dropna())


def test_one_column_has_nothing_to_swap():
    task = divide_rows(OwnTable("t", texts(a=np.random.default_rng(0).normal(size=60).round(2))), 0)
    assert not any(kind.startswith("swapped") for kind in task.kinds)
    assert "beyond 3" in task.kinds


def test_twins_are_only_wrong_together():
    task = divide_rows(twins(), 0)
    values = task.test.to_numpy(dtype=float)
    apart = np.ptp(values, axis=1)
    kinds = np.array(task.kinds)
    assert apart[kinds == "normal"].max() < 10
    assert np.median(apart[kinds == "swapped 1"]) > 20


def test_a_fault_leaves_something_to_be_judged():
    """In a table of one column beside running numbers, a missing value would leave nothing."""
    values = np.random.default_rng(0).normal(size=90).round(2)
    task = divide_rows(OwnTable("t", texts(id=range(90), a=values)), 0)
    assert "missing" not in task.kinds
    assert task.test["a"].notna().all()

"""Errors: one cell of a row each, and wrong in the way that their kind says."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.studies.tables.columns import CleanColumn
from refold.studies.tables.injection import KINDS, inject
from tests.studies.tables.made import orders
from tests.tables import of_tables, real_table

ABSENT = {
    "clean-adult_c.csv.gz": {"night", "weekend", "default-date", "date-format", "string-format"},
    "clean-airports.csv.gz": {"rare", "night", "weekend", "default-date", "date-format"},
    "clean-congress.csv.gz": {"night"},
    "clean-flights.csv.gz": {"weekend"},
    "clean-taxis.csv.gz": {"weekend", "string-format"},
}


class Table:
    """A table, what training knows of it, and rows to put errors into."""

    def __init__(self, rows, n_train):
        self.train = rows[:n_train]
        self.normals = rows[n_train:].reset_index(drop=True)
        self.columns = [
            CleanColumn(
                name,
                self.train[name].dropna().tolist(),
                float(self.train[name].isna().mean()),
                frozenset(self.normals[name].dropna()),
            )
            for name in rows
        ]

    def cells(self, kind, count=100, seed=0):
        """Return (column, right, wrong) of errors, after a look at the rest of their rows."""
        found = inject(KINDS[kind], self.columns, self.normals, count, np.random.default_rng(seed))
        if found is None:
            return None
        before = self.normals.iloc[found.places].reset_index(drop=True)
        differs = (before != found.rows) & ~(before.isna() & found.rows.isna())
        assert differs.sum(axis=1).tolist() == [1] * count
        assert [differs.columns[row.argmax()] for row in differs.to_numpy()] == found.columns
        return [
            (name, before[name].iat[row], found.rows[name].iat[row])
            for row, name in enumerate(found.columns)
        ]


@pytest.fixture(scope="module", params=[*of_tables(*ABSENT), "made"])
def table(request):
    if request.param == "made":
        return Table(orders(2600), 1800)
    rows = pd.read_csv(real_table(request.param), dtype=str)
    return Table(rows, 2000)


def read(text):
    """Read a date by other means than the injection does."""
    return pd.Timestamp(text).tz_localize(None).to_pydatetime()


def training(table, name):
    return table.train[name].dropna()


def test_no_kind_changes_more_than_one_cell_of_a_row(table):
    found = {kind: table.cells(kind) for kind in KINDS}
    assert sum(cells is not None for cells in found.values()) >= 7


@pytest.mark.parametrize("name", of_tables(*ABSENT))
def test_tables_allow_the_kinds_that_they_have_columns_for(name):
    rows = pd.read_csv(real_table(name), dtype=str)
    table = Table(rows.sample(frac=1.0, random_state=3), 2000)
    absent = {kind for kind in KINDS if table.cells(kind, count=20) is None}
    assert absent - {"rare"} == ABSENT[name] - {"rare"}  # a rare value may be in no training row


def unseen(table, column, right, wrong):
    assert wrong not in set(table.train[column]) | set(table.normals[column])
    assert len(wrong) == len(right)
    assert training(table, column).nunique() <= 100


def rare(table, column, right, wrong):
    counts = training(table, column).value_counts(normalize=True)
    assert 0 < counts[wrong] < 0.005


def typo(table, column, right, wrong):
    assert wrong not in set(table.train[column]) | set(table.normals[column])
    assert abs(len(right) - len(wrong)) <= 1
    if len(right) != len(wrong):
        longer, shorter = sorted((right, wrong), key=len, reverse=True)
        assert any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
    else:
        changed = [i for i in range(len(right)) if right[i] != wrong[i]]
        assert len(changed) == 1 or Counter(right) == Counter(wrong)
        assert len(changed) <= 2


def swapped(table, column, right, wrong):
    assert wrong in set(training(table, column))


def spike(table, column, right, wrong):
    numbers = training(table, column).astype(float)
    quartiles = numbers.quantile([0.25, 0.75])
    away = abs(float(wrong) - numbers.median())
    assert away >= 9.9 * (quartiles[0.75] - quartiles[0.25])
    assert not numbers.min() <= float(wrong) <= numbers.max()


def x1000(table, column, right, wrong):
    assert float(wrong) == pytest.approx(1000 * float(right))


def sentinel(table, column, right, wrong):
    numbers = training(table, column).astype(float)
    assert set(wrong.lstrip("-")) == {"9"}
    assert not numbers.min() <= float(wrong) <= numbers.max()


def night(table, column, right, wrong):
    hours = training(table, column).map(lambda text: read(text).hour)
    assert (hours == read(wrong).hour).mean() < 0.01
    assert read(wrong).replace(hour=read(right).hour) == read(right)


def weekend(table, column, right, wrong):
    days = training(table, column).map(lambda text: read(text).weekday())
    assert (days == read(wrong).weekday()).mean() < 0.01
    assert 0 < abs(read(wrong) - read(right)).days <= 3
    assert read(wrong).time() == read(right).time()


def default_date(table, column, right, wrong):
    assert read(wrong) in (datetime(1970, 1, 1), datetime(1900, 1, 1))
    assert len(wrong) == len(right)


def date_format(table, column, right, wrong):
    digits = [sum(letter.isdigit() for letter in text) for text in (right, wrong)]
    assert digits[1] <= digits[0]
    day_first = wrong[2] == "."
    moment = pd.to_datetime(wrong, dayfirst=day_first)
    assert moment == pd.Timestamp(read(right).replace(second=0))


def string_format(table, column, right, wrong):
    assert wrong not in set(table.train[column]) | set(table.normals[column])
    letters = ["".join(filter(str.isalnum, text)).upper() for text in (right, wrong)]
    assert letters[0] == letters[1]


def missing(table, column, right, wrong):
    assert pd.isna(wrong)
    assert table.train[column].isna().mean() < 0.01


SAYS = {
    **{f.__name__.replace("_", "-"): f for f in (unseen, rare, typo, swapped, spike, x1000)},
    **{f.__name__.replace("_", "-"): f for f in (sentinel, night, weekend, default_date)},
    **{f.__name__.replace("_", "-"): f for f in (date_format, string_format, missing)},
}


def test_there_are_thirteen_kinds_and_each_is_tested():
    assert len(KINDS) == 13
    assert set(SAYS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_what_their_kind_says(table, kind):
    for cell in table.cells(kind) or ():  # none where a table has no column for it
        SAYS[kind](table, *cell)


@pytest.mark.parametrize("kind", KINDS)
def test_orders_allow_every_kind(kind):
    assert Table(orders(2600), 1800).cells(kind) is not None


def test_all_columns_that_meet_a_kind_get_their_share():
    table = Table(orders(2600), 1800)
    counts = Counter(name for name, *_ in table.cells("missing", count=500))
    assert set(counts) == set(table.train)
    assert min(counts.values()) > 50


def test_no_row_is_used_twice_while_there_are_others():
    table = Table(orders(2600), 1800)
    found = inject(KINDS["missing"], table.columns, table.normals, 800, np.random.default_rng(0))
    assert len(set(found.places)) == 800


def test_a_seed_always_gives_the_same_errors():
    table = Table(orders(2600), 1800)
    first, again, other = (table.cells("typo", seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_too_few_chances_are_no_errors():
    zeros = [CleanColumn("a", ["0", "1"])]
    normals = pd.DataFrame({"a": ["0"] * 50})
    assert inject(KINDS["x1000"], zeros, normals, 1, np.random.default_rng(0)) is None


def test_cells_that_are_missing_already_are_left_alone():
    normals = pd.DataFrame({"a": [None, "5", None]}, dtype=object)
    columns = [CleanColumn("a", ["1", "2"])]
    found = inject(KINDS["missing"], columns, normals, 2, np.random.default_rng(0))
    assert found.places == [1, 1]
    assert found.rows["a"].isna().all()


@given(st.lists(st.text(min_size=1), min_size=2, max_size=30), st.sampled_from(sorted(KINDS)))
def test_whatever_is_written_at_most_one_cell_changes(texts, kind):
    normals = pd.DataFrame({"a": texts, "b": texts[::-1]}, dtype=object)
    columns = [CleanColumn(name, normals[name].tolist() * 10) for name in normals]
    found = inject(KINDS[kind], columns, normals, 3, np.random.default_rng(0))
    if found is not None:
        before = normals.iloc[found.places].reset_index(drop=True)
        assert (before != found.rows).sum(axis=1).tolist() == [1, 1, 1]

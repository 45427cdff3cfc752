"""Rows: copies, gaps in blocks, their order, too few of them."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from refold import Detector, check


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_rows_that_come_twice_are_listed_but_not_where_chance_makes_them(rng):
    table = pd.DataFrame(rng.normal(size=(300, 4)).round(2), columns=list("abcd"))
    twice = pd.concat([table, table.iloc[[4, 9]]], ignore_index=True)
    (found,) = check(twice).of("duplicate-rows")
    assert found.rows == (300, 301)
    assert "no column names the rows" in found.message
    dice = pd.DataFrame(rng.integers(1, 7, size=(300, 3)), columns=list("abc"))
    assert dice.duplicated().any()
    assert not check(dice).of("duplicate-rows")


def test_rows_without_any_value_are_no_duplicates(rng):
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    table.iloc[[3, 50, 51, 120]] = np.nan
    assert not check(table).of("duplicate-rows")


def test_a_number_of_the_row_does_not_hide_that_it_comes_twice(rng):
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    twice = pd.concat([table, table.iloc[[4]]], ignore_index=True)
    twice["part"] = np.arange(301)
    (found,) = check(twice).of("duplicate-rows")
    assert found.message == "1 row is the same as an earlier one, but for part."


def test_gaps_in_a_run_of_rows_and_in_several_columns(rng):
    table = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    table.loc[100:119, "a"] = np.nan
    lost = rng.choice(400, 30, replace=False)
    table.loc[lost, ["b", "c"]] = np.nan
    table.loc[rng.choice(400, 30, replace=False), "d"] = np.nan
    run, together = sorted(check(table).of("missing-block"), key=lambda f: f.column is None)
    assert (run.column, run.rows) == ("a", tuple(range(100, 120)))
    assert (together.values, together.rows) == (("b", "c"), tuple(sorted(lost.tolist())))


def changed_table(rng):
    table = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    table["kind"] = rng.choice(["left", "right"], 400)
    changed = table.copy()
    changed.loc[250:, "b"] += 1.5
    changed.loc[200:, "kind"] = rng.choice(["left", "right"], 200, p=[0.95, 0.05])
    return table, changed


def test_a_change_in_the_middle_of_the_table_is_one_note(rng):
    table, changed = changed_table(rng)
    (note,) = check(changed).notes
    assert (note.kind, set(note.values)) == ("drift", {"b", "kind"})
    mixed = changed.sample(frac=1, random_state=0).reset_index(drop=True)
    assert not check(mixed).of("drift")
    assert not check(table.sort_values("a")).of("drift")


@pytest.mark.parametrize("time", ["day", "year"])
def test_a_change_in_time_is_one_finding_whatever_the_order_of_the_rows(rng, time):
    _, changed = changed_table(rng)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(400), unit="D")
    changed[time] = days if time == "day" else 2000 + np.arange(400) // 20
    mixed = changed.sample(frac=1, random_state=0).reset_index(drop=True)
    for rows in (changed, mixed):
        (found,) = [f for f in check(rows) if f.kind == "drift"]
        assert set(found.values) == {"b", "kind"}
        assert f"changes with {time}" in found.message
        assert not check(rows).of("drift", time)


@pytest.mark.parametrize("name", ["dob", "birth_date"])
def test_ages_do_not_drift_with_the_day_of_birth(rng, name):
    born = pd.Timestamp("1970-01-01") + pd.to_timedelta(rng.integers(0, 9000, 300), "D")
    age = 50 - (born - born.min()).days // 365 + rng.integers(0, 4, 300)
    assert not check(pd.DataFrame({name: born, "age": age})).of("drift")
    assert check(pd.DataFrame({"visited": born, "age": age})).of("drift")


def test_marks_of_the_year_do_not_change_with_it(rng):
    table = pd.DataFrame({"year": np.repeat([1978, 1981], 200), "x": rng.normal(size=400)})
    table["y81"] = (table["year"] == 1981).astype(int)
    table["z"] = table["x"] * (table["year"] == 1981)
    assert [f.values for f in check(table).of("drift")] == [("z",)]


def test_figures_of_a_change_are_exact(rng):
    """Of 10,001 rows, gaps and many digits: what is said can be counted."""
    table = pd.DataFrame({"a": rng.normal(size=10_001), "b": rng.normal(size=10_001)})
    table.loc[5000:, "a"] += 2.0
    table.loc[rng.choice(10_001, 500, replace=False), "a"] = np.nan
    (note,) = check(table).of("drift")
    said = re.search(
        r"at most (\S+) in (\S+) % of the first (\S+) rows and in (\S+) % of the other (\S+)\.",
        note.message,
    )
    limit, before, first, after, others = (
        float(x.replace(",", "").replace("−", "-")) for x in said.groups()
    )
    there = table["a"].dropna()
    splits = [math.ceil(share * 10_001) for share in (0.25, 0.5, 0.75)]
    (split,) = [at for at in splits if (there.index < at).sum() == first]
    assert len(there) - first == others
    early, late = there[there.index < split], there[there.index >= split]
    assert before == pytest.approx(100 * (early <= limit).mean(), rel=0.05)
    assert after == pytest.approx(100 * (late <= limit).mean(), rel=0.05)


def test_a_change_of_all_rows_is_said_in_plain_numbers(rng):
    table = pd.DataFrame({"a": np.repeat([20_000.0, 50_000.0], 100) + rng.normal(0, 9, 200)})
    table["b"] = rng.normal(size=200)
    (found,) = check(table).of("drift")
    assert "in 100 % of the first 100 rows and in 0 % of the other 100" in found.message
    assert "at most 20,030" in found.message


def test_a_gap_of_several_columns_in_one_place_is_said_once(rng):
    """One cause: values fail in the same rows, and what is made of them fails, too."""
    table = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    table.loc[100:119, ["a", "b"]] = np.nan
    table.loc[100:125, "c"] = np.nan
    table["log_a"] = 3.0 * table["a"] + 1.0
    (found,) = check(table).of("missing-block")
    assert set(found.values) == {"a", "b", "c"}
    assert found.rows == tuple(range(100, 120))


def test_too_few_rows_for_the_columns_in_the_words_of_a_detector(rng):
    X = rng.normal(size=(30, 30))
    with pytest.warns(UserWarning, match=r"hardly be caught"):
        noticed = Detector().fit(X).noticed_
    assert check(X).of("too-few-rows") == tuple(f for f in noticed if f.kind == "too-few-rows")
    assert not check(rng.normal(size=(400, 5))).of("too-few-rows")


def test_too_few_rows_for_the_rate(rng):
    (found,) = check(rng.normal(size=(50, 2)), alpha=0.01).of("too-few-rows")
    assert found.message == "alpha 0.01 needs at least 99 rows to calibrate on; there are 50."
    assert (found.advice.kind, found.advice.value) == ("alpha", 0.02)
    assert not check(rng.normal(size=(50, 2)), alpha=0.2).of("too-few-rows")

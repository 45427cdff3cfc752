"""Single cells: absurd ones, marks for a missing value, infinity, texts among numbers."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from refold import Detector, check


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def table(rng):
    return pd.DataFrame({"heat": rng.normal(20, 2, 300), "shift": rng.choice(list("ABC"), 300)})


def test_an_absurd_cell_is_named_with_its_row(table):
    table.loc[17, "heat"] = 2000.0
    (found,) = check(table)
    assert (found.kind, found.column, found.rows, found.values) == (
        *("absurd-cell", "heat", (17,), (2000.0,)),
    )


def test_what_a_detector_notices_of_cells_and_columns_is_said_in_the_same_words(table, rng):
    table.loc[17, "heat"] = 2000.0
    table["part"] = np.arange(300)
    table["depth"] = np.where(rng.random(300) < 0.05, -999.0, rng.normal(5, 1, 300))
    said = {str(found) for found in check(table)}
    assert {str(found) for found in Detector().fit(table).noticed_} == said


def test_a_detector_names_the_right_row_of_a_long_mixed_table(rng):
    table = pd.DataFrame({"a": rng.normal(size=12_000), "b": rng.choice(list("xyz"), 12_000)})
    table.loc[11_000, "a"] = 1e6
    (found,) = [f for f in Detector().fit(table).noticed_ if f.kind == "absurd-cell"]
    assert found.rows == (11_000,)
    assert found == check(table).of("absurd-cell")[0]


def test_a_detector_that_trims_names_the_right_row(rng):
    X = rng.normal(size=(500, 3))
    X[400, 1] = 1e6
    found = [f for f in Detector(trim=0.1).fit(X).noticed_ if f.kind == "absurd-cell"]
    assert [each.rows for each in found] == [(400,)]


def test_a_row_that_is_absurd_in_several_columns_is_one_finding(rng):
    table = pd.DataFrame(rng.normal(5.0, 1.0, (300, 4)), columns=list("abcd"))
    table.loc[299] = 2000.0
    (found,) = check(table).of("absurd-cell")
    assert (found.rows, found.values) == ((299,), ("a", "b", "c", "d"))
    assert found.message == "row 299 is far from all others in 4 columns: a, b, c, d."
    assert check(table).of("absurd-cell", "c") == (found,)


@pytest.mark.parametrize("value", [-999.0, 9999.0, -1.0])
def test_a_sentinel_is_found_with_its_rows(rng, value):
    ages = rng.integers(20, 60, 500).astype(float)
    ages[[5, 50, 77, 400]] = value
    (found,) = check(pd.DataFrame({"age": ages, "w": rng.normal(size=500)})).of("sentinel")
    assert (found.column, found.rows, found.values) == ("age", (5, 50, 77, 400), (value,))


def test_a_default_date_is_a_sentinel_and_a_lone_far_date_absurd(rng):
    days = [dt.date(2024, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 300, 200)]
    for row in (3, 30, 60, 90):
        days[row] = dt.date(1900, 1, 1)
    found = check(pd.DataFrame({"day": pd.to_datetime(days), "x": rng.normal(size=200)}))
    assert found.of("sentinel", "day")[0].rows == (3, 30, 60, 90)
    days[3] = days[30] = days[60] = days[0]
    found = check(pd.DataFrame({"day": pd.to_datetime(days), "x": rng.normal(size=200)}))
    (far,) = found.of("absurd-cell")
    assert (far.rows, far.values) == ((90,), ("1900-01-01",))


def test_infinity_is_said_not_raised(rng):
    X = rng.normal(size=(60, 2))
    X[7, 1] = np.inf
    (found,) = check(X)
    assert (found.kind, found.column, found.rows) == ("absurd-cell", "x1", (7,))


def test_a_text_among_numbers_is_said_with_its_row(rng):
    cells = [f"{value:.2f}" for value in rng.normal(20, 2, 300)]
    cells[9] = "broken"
    (found,) = check(pd.DataFrame({"heat": cells, "b": rng.normal(size=300)}))
    assert (found.kind, found.rows, found.values) == ("unreadable", (9,), ("broken",))
    assert str(found) in map(str, Detector().fit(pd.DataFrame({"heat": cells})).noticed_)


@pytest.mark.parametrize("tail", ["lognormal", "pareto", "counts"])
def test_the_largest_values_of_a_long_tail_are_not_absurd(rng, tail):
    for _ in range(20):
        values = {
            "lognormal": lambda: np.exp(rng.normal(0.0, 2.0, 500)),
            "pareto": lambda: rng.pareto(1.0, 500),
            "counts": lambda: np.floor(rng.pareto(1.2, 500)),
        }[tail]()
        found = check(pd.DataFrame({"x": values, "y": rng.normal(size=500)})).of("absurd-cell")
        # In a tail whose mean is infinite one gap in a hundred is wider than five times.
        assert len(found) <= 1
        for each in found:
            others = values[~np.isin(values, each.values)]
            assert min(each.values) > 5.0 * others.max()


def test_two_absurd_cells_are_said_together_with_what_is_next_to_them(table):
    table.loc[[17, 30], "heat"] = 2000.0, 2005.0
    (found,) = check(table)
    assert (found.rows, found.values) == ((17, 30), (2000.0, 2005.0))
    rest = table["heat"].drop([17, 30]).max()
    assert found.message == (
        f"heat 2000 in row 17 and 2005 in row 30 are far from all others: the next is {rest:.6g}."
    )
    assert "in row 18 and 2005 in row 31 are" in found.one_based().message


def test_three_absurd_cells_are_a_list_of_numbers_that_people_read(table):
    table.loc[[17, 30, 40], "heat"] = 200000.0, 2725410.0, 3000000.0
    (found,) = check(table)
    listed = "heat 200,000 in row 17, 2,725,410 in row 30 and 3,000,000 in row 40 are far from"
    assert found.message.startswith(listed)
    assert str(found).endswith(
        "They are not taken as normal. If they are errors, mend them or leave them empty."
    )

"""Values that stand for missing ones, at the counts and distances that decide it."""

import numpy as np
import pytest

from refold.columns.sentinels import date_sentinels, may_be_sentinel, number_sentinels

AGES = np.arange(18.0, 80.0)


def found(values, extra, times):
    pairs = sorted([*((value, 4) for value in values), (extra, times)])
    return list(number_sentinels(*map(np.array, zip(*pairs, strict=True))))


@pytest.mark.parametrize("value", [9.0, -9.0, 99.0, -99.0, 999.0, 9999.0, 999_999_999.0, -1.0])
def test_numbers_of_nines_and_minus_one_may_stand_for_none(value):
    assert may_be_sentinel(value)


@pytest.mark.parametrize("value", [0.0, 1.0, -2.0, 98.0, 990.0, 1000.0, 9_999_999_999.0])
def test_other_numbers_do_not(value):
    assert not may_be_sentinel(value)


@pytest.mark.parametrize(
    ("values", "extra", "times", "stands"),
    [
        (AGES, 999.0, 3, True),
        (AGES, 999.0, 2, False),  # twice is chance
        (AGES, -999.0, 3, True),
        (AGES, 998.0, 9, False),
        (np.arange(5.0) + 1.0, 999.0, 9, True),
        (np.arange(4.0) + 1.0, 999.0, 9, False),  # a choice among few
        (np.arange(450.0, 700.0), 999.0, 9, True),
        (np.arange(0.0, 500.0), 999.0, 9, True),  # as far as the others are wide
        (np.arange(0.0, 500.0, 0.5), 999.0, 9, True),  # just so far
        (np.arange(0.0, 501.0), 999.0, 9, False),
        (np.arange(0.0, 500.0), -9.0, 9, True),  # below zero, where no other is
        (np.arange(-1.0, 500.0), -9.0, 9, False),
        (AGES, -1.0, 3, True),
        (np.arange(10.0), -1.0, 3, True),
        (np.arange(9.0), -1.0, 3, False),
        (AGES + 0.5, -1.0, 3, False),
        (-AGES, -1.0, 9, False),
    ],
)
def test_a_number_stands_for_none_if_it_repeats_far_from_the_others(values, extra, times, stands):
    assert found(values, extra, times) == ([(extra, times)] if stands else [])


def test_both_ends_may_stand_for_none():
    values = np.concatenate([[-99.0], AGES, [9999.0]])
    counts = np.concatenate([[5], np.full(len(AGES), 2), [7]])
    assert list(number_sentinels(values, counts)) == [(-99.0, 5), (9999.0, 7)]


def dates(day, beside, times, others=6):
    """Days from a moment on, and one that programs write for none."""
    first = np.datetime64(beside).astype("datetime64[s]").astype(float)
    rest = first + 86400.0 * np.arange(others)
    own = np.datetime64(day).astype("datetime64[s]").astype(float)
    pairs = sorted([*((each, 2) for each in rest), (own, times)])
    return list(date_sentinels(*map(np.array, zip(*pairs, strict=True))))


@pytest.mark.parametrize(
    ("day", "beside", "times", "others", "stands"),
    [
        ("1900-01-01", "2020-01-01", 3, 6, True),
        ("1900-01-01", "2020-01-01", 2, 6, False),
        ("1900-01-01", "2020-01-01", 3, 5, True),
        ("1900-01-01", "2020-01-01", 3, 4, False),
        ("1970-01-01", "1971-01-01", 3, 6, False),  # a year after it
        ("1970-01-01", "1971-01-02", 3, 6, False),  # 366 days
        ("1970-01-01", "1971-01-03", 3, 6, True),
        ("2099-12-31", "2098-12-01", 3, 6, True),
        ("2099-12-31", "2099-01-30", 3, 6, False),
        ("9999-12-31", "2020-01-01", 3, 6, True),
        ("1899-12-30", "2020-01-01", 3, 6, True),
        ("1902-01-01", "2020-01-01", 9, 6, False),
    ],
)
def test_a_day_stands_for_none_if_it_repeats_more_than_a_year_away(
    day, beside, times, others, stands
):
    assert dates(day, beside, times, others) == ([(day, times)] if stands else [])

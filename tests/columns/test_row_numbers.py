"""Columns that count the rows, at the shares and sizes that decide it."""

import numpy as np
import pytest

from refold.columns.row_numbers import (
    evenly_spaced,
    is_chronological,
    is_row_number,
    monotonic,
    record_times,
)


def drawn(n, of, seed=0):
    """So many whole numbers of 1, 2, …, both ends among them, in no order."""
    rng = np.random.default_rng(seed)
    inner = rng.choice(np.arange(2, of), n - 2, replace=False)
    return rng.permutation(np.append(inner, [1, of])).astype(float)


def with_jumps(steps, jumps):
    """Halves that go on evenly but for some steps."""
    widths = np.full(steps, 0.5)
    widths[:: max(steps // max(jumps, 1), 1)][:jumps] = 3.7
    assert (widths != 0.5).sum() == jumps
    return np.append(0.25, 0.25 + np.cumsum(widths))


MONTHS = np.cumsum(np.tile([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 4)).astype(float)


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (np.arange(1.0, 9.0), True),  # eight rows that go on like 1, 2, 3
        (np.arange(1.0, 8.0), False),
        (np.arange(9.0)[::-1], False),
        (2.0 * np.arange(19.0), False),
        (2.0 * np.arange(20.0), True),
        (-0.1 * np.arange(20.0), True),
        (with_jumps(100, 10), True),  # a tenth of the steps may differ
        (with_jumps(100, 11), False),
        (MONTHS, True),
        (drawn(100, 110), True),  # without order, a tenth may be left out
        (drawn(100, 111), False),
        (drawn(20, 22), True),
        (drawn(100, 110) - 60.0, True),
        (np.append(drawn(100, 101)[:99], 1.0), False),  # one comes twice
        (drawn(100, 100) + 0.5, False),
        (np.sort(drawn(100, 5000)), True),  # drawn from a table, in its order
        (np.sort(drawn(100, 5000))[::-1], True),
        (np.arange(100.0) ** 2, False),
        (np.append(np.arange(50.0), 1000.0 + np.arange(50.0)), True),  # rows were left out
        (np.append(np.arange(99.0) * 7.0, 1e6), True),
    ],
)
def test_numbers_count_the_rows_if_they_are_even_or_drawn_or_dense(values, counts):
    assert is_row_number(values, named=False) == counts


def test_whole_numbers_that_are_named_so_count_if_they_only_go_up_or_down():
    squares = np.arange(50.0) ** 2
    for values in (squares, squares[::-1]):
        assert is_row_number(values, named=True)
        assert not is_row_number(values + 0.5, named=True)
    assert not is_row_number(np.append(squares, 3.0), named=True)
    for twice in (np.append(squares, squares[-1]), np.append(squares[::-1], 0.0)):
        assert not is_row_number(twice, named=True)


def test_numbers_drawn_from_all_are_told_from_others_nearly_always():
    drawn_at_random = [
        is_row_number(np.sort(drawn(200, 20_000, seed)), named=False) for seed in range(300)
    ]
    assert np.mean(drawn_at_random) > 0.97
    rng = np.random.default_rng(1)
    sums = [np.cumsum(np.ceil(rng.exponential(50.0, 200) ** 2)) for _ in range(100)]
    assert np.mean([is_row_number(each, named=False) for each in sums]) < 0.05


def log(rows, late, by):
    """Moments of a log; some rows come late, by this share of its span."""
    seconds = np.arange(rows, dtype=float) * 10.0
    places = np.linspace(rows // 4, rows - 2, late).astype(int) if late else np.empty(0, int)
    seconds[places] = seconds[places - 1] - by * 10.0 * (rows - 1)
    return seconds


@pytest.mark.parametrize(
    ("seconds", "goes_on"),
    [
        (log(1001, 0, 0.0), True),
        (log(1001, 10, 0.005), True),
        (log(1001, 11, 0.005), False),
        (log(1001, 3, 0.0099), True),
        (log(1001, 3, 0.0101), False),
        (-log(1001, 10, 0.005), True),
        (np.concatenate([np.arange(51.0), np.arange(49.0, 101.0)]), True),  # late by 1 of 100
        (np.arange(20.0), True),
        (np.arange(19.0), False),
        (np.full(50, 3.0), False),
        (np.repeat(np.arange(30.0), 4), True),
    ],
)
def test_moments_are_a_log_if_a_hundredth_comes_late_by_a_hundredth(seconds, goes_on):
    assert is_chronological(seconds) == goes_on


def test_a_column_goes_up_or_down_if_each_step_does(rng):
    up = np.cumsum(rng.random(50))
    X = np.column_stack([up, -up, np.append(up[:-1], up[-2]), rng.permutation(up)])
    assert monotonic(X).tolist() == [True, True, False, False]
    far = np.array([[-1.7e308], [0.0], [1.7e308]])
    assert monotonic(far).tolist() == [True]
    assert evenly_spaced(1e9 + 0.1 * np.arange(30.0))
    assert not evenly_spaced(np.sort(rng.random(300)))


def test_records_are_in_order_or_do_not_become_rarer_and_the_latest_comes_first(rng):
    day = 86400.0
    entered = 1e9 + day * np.arange(200.0)
    left = entered + 30.0 * day
    evenly = 2e9 + rng.permutation(200) * day
    born = 1e9 - day * 3650.0 * rng.exponential(size=200)[::-1] * -1.0
    born[np.isin(np.arange(200), [3])] = np.nan
    dates = {"born": born, "entered": entered, "left": left, "evenly": evenly}
    assert record_times(dates) == ["left", "entered", "evenly"]
    nearly = entered.copy()
    nearly[1:19:2] -= 1.5 * day  # 9 of 199 steps go back
    assert record_times({"nearly": nearly, "evenly": evenly}) == ["nearly", "evenly"]
    assert record_times({"backward": entered[::-1], "evenly": evenly}) == ["backward", "evenly"]
    assert record_times({"one": np.array([5.0, np.nan])}) == []


@pytest.mark.parametrize("begin", [0.0, 1e6, -1e6])
@pytest.mark.parametrize(("nine_tenths", "recorded"), [(79.0, False), (80.0, True), (81.0, True)])
def test_dates_of_records_do_not_become_rarer_in_the_last_fifth_of_the_span(
    begin, nine_tenths, recorded
):
    # Eleven dates in no order; the tenth of them is the one at nine tenths.
    dates = begin + np.array(
        [50.0, 0.0, 40.0, 10.0, 60.0, nine_tenths, 30.0, 100.0, 20.0, 5.0, 1.0]
    )
    assert record_times({"at": dates}) == (["at"] if recorded else [])

"""What is normal of a feature by itself, against the values it was learned from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.columns.summary import Summary
from refold.judgement.normal import Normal, _of_quantiles, _ranges, normal_of, normal_ranges


def summary_of(values, *, box=True):
    summary = Summary.of(np.asarray(values, dtype=float).reshape(len(values), -1), None)
    return summary if box else replace(summary, box=None)


def two_clusters(left, right, gap, rows=1000):
    """Evenly spread values from 0 to 1, and as densely from 1 + gap on."""
    return np.r_[np.linspace(0, 1, left), np.linspace(1 + gap, 2 + gap, right)][:rows]


@pytest.mark.parametrize("box", [True, False])
def test_a_gap_of_a_tenth_of_the_range_divides_it(box):
    wide, narrow = (
        normal_ranges(summary_of(two_clusters(500, 500, gap), box=box))[0] for gap in (0.3, 0.2)
    )
    assert len(narrow) == 1
    (low, end), (start, high) = wide
    assert low == pytest.approx(0.0, abs=0.01)
    assert end == pytest.approx(1.0, abs=0.01)
    assert start == pytest.approx(1.3, abs=0.01)
    assert high == pytest.approx(2.3, abs=0.01)


@pytest.mark.parametrize(("left", "parts"), [(12, 1), (40, 2)])
def test_a_few_rows_beyond_a_gap_are_a_tail(left, parts):
    for values in (two_clusters(left, 1000 - left, 1.0), -two_clusters(left, 1000 - left, 1.0)):
        assert len(normal_ranges(summary_of(values))[0]) == parts


@pytest.mark.parametrize(("rows", "parts"), [(20, 1), (60, 2)])
def test_among_few_rows_a_wide_gap_may_be_chance(rows, parts):
    values = two_clusters(rows // 2, rows // 2, 1.0)
    assert len(normal_ranges(summary_of(values))[0]) == parts


def steps(left, gap, right, times=1):
    """Values one apart, with a gap after some of them; each comes so many times."""
    values = np.arange(float(left + right))
    values[left:] += gap - 1.0
    return np.repeat(values, times)


@pytest.mark.parametrize(
    ("inner", "rows", "parts"),
    [
        (steps(20, 8.0, 20), 10**6, 2),  # eight times the usual step
        (steps(20, 7.9, 20), 10**6, 1),
        (steps(20, 7.0, 20, times=2), 10**6, 1),  # equal values are no step
        (steps(46, 10.0, 46), 10**6, 2),  # a tenth of the range
        (steps(50, 10.85, 50), 10**6, 1),
        (steps(6, 20.0, 50), 10**6, 1),  # six quantiles on either side are a tail
        (steps(7, 20.0, 50), 10**6, 2),
        (steps(50, 20.0, 6), 10**6, 1),
        (steps(50, 20.0, 7), 10**6, 2),
        (steps(50, 22.0, 50), 100, 1),  # 4 ln(rows) / rows of the range
        (steps(50, 22.3, 50), 100, 2),
        (steps(12, 60.0, 88), 50, 1),  # six rows on either side
        (steps(13, 60.0, 87), 50, 2),
    ],
)
def test_from_which_width_and_place_on_a_gap_divides(inner, rows, parts):
    found = _ranges(inner, rows)
    assert len(found) == parts
    assert (found[0][0], found[-1][1]) == (inner[0], inner[-1])
    if parts == 2:
        at = np.diff(inner).argmax()
        assert (found[0][1], found[1][0]) == (inner[at], inner[at + 1])


@pytest.mark.parametrize(
    "inner", [[0.0, 1.0, 1.0], [1.0, 1.0, 2.0], [3.0, 3.0], [-1e308, 0.0, 1e308]]
)
def test_a_range_goes_from_the_first_to_the_last_value(inner):
    assert _ranges(np.array(inner), 100) == ((inner[0], inner[-1]),)


@pytest.mark.parametrize("box", [True, False])
def test_a_value_beside_a_range_makes_no_levels(box):
    normal = Normal(summary_of(np.r_[np.zeros(500), np.linspace(5, 6, 500)], box=box))
    (first, second) = normal.ranges[0]
    assert first == (0.0, 0.0)
    assert second == pytest.approx((5.0, 6.0), abs=0.02)
    assert normal.levels == [None]


def test_a_gap_is_wide_beside_the_other_steps():
    """Values a twentieth of the range apart: one step of three of them is no gap."""
    apart = np.r_[np.arange(10.0), np.arange(12.0, 22.0)]
    assert len(normal_ranges(summary_of(np.repeat(apart, 4) + 0.001 * np.arange(80)))[0]) == 1


@pytest.mark.parametrize(("kinds", "rows", "named"), [(5, 50, 5), (6, 60, 1), (5, 49, 1)])
def test_few_values_of_a_file_that_has_no_box_are_named_one_by_one(kinds, rows, named):
    values = np.resize(np.arange(float(kinds)), rows)
    ranges = normal_ranges(summary_of(values, box=False))[0]
    assert len(ranges) == named
    assert (ranges[0][0], ranges[-1][1]) == (0.0, kinds - 1.0)


@pytest.mark.parametrize("kinds", [5, 6])
def test_up_to_five_levels_are_named_one_by_one(kinds):
    levels = np.arange(float(kinds))
    expected = tuple((v, v) for v in levels) if kinds == 5 else ((0.0, 5.0),)
    assert normal_ranges(summary_of(np.repeat(levels, 20)))[0] == expected


def test_without_a_box_ends_far_from_the_next_quantile_are_cut_off():
    values = np.append(np.linspace(0.0, 1.0, 1000), [50.0, -50.0])
    ((low, high),) = normal_ranges(summary_of(values, box=False))[0]
    assert -0.1 < low < 0.1 < 0.9 < high < 1.1
    for end, high in ((3.0, 3.0), (9.8, 1.0)):  # up to ten times the middle 80 % is a tail
        values = np.append(np.linspace(0.0, 1.0, 1000), end)
        assert normal_ranges(summary_of(values, box=False))[0][-1][1] == pytest.approx(
            high, abs=0.01
        )


@pytest.mark.parametrize("off", [160.0, 160.1])
@pytest.mark.parametrize("end", [0, -1])
def test_an_end_is_cut_off_beyond_ten_times_the_middle_80_percent(end, off):
    quantiles = np.arange(21.0)  # of which the third is 2 and the last but two is 18
    quantiles[end] = 19.0 + off if end else 1.0 - off
    inner = quantiles if off == 160.0 else np.delete(quantiles, end)
    assert _of_quantiles(quantiles, 10**6) == _ranges(inner, 10**6)
    assert (_of_quantiles(quantiles, 10**6)[0][0] == quantiles[0]) == (off == 160.0 or end == -1)


def test_of_a_column_that_hardly_varies_no_end_is_cut_off():
    quantiles = np.array([-5.0, *np.zeros(30), 7.0])
    assert _of_quantiles(quantiles, 100) == ((-5.0, -5.0), (0.0, 0.0), (7.0, 7.0))


@pytest.fixture
def mixed(rng):
    """A column with two ranges, one of levels, one of a single range with two decimals."""
    X = np.column_stack(
        [
            rng.permutation(two_clusters(500, 500, 1.0)),
            np.resize([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 1000),
            np.round(rng.uniform(10.0, 20.0, 1000), 2),
        ]
    )
    return Normal(summary_of(X))


def test_the_nearest_normal_value_is_no_farther_than_any_other(mixed, rng):
    X = np.column_stack(
        [rng.uniform(-2, 6, 200), rng.uniform(-5, 40, 200), rng.uniform(0, 30, 200)]
    )
    X[::17] = np.nan
    nearest = mixed.nearest(X)
    for j, (ranges, levels) in enumerate(zip(mixed.ranges, mixed.levels, strict=True)):
        grid = levels
        if levels is None:
            grid = np.concatenate([np.linspace(low, high, 2000) for low, high in ranges])
        off = np.abs(grid[None] - X[:, [j]]).min(axis=1)
        np.testing.assert_allclose(np.abs(nearest[:, j] - X[:, j]), off, atol=0.01)
    np.testing.assert_array_equal(mixed.inside(X), nearest == X)
    assert np.isnan(nearest[::17]).all()
    assert mixed.levels[1].tolist() == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    assert mixed.levels[0] is None


def test_values_named_one_by_one_are_levels_without_a_box_too():
    values = np.repeat([0.0, 3.0, 7.0], 40)
    assert Normal(summary_of(values, box=False)).levels[0].tolist() == [0.0, 3.0, 7.0]


def test_normal_values_are_shortened_if_that_is_normal_too(mixed):
    assert mixed.decimals == [None, 0, 2]
    X = np.array([[0.123456, 4.0, 15.123456], [1.0, 4.0, mixed.summary.high[2]]])
    short = mixed.short(X)
    np.testing.assert_array_equal(short[0], [0.1235, 4.0, 15.12])
    assert mixed.inside(short).all()


def test_what_is_rounded_beyond_an_end_is_rounded_inwards(rng):
    ages = np.append(rng.uniform(42.0, 85.0, 300), [41.95604, 85.4975609756])
    short = Normal(summary_of(ages)).short(np.array([[41.95604], [85.4975609756], [70.123456]]))
    assert short[:, 0].tolist() == [41.96, 85.49, 70.12]


def test_the_share_of_rows_as_far_out(rng):
    column = rng.normal(size=2000)
    new = np.r_[rng.normal(size=50), -9.0, 9.0]
    far = Normal(summary_of(column)).as_far(new[:, None])[:, 0]
    exact = np.array([min(np.mean(column <= x), np.mean(column >= x)) for x in new])
    np.testing.assert_allclose(far, exact, atol=1 / 256)
    assert far[-2:].tolist() == [0.0, 0.0]


def test_ranges_are_found_once_for_everybody(rng):
    summary = summary_of(rng.normal(size=50))
    assert normal_of(summary) is normal_of(summary)


def test_the_range_of_a_model_that_kept_a_sketch_is_that_of_its_rows(rng):
    x = rng.gamma(3.0, 2.0, 3000).round(2)
    table = pd.DataFrame({"x": x, "kind": rng.choice(["a", "b"], 3000)})
    for method in ("ref", "creased"):
        ((low, high),) = normal_ranges(Detector(method=method).fit(table).summary_)[0]
        assert (low, high) == (x.min(), x.max())
    table.loc[7, "x"] = 9999.0  # far from all others
    ((_, high),) = normal_ranges(Detector(method="ref").fit(table).summary_)[0]
    assert np.quantile(x, 0.99) < high <= x.max()

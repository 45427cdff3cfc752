"""What is learned of each column by itself, against brute force and on real tables."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

from refold.columns.box import Box, weighted_quantiles, zero_as_end
from refold.columns.extremes import MOST_LEVELS, extremes_of, join_extremes
from tests.tables import adbench_normals


def box_of(X, weights=None):
    counts = np.ones(len(X)) if weights is None else weights
    return Box.of(extremes_of(X, counts), X, counts)


def test_the_ends_are_the_extremes_without_cells_far_from_all_others(rng):
    column = rng.normal(size=500)
    wild = np.append(column, [1e3, 1.1e3, -5e4])[:, None]
    box = box_of(wild)
    assert (box.low[0], box.high[0]) == (column.min(), column.max())
    np.testing.assert_array_equal(box.apart[0].values, [-5e4, 1e3, 1.1e3])
    np.testing.assert_array_equal(box.apart[0].rows, [502, 500, 501])
    mirrored = box_of(-wild)
    assert (mirrored.low[0], mirrored.high[0]) == (-box.high[0], -box.low[0])
    np.testing.assert_array_equal(mirrored.apart[0].values, [-1.1e3, -1e3, 5e4])
    np.testing.assert_array_equal(mirrored.apart[0].rows, [501, 500, 502])
    # Four together are no slip of the pen.
    many = box_of(np.append(column, [1000.0, 1001.0, 1002.0, 1003.0])[:, None])
    assert many.high[0] == 1003.0
    assert len(many.apart[0].values) == 0


def test_a_value_that_many_rows_have_is_no_slip_of_the_pen(rng):
    column = rng.normal(size=500)
    assert box_of(np.append(column, [1e3] * 4)[:, None]).high[0] == 1e3
    assert box_of(np.append(column, [1e3] * 3)[:, None]).high[0] == column.max()
    assert box_of(np.append(column, [1e3] * 4 + [1e7])[:, None]).high[0] == 1e3


@pytest.mark.parametrize("shift", [-100.0, 100.0])
def test_what_is_cut_off_beyond_a_tail_is_so_below_zero_as_above(shift, rng):
    column = shift + rng.normal(size=500)
    assert box_of(np.append(column, shift + 20.0)[:, None]).high[0] == column.max()
    assert box_of(np.append(column, shift - 20.0)[:, None]).low[0] == column.min()
    # The same gap is none of a column with a long tail.
    long = shift + np.append(rng.uniform(size=400), rng.exponential(2.0, size=100))
    assert box_of(np.append(long, long.max() + 3.0)[:, None]).high[0] == long.max() + 3.0


def test_a_gap_is_measured_by_the_middle_of_the_column(rng):
    column = rng.uniform(size=100)  # too few for a tail
    middle = np.quantile(column, 0.9, method="inverted_cdf") - np.quantile(
        column, 0.1, method="inverted_cdf"
    )
    for gap, cut in ((9.9, False), (10.2, True)):
        box = box_of(np.append(column, column.max() + gap * middle)[:, None])
        assert bool(len(box.apart[0].values)) == cut


@pytest.mark.parametrize("unit", [1.0, -1.0, 1e-9])
def test_an_age_of_455_years_is_cut_off_by_the_columns_own_tail(rng, unit):
    ages = np.append(np.clip(rng.normal(52.0, 20.0, 3000), 1.0, 94.0).round(), 455.0)
    box = box_of(unit * ages[:, None])
    assert box.apart[0].values.tolist() == [unit * 455.0]
    assert box_of(unit * ages[:-1, None]).apart[0].values.tolist() == []


@pytest.mark.parametrize("draw", ["exponential", "pareto", "lognormal", "standard_t"])
def test_long_tails_are_not_cut_off_by_themselves(rng, draw):
    parameter = {"exponential": 1.0, "pareto": 2.0, "lognormal": 0.0, "standard_t": 4.0}[draw]
    tables = getattr(rng, draw)(parameter, size=(1000, 200))
    by_tail = 0
    for part in np.split(tables, 4, axis=1):
        box = box_of(part)
        gaps = [
            np.abs(apart.values - high).min(initial=np.inf)
            for apart, high in zip(box.apart, box.high, strict=True)
        ]
        by_tail += (np.array(gaps) < 10.0 * box.middle).sum()
    assert by_tail <= 2


def test_excess_is_the_distance_to_the_nearest_value_learned(rng):
    column = np.append(rng.normal(size=300), [200.0])
    box = box_of(column[:, None])
    x = np.array([0.0, column[:300].max() + 2.0, 60.0, 190.0, 200.0, 203.0, -50.0, np.nan])
    nearest = np.array([np.abs(column[:, None] - x[:7]).min(axis=0)])[0]
    nearest[0] = 0.0  # inside, anything will do
    expected = np.append(nearest / box.unit[0], 0.0)
    np.testing.assert_allclose(box.excess(x[:, None])[:, 0], expected)


def test_between_the_levels_of_a_discrete_column_is_outside(rng):
    column = rng.choice([2007.0, 2008.0, 2009.0], size=300)
    box = box_of(column[:, None])
    np.testing.assert_array_equal(box.levels[0], [2007, 2008, 2009])
    assert box.unit[0] == pytest.approx(1 / 12)
    excess = box.excess(np.array([[2008.0], [2008.5], [2012.0], [2008.01]]))[:, 0]
    np.testing.assert_allclose(excess, [0.0, 6.0, 36.0, 0.12])
    column[0] = 2008.5  # seen once: the column is not discrete
    assert box_of(column[:, None]).levels[0] is None


def test_a_constant_column_has_a_thousandth_of_its_value_as_unit():
    box = box_of(np.full((20, 2), [8.0, 0.0]))
    np.testing.assert_allclose(box.unit, [8e-3, 1e-3])
    np.testing.assert_allclose(box.excess(np.array([[8.004, 0.0]])), [[0.5, 0.0]])


def test_a_cut_off_cell_does_not_widen_the_unit(rng):
    column = rng.normal(size=60)
    plain, wild = box_of(column[:, None]), box_of(np.append(column, 1e4)[:, None])
    assert wild.unit[0] == pytest.approx(plain.unit[0], rel=0.05)


SMALL = {
    "wine": lambda: load_wine().data,
    "iris": lambda: load_iris().data,
    "digits": lambda: load_digits().data[:, 18:38],
    **{n: partial(adbench_normals, n) for n in ("45_wine", "21_Lymphography", "39_vertebral")},
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n[0].isdigit() else ()) for n in SMALL]
)
def test_left_out_is_what_leaving_a_row_out_gives(name):
    X = SMALL[name]()[:80].astype(float)
    X[3, 0] = X[:, 0].max() + 100 * np.ptp(X[:, 0])  # an absurd cell
    X[5, 1] = np.nan
    ones = np.ones(len(X))
    edges = extremes_of(X, ones)
    box = Box.of(edges, X, ones)
    closed = box.left_out(X, ones, edges)
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        without = box_of(rest)
        # By the same units and levels; a level may lose its fifth row.
        held = Box(without.low, without.high, without.apart, box.levels, box.unit, box.middle)
        assert_one_of(closed[i], held.excess(X[[i]])[0], box, rest, X[i])


def assert_one_of(closed, brute, box, rest, row):
    """The gap to the nearest other value, unless leaving the row out made the box another one."""
    for j, (got, expected) in enumerate(zip(closed, brute, strict=True)):
        if got != pytest.approx(expected, rel=1e-9, abs=1e-12):
            gap = np.nanmin(np.abs(rest[:, j] - row[j])) / box.unit[j]
            others = np.sign(rest[:, j][~np.isnan(rest[:, j])])
            if (others * np.sign(row[j]) <= 0.0).all():  # the only one beyond zero
                gap += 3.0
            assert got == pytest.approx(gap)
            assert row[j] <= box.low[j] or row[j] >= box.high[j]


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_edges_add_up_over_chunks(chunk, rng):
    X = np.column_stack(
        [
            rng.normal(size=300),
            rng.integers(4, size=300),
            rng.standard_cauchy(size=300),
            np.where(rng.random(300) < 0.3, np.nan, rng.integers(100, size=300)),
        ]
    )
    weights = rng.integers(3, size=300).astype(float)
    whole, parts = extremes_of(X, weights), None
    for begin in range(0, 300, chunk):
        part = slice(begin, begin + chunk)
        numbers = np.arange(begin, min(begin + chunk, 300))
        more = extremes_of(X[part], weights[part], numbers)
        parts = more if parts is None else join_extremes(parts, more)
    for one, other in zip(whole, parts, strict=True):
        for name in ("low", "high", "levels"):
            a, b = getattr(one, name), getattr(other, name)
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_array_equal(a.values, b.values)
                np.testing.assert_array_equal(a.weights, b.weights)
                np.testing.assert_array_equal(a.rows, b.rows)


def test_weights_are_repeated_rows(rng):
    X = np.column_stack([rng.normal(size=80), rng.integers(3, size=80)])
    X[0, 0] = 500.0
    weights = rng.integers(1, 4, size=80).astype(float)
    one, other = box_of(X, weights), box_of(np.repeat(X, weights.astype(int), axis=0))
    for name in ("low", "high", "unit", "middle"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)
    for a, b in zip(one.apart, other.apart, strict=True):
        np.testing.assert_array_equal(a.values, b.values)


def test_the_five_outermost_values_are_found_among_many(rng):
    column = rng.normal(size=50_000)
    column[rng.integers(50_000, size=2000)] = column.min()
    edge = extremes_of(column[:, None], None)[0]
    np.testing.assert_array_equal(edge.low.values, np.unique(column)[:5])
    np.testing.assert_array_equal(edge.high.values, np.unique(column)[-5:])
    assert edge.low.weights[0] == (column == column.min()).sum()
    assert edge.levels is None


def test_as_many_levels_as_allowed_are_kept_and_not_one_more():
    for n, kept in ((MOST_LEVELS, True), (MOST_LEVELS + 1, False)):
        column = np.resize(np.arange(float(n)), 10 * n)
        assert (extremes_of(column[:, None], None)[0].levels is not None) == kept


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).exponential(size=60),
        np.random.default_rng(0).lognormal(sigma=2.0, size=40),
        np.append(np.zeros(50), np.arange(1.0, 11.0)),  # most are zero
        np.random.default_rng(0).normal(50.0, 4.0, size=60),
    ],
)
def test_zero_is_an_end_of_a_column_that_never_crosses_it(column):
    for sign in (1.0, -1.0):
        box = box_of((sign * column)[:, None])
        beyond = box.beyond_zero(sign * np.array([[-1e-9], [0.0], [1e-9], [np.nan]]))
        np.testing.assert_array_equal(beyond[:, 0], [True, False, False, False])


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).normal(2.5, 1.0, size=200).clip(0.01),  # may well go on below zero
        np.random.default_rng(0).exponential(size=15),  # too few
        np.append(np.random.default_rng(0).exponential(size=60), -0.1),
        np.full(60, 3.0),
    ],
)
def test_zero_is_no_end_where_values_may_be_expected_beyond_it(column):
    assert not box_of(column[:, None]).beyond_zero(np.array([[-1.0], [1.0]])).any()


def test_the_only_row_of_another_sign_is_beyond_zero_when_it_is_left_out(rng):
    X = np.append(rng.exponential(size=60), -0.01)[:, None]
    ones, edges = np.ones(61), extremes_of(X, np.ones(61))
    box = Box.of(edges, X, ones)
    assert box.left_out(X, ones, edges)[-1, 0] > 3.0
    assert box.left_out(X, ones, extremes_of(np.vstack([X, [[-0.02]]]), np.ones(62)))[-1, 0] < 1.0


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 20, 30, 41, 70, 90, 110, 300])
def test_quantiles_are_the_smallest_values_with_their_share_below_them(n, rng):
    values, counts = np.arange(float(n)), rng.integers(1, 4, n).astype(float)
    for weights in (np.ones(n), counts):
        up_to = [int(c) for c in np.cumsum(weights)]
        for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(19, 20)):
            (found,) = weighted_quantiles(values, weights, (float(share),))
            assert found == next(k for k, c in enumerate(up_to) if c >= share * up_to[-1])


@pytest.mark.parametrize("shift", [-104.0, 0.0])
def test_a_gap_of_exactly_ten_middles_cuts_off_nothing(shift):
    column = shift + np.arange(41.0)
    middle = box_of(np.append(column, 1e9)[:, None]).middle[0]
    assert middle == 37.0 - 4.0  # the 38th and the 5th of 42 values
    for gap, cut in ((10.0 * middle, 0), (10.0 * middle + 1.0, 1)):
        for sign in (1.0, -1.0):
            box = box_of(sign * np.append(column, column[-1] + gap)[:, None])
            assert len(box.apart[0].values) == cut


@pytest.mark.parametrize(
    ("tail", "value", "cut"),
    [
        ([-99.0] * 10, -99.0 + 20.0, False),
        ([-99.0] * 10, -99.0 + 20.5, True),
        ([-99.0] * 9, -99.0 + 20.5, False),  # too few to know the tail
        ([-99.5] * 5 + [-98.5] * 5, -98.5 + 20.5, True),
        ([-99.5] * 5 + [-98.0] * 5, -98.0 + 20.5, False),  # 16.4 times its mean excess
        ([-95.0] * 10, -95.0 + 39.0, False),
        ([-99.75] * 10, -99.75 + 11.5, False),  # less than three times the middle
        ([-99.75] * 10, -99.75 + 12.5, True),
    ],
)
def test_a_gap_is_too_wide_for_a_tail_beyond_twenty_times_its_mean_excess(tail, value, cut):
    bulk = np.arange(209.0) % 5 - 104.0  # its middle is 4 wide, and -100 the 95 % quantile
    column = np.concatenate([bulk, tail, [value]])
    for sign in (1.0, -1.0):
        box = box_of(sign * column[:, None])
        assert box.middle[0] == 4.0
        assert box.apart[0].values.tolist() == ([sign * value] if cut else [])


def test_up_to_zero_no_pareto_tail_is_known():
    bulk = np.append(np.arange(209.0) % 5 - 4.0, [1.0] * 10)
    assert box_of(np.append(bulk, 21.5)[:, None]).apart[0].values.tolist() == [21.5]


@pytest.mark.parametrize(("value", "cut"), [(46.0, False), (47.0, True)])
def test_above_zero_a_gap_is_compared_with_a_pareto_tail_too(value, cut):
    bulk = np.append(np.arange(209.0) % 7 - 2.0, [5.0] * 10)  # ln(5 / 4) is its mean log excess
    box = box_of(np.append(bulk, value)[:, None])
    assert (len(box.apart[0].values) == 1) == cut == (np.log(value / 5.0) > 10.0 * np.log(5 / 4))


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "exponential"])
def test_the_unit_is_the_standard_deviation_of_values_near_the_median(draw, rng):
    column = getattr(rng, draw)(size=400) + 7.0
    box = box_of(column[:, None])
    inside = column[(column >= box.low[0]) & (column <= box.high[0])]
    low, median, high = np.quantile(column, [0.1, 0.5, 0.9], method="inverted_cdf")
    near = np.clip(inside, median - 5.0 * (high - low), median + 5.0 * (high - low))
    assert box.middle[0] == pytest.approx(high - low)
    assert box.unit[0] == pytest.approx(near.std())
    huge = box_of(column[:, None] / np.abs(column).max() * 1.7e308)
    assert huge.unit[0] / 1.7e308 == pytest.approx(near.std() / np.abs(column).max())
    assert box_of(column[:, None] * 1e-250).unit[0] / 1e-250 == pytest.approx(near.std())


@pytest.mark.parametrize(("others", "middle"), [(9, 0.0), (10, 8.0)])
def test_the_middle_of_a_column_of_nearly_one_value_is_that_of_the_others(others, middle):
    column = np.append(np.zeros(300), np.arange(1.0, others + 1.0))
    assert box_of(column[:, None]).middle[0] == middle


def test_a_value_belongs_to_a_discrete_column_if_it_came_five_times():
    levels = [0.0, 1.0, 3.0]
    often = box_of(np.repeat(levels, [5, 90, 5])[:, None])
    assert often.levels[0].tolist() == levels
    assert often.unit[0] == pytest.approx(1.0 / 12.0)  # of the smallest step
    assert box_of(np.repeat(levels, [4, 90, 5])[:, None]).levels[0] is None
    # What is cut off needs not come often.
    cut = box_of(np.append(np.repeat([0.0, 1.0], 50), 1e3)[:, None])
    assert cut.levels[0].tolist() == [0.0, 1.0]
    assert cut.unit[0] == pytest.approx(1.0 / 12.0)


def test_far_from_the_only_value_is_only_known_if_it_came_twice():
    assert box_of(np.array([[8.0]])).excess(np.array([[1e9]])) < 1e-200
    assert box_of(np.array([[8.0], [8.0]])).unit[0] == pytest.approx(8e-3)
    assert box_of(np.array([[8.0], [np.nan]])).excess(np.array([[1e9]])) < 1e-200


@pytest.mark.parametrize(
    ("column", "end"),
    [
        ([1.0] * 16 + [2.5] * 4, True),
        ([1.0] * 16 + [2.0] * 4, False),  # not farther from zero than twice the median
        ([1.0] * 17 + [2.5] * 3, False),
        ([1.0] * 15 + [2.5] * 4, False),  # too few values
        ([1.0] * 19 + [1.75], True),  # nothing farther than 1.75 times the median
        ([1.0] * 19 + [1.8], False),
        ([0.0] + [1.0] * 15 + [2.5] * 4, True),  # zero itself is allowed
        ([-0.5] + [1.0] * 15 + [2.5] * 4, False),
        ([0.0] * 20, False),
    ],
)
def test_zero_is_an_end_by_as_many_values_as_a_symmetric_column_would_have_beyond_it(column, end):
    for sign in (1.0, -1.0):
        values = np.sort(sign * np.array(column))
        median = float(np.median(values))
        zero = zero_as_end(values[0], values[-1], values, np.ones(len(values)), median)
        assert zero == ((0.0, np.inf) if sign > 0.0 else (-np.inf, 0.0)) or not end
        assert np.isinf(zero).all() == (not end)


def test_surprises_have_a_least_unit_and_no_zero(rng):
    X = np.column_stack([rng.exponential(size=(60, 2)), 0.01 * rng.exponential(size=60)])
    ones, edges = np.ones(60), extremes_of(X, np.ones(60))
    plain, wide = Box.of(edges, X, ones), Box.of(edges, X, ones, magnitudes=1)
    assert plain.floor.tolist() == [0.0, 0.0, 0.0]
    assert wide.floor.tolist() == [0.0, 0.0, -np.inf]
    assert wide.unit.tolist() == [*plain.unit[:2], 0.25]
    some = plain.of_columns([2, 0])
    other = box_of(X[:, [2, 0]])
    for name in ("low", "high", "unit", "middle", "floor", "ceiling"):
        np.testing.assert_array_equal(getattr(some, name), getattr(other, name))


@pytest.fixture
def gappy(rng):
    """A box with cells cut off on both sides, and one of a discrete column with one of them."""
    wild = np.concatenate([[-900.0, -800.0], rng.normal(size=300), [700.0]])
    return wild, box_of(np.column_stack([wild, np.append(np.resize([1.0, 2.0, 5.0], 302), 99.0)]))


def test_what_is_cut_off_is_as_far_outside_as_without_it(gappy):
    wild, box = gappy
    found = box.beyond_cut(np.column_stack([wild, wild]))[:, 0]
    away = np.maximum(np.maximum(box.low[0] - wild, wild - box.high[0]), 0.0)
    np.testing.assert_allclose(found, away / box.unit[0])
    assert (found > 0.0).sum() == 3


def test_gaps_are_where_nothing_was_learned(gappy):
    _, box = gappy
    for column, known in box.special():
        begins, ends = box.gaps(column, known)
        middles = np.zeros((len(known) - 1, 2))
        middles[:, column] = (known[:-1] + known[1:]) / 2.0
        outside = box.excess(middles)[:, column] > 0.0
        assert begins.tolist() == known[:-1][outside].tolist()
        assert ends.tolist() == known[1:][outside].tolist()
        assert len(begins) == 3


def test_the_nearest_value_in_the_box_is_a_level_of_a_discrete_column(gappy):
    _, box = gappy
    x = np.array([-7.0, 1.4, 1.6, 3.4, 3.6, 50.0, np.nan])
    found = box.nearest(np.column_stack([x, x]))
    np.testing.assert_array_equal(found[:, 1], [1.0, 1.0, 2.0, 2.0, 5.0, 5.0, np.nan])
    np.testing.assert_array_equal(found[:, 0], np.clip(x, box.low[0], box.high[0]))


def test_two_heaps_of_few_rows_each_are_one_box():
    X = np.array([[0.0], [1.0], [1e6], [1e6 + 1.0]])
    for sample in (X, X[:2]):  # to the second a gap is wide that is none to the first
        box = Box.of(extremes_of(X, np.ones(4)), sample, np.ones(len(sample)))
        assert (box.low[0], box.high[0]) == (0.0, 1e6 + 1.0)
        assert len(box.apart[0].values) == 0


def test_a_column_of_which_a_sample_has_nothing_is_known_by_its_smallest_values():
    X = np.array([[3.0], [5.0], [4.0], [np.nan], [np.nan]])
    edges = extremes_of(X, np.ones(5))
    none, one = (Box.of(edges, X[rows], np.ones(2)) for rows in ([3, 4], [2, 3]))
    assert none.unit[0] == pytest.approx(np.std([3.0, 4.0, 5.0]))
    assert one.unit[0] == pytest.approx(4e-3)
    assert (none.low[0], none.high[0]) == (one.low[0], one.high[0]) == (3.0, 5.0)


def test_a_row_with_copies_is_inside_when_one_of_them_is_left_out(rng):
    X = np.append(rng.exponential(size=60), [-0.01, 40.0])[:, None]
    for copies in (1.0, 2.0):
        weights = np.append(np.ones(60), [copies, copies])
        edges = extremes_of(X, weights)
        found = Box.of(edges, X, weights).left_out(X, weights, edges)[:, 0]
        assert ((found > 3.0) == np.append(np.zeros(60), [copies == 1.0] * 2)).all()


def test_of_a_constant_column_all_other_cells_are_cut_off():
    box = box_of(np.append(np.full(50, 7.0), [1e6, -1e6])[:, None])
    assert (box.low[0], box.high[0]) == (7.0, 7.0)
    assert box.apart[0].values.tolist() == [-1e6, 1e6]


def test_columns_far_from_zero_and_from_each_other_are_measured_each_by_itself(rng):
    column = 500.0 + rng.normal(size=100)
    box = box_of(np.column_stack([column, np.append(column[:-1], 900.0), -column]))
    found = box.excess(np.array([[0.0, 900.0, 0.0]]))[0]
    np.testing.assert_allclose(found, [box.low[0] / box.unit[0], 0.0, -box.high[2] / box.unit[2]])

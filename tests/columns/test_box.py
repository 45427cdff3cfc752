"""What is learned of each column by itself, against brute force and on real tables."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

from refold.columns.box import MOST_EXCESS, Box
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


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_age_of_455_years_is_cut_off_by_the_columns_own_tail(rng, sign):
    ages = np.append(np.clip(rng.normal(52.0, 20.0, 3000), 1.0, 94.0).round(), 455.0)
    box = box_of(sign * ages[:, None])
    assert box.apart[0].values.tolist() == [sign * 455.0]
    assert box_of(sign * ages[:-1, None]).apart[0].values.tolist() == []


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
                gap += MOST_EXCESS
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

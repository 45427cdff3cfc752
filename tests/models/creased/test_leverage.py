"""Sums of features, and rows on their way in: parts against the whole."""

import pickle

import numpy as np
import pytest

from refold import CreasedREF
from refold.base.errors import TableError
from refold.models.creased import row_sample
from refold.models.creased.known import KnownRows, have_twins
from refold.models.creased.leverage import Sums, _at_least_rounding
from refold.models.creased.row_sample import Sample, check_rows, counted, first


@pytest.fixture
def creases(table):
    return CreasedREF(n_creases=10, n_levels=2, box=0.0).fit(table).creases_


def products_of(sums):
    lower = np.tril(sums.products())
    return lower + np.tril(lower, -1).T


@pytest.mark.parametrize("cuts", [[], [5], [19], [20], [21], [3, 9, 150], [290]])
@pytest.mark.parametrize("travelled", [False, True])
def test_sums_of_parts_are_those_of_the_whole(cuts, travelled, creases, table, rng):
    from refold.algorithm import kernels

    weights = rng.uniform(0.0, 2.0, len(table))
    phi = kernels.crease_features(creases.map, table, 1)
    sums = Sums.empty(creases.n_outputs)
    for part in np.split(np.arange(len(table)), cuts):
        more = Sums.of(creases, table[part], weights[part])
        assert (more.gram is None) == (len(part) < creases.n_outputs == 20)
        sums = sums.plus(pickle.loads(pickle.dumps(more)) if travelled else more)
    assert sums.gram is not None
    assert len(sums.rows) == len(sums.counts) == 0
    assert sums.weight == pytest.approx(weights.sum())
    np.testing.assert_allclose(sums.total, weights @ phi)
    np.testing.assert_allclose(products_of(sums), (phi.T * weights) @ phi)


def test_rows_are_kept_as_long_as_they_are_fewer_than_the_features(creases, table):
    one, other = (Sums.of(creases, table[part], np.ones(10)) for part in (slice(10), slice(10, 20)))
    less = Sums.of(creases, table[10:19], np.ones(9))
    assert one.plus(less).gram is None
    assert len(one.plus(less).rows) == 19
    assert one.plus(other).gram is not None
    np.testing.assert_allclose(products_of(one.plus(other)), products_of(other.plus(one)))
    np.testing.assert_allclose(products_of(one), one.rows.T @ one.rows)


@pytest.mark.parametrize("n", [0.5, 3.0, 7.25, 60.0])
def test_the_first_rows_are_those_that_weigh_so_much(n, table, rng):
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], 40)
    parts = [(table[:15], weights[:15]), (table[15:40], weights[15:])]
    rows, counts = first(parts, n)
    assert counts.sum() == pytest.approx(min(n, weights.sum()))
    assert (counts > 0.0).all()
    used = np.flatnonzero(weights)[: len(rows)]
    np.testing.assert_array_equal(rows, table[used])
    np.testing.assert_array_equal(counts[:-1], weights[used][:-1])
    assert counts[-1] <= weights[used][-1]


@pytest.mark.parametrize("at_once", [1, 7, 2**14])
def test_rows_that_cannot_be_judged_are_found_by_their_place(at_once, table, monkeypatch):
    monkeypatch.setattr(row_sample, "_AT_ONCE", at_once)
    check_rows(table)
    some = table.copy()
    some[8, :3] = np.nan
    check_rows(some)
    weights = np.linspace(0.1, 2.0, len(table))
    np.testing.assert_array_equal(counted(some, weights), weights)
    some[17] = np.nan
    with pytest.raises(TableError) as empty:
        check_rows(some)
    assert (empty.value.row, empty.value.column) == (17, None)
    expected = np.where(np.arange(len(table)) == 17, 0.0, weights)
    np.testing.assert_array_equal(counted(some, weights), expected)
    np.testing.assert_array_equal(counted(some, None), expected > 0.0)
    assert weights[17] > 0.0  # what was given is not changed
    some[23, 2] = -np.inf
    some[17, 0] = 1.0
    with pytest.raises(TableError) as infinite:
        check_rows(some)
    assert (infinite.value.row, infinite.value.column) == (23, 2)


def test_a_sample_has_the_smallest_numbers_of_rows_that_count(table, monkeypatch):
    monkeypatch.setattr(row_sample, "SIZE", 30)
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 1.0 + np.arange(300) % 2)
    whole = Sample.empty(5, 4).plus_rows(table, weights)
    counts = np.flatnonzero(weights)
    keys = row_sample.draws(5, 0, 300)
    chosen = np.sort(counts[np.argsort(keys[counts])[:30]])
    np.testing.assert_array_equal(whole.rows, table[chosen])
    np.testing.assert_array_equal(whole.weights, weights[chosen])
    np.testing.assert_array_equal(whole.keys, keys[chosen])
    parts = Sample.empty(5, 4)
    for part in np.split(np.arange(300), [10, 55, 200]):
        parts = parts.plus_rows(table[part], weights[part])
    assert parts.seen == whole.seen == 300
    np.testing.assert_array_equal(parts.rows, whole.rows)


@pytest.mark.parametrize(("twins", "known"), [(10, True), (11, False)])
def test_up_to_a_tenth_of_the_rows_may_have_an_equal_one(twins, known, rng):
    z = rng.normal(size=(100, 3))
    z[100 - twins :] = z[100 - twins]
    z[7, 1] = np.nan
    weights, distances = np.ones(100), rng.random(100)
    found = KnownRows.of(z, weights, distances)
    assert len(found.marks) == (100 - twins + 1 if known else 0)
    np.testing.assert_array_equal(have_twins(z, weights), np.arange(100) >= 100 - twins)
    if known:
        there, distance = found.find(z)
        assert there.all()
        expected = np.append(distances[: 100 - twins], [distances[100 - twins :].mean()] * twins)
        np.testing.assert_allclose(distance, expected)
        assert not found.find(z + 1e-3)[0].any()


def test_a_weight_above_one_is_a_twin_and_copies_have_their_mean_distance(rng):
    z = rng.normal(size=(30, 3))
    weights = np.ones(30)
    weights[4] = 2.0
    assert have_twins(z, weights).tolist() == (np.arange(30) == 4).tolist()
    z[5] = z[4]
    found = KnownRows.of(z, weights, np.arange(30.0))
    np.testing.assert_allclose(found.find(z[4:6])[1], (2.0 * 4.0 + 5.0) / 3.0)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_the_ridge_is_at_least_what_rounding_leaves_of_the_sums(size):
    diagonal = size * np.array([0.25, 0.5, 0.125])
    rounding = 3.0 * np.finfo(float).eps * 0.5 * size
    assert _at_least_rounding(0.0, diagonal) == pytest.approx(rounding, rel=1e-12)
    assert _at_least_rounding(2.0 * rounding, diagonal) == 2.0 * rounding

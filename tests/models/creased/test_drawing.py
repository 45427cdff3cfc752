"""What creases are drawn from, each against its definition."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from refold.models.creased import drawing
from refold.models.creased.creases import n_plain
from refold.models.creased.drawing import (
    Expected,
    RankGauss,
    RowSampler,
    dense,
    of_four_kinds,
    sparse,
)


def sampler(Z, weights=None, seed=0):
    weights = np.ones(len(Z)) if weights is None else weights
    return RowSampler(Z, weights, np.random.RandomState(seed))


def knots_of(bends, column):
    part = slice(*bends.starts[column : column + 2])
    return bends.knots[part], bends.heights[part]


@pytest.mark.parametrize("rows", [2, 40, 65, 66, 400])
def test_columns_are_bent_to_normal_quantiles_of_their_mid_ranks(rows, rng):
    Z = np.column_stack([rng.exponential(size=rows), np.resize([0.0, 1.0, 1.0, 3.0], rows)])
    weights = rng.integers(1, 4, rows).astype(float)
    bends = RankGauss.of(Z, weights)
    whole = np.repeat(Z, weights.astype(int), axis=0)
    for column, z in enumerate(whole.T):
        g = norm.ppf((rankdata(z) - 0.5) / len(z))
        values, first = np.unique(z, return_index=True)
        knots, heights = knots_of(bends, column)
        place = np.searchsorted(values, knots)
        np.testing.assert_array_equal(knots, values[place])
        np.testing.assert_allclose(heights, (g[first] / g.std(ddof=1))[place], rtol=1e-12)
        np.testing.assert_allclose(bends.slopes[column], 1.0 / g.std(ddof=1))
        if len(values) <= 65:
            assert len(knots) == len(values)
            continue
        # The first value at or beyond each of 65 heights that are evenly apart.
        every = g[first] / g.std(ddof=1)
        even = np.linspace(every[0], every[-1], 65)
        wanted = {int(np.flatnonzero(every >= h - 1e-12)[0]) for h in even}
        assert set(place.tolist()) == wanted


@pytest.mark.parametrize("ridge", [1e-30, 0.5])
@pytest.mark.parametrize("gaps", [False, True])
def test_what_columns_say_of_each_other_is_the_inverse_of_their_products(ridge, gaps, rng):
    Z = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    weights = rng.uniform(0.2, 3.0, 60)
    if gaps:
        Z[rng.random(Z.shape) < 0.3] = np.nan
        Z[:30, 0], Z[30:, 1] = np.nan, np.nan  # never together
        Z[:, 3], weights[50] = np.where(np.arange(60) == 50, Z[:, 3], np.nan), 0.3
        Z[50] = [1.0, np.nan, -2.0, 1.5]  # the others only in a row that counts for less than one
    products = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(Z[:, i] * Z[:, j])
            if both.any():
                share = weights[both].sum() / weights.sum()
                products[i, j] = (weights * Z[:, i] * Z[:, j])[both].sum() / share
    values, vectors = np.linalg.eigh(products)
    products = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    floor = 4 * np.finfo(float).eps * products.diagonal().max()
    expected = np.linalg.inv(products + max(ridge, floor) * np.eye(4))
    found = Expected.of(Z, weights, ridge).precision
    if gaps and ridge < 1e-9:  # what rounding leaves of a direction that nothing was seen of
        assert np.linalg.cond(found) > 1e6
        assert (np.linalg.eigvalsh((found + found.T) / 2.0) > 0.0).all()
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_of_very_many_columns_nothing_is_said(rng, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_COLUMNS", 3)
    Z = rng.normal(size=(50, 4))
    assert (Expected.of(Z, np.ones(50), 0.1).precision == np.eye(4)).all()
    assert (Expected.of(Z[:, :3], np.ones(50), 0.1).precision != np.eye(3)).any()


def test_rows_are_drawn_by_their_weight_whatever_their_order(rng):
    Z, weights = rng.normal(size=(5, 2)), np.array([1.0, 2.0, 0.5, 4.0, 2.5])
    drawn = sampler(Z, weights).rows(40_000)
    share = (drawn[:, None] == Z[None]).all(axis=2).mean(axis=0)
    np.testing.assert_allclose(share, weights / 10.0, atol=0.01)
    order = rng.permutation(5)
    np.testing.assert_array_equal(sampler(Z[order], weights[order]).rows(40_000), drawn)
    other = sampler(Z, weights)
    np.testing.assert_array_equal(other.among(-Z).rows(100), -drawn[:100])


@pytest.mark.parametrize("draw", [RowSampler.rows, dense, sparse])
def test_a_row_of_weight_two_is_drawn_as_the_row_twice(draw, rng):
    Z, weights = rng.normal(size=(30, 3)), rng.integers(1, 4, 30).astype(float)
    one, other = sampler(Z, weights), sampler(np.repeat(Z, weights.astype(int), axis=0))
    for ours, theirs in zip(draw(one, 50), draw(other, 50), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n", [7, 8])
def test_the_last_half_of_dense_creases_lies_between_different_rows(n, rng):
    Z = np.where(np.arange(60)[:, None] < 40, 0.5, rng.normal(size=(60, 3)))  # 40 are the same
    different = np.unique(Z, axis=0)
    i, k = np.triu_indices(len(different), 1)
    normals = different[i] - different[k]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    middles = (different[i] + different[k]) / 2.0
    for seed in range(20):
        W, c = dense(sampler(Z, seed=seed), n)
        np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1.0)
        between = np.array(
            [
                (np.abs((middles @ w - o)[np.abs(normals @ w) > 1.0 - 1e-12]) < 1e-12).any()
                for w, o in zip(W, c, strict=True)
            ]
        )
        assert between.tolist() == [False] * (n // 2) + [True] * (n - n // 2)
        through = np.abs(Z @ W[: n // 2].T - c[: n // 2]).min(axis=0)
        assert (through < 1e-12).all()


@pytest.mark.parametrize("draw", [dense, sparse])
def test_of_rows_that_are_all_the_same_creases_go_through_them(draw):
    Z = np.full((10, 3), 2.0)
    W, c = draw(sampler(Z), 12)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1.0)
    np.testing.assert_allclose(W @ Z[0], c)


def test_sparse_creases_have_one_to_all_columns_evenly_by_their_logarithm(rng):
    d, n = 7, 30_000
    W, _ = sparse(sampler(rng.normal(size=(200, d))), n)
    used = W != 0.0
    share = np.bincount(used.sum(axis=1), minlength=d + 1)[1:] / n
    sizes = np.arange(1.0, d + 1.0)
    np.testing.assert_allclose(share, np.log((sizes + 1.0) / sizes) / np.log(d + 1.0), atol=0.01)
    np.testing.assert_allclose(used.mean(axis=0), used.mean(), atol=0.01)


@pytest.mark.parametrize("n", range(1, 10))
def test_four_kinds_share_the_creases(n, rng, monkeypatch):
    drawn = []

    def record(kind):
        def draw(drawer, count):
            drawn.append((kind, drawer, count))
            return np.zeros((count, 2)), np.zeros(count)

        return draw

    for kind in ("dense", "sparse"):
        monkeypatch.setattr(drawing, kind, record(kind))
    W, c = of_four_kinds("plain", "bent", n)
    assert (len(W), len(c)) == (n, n)
    half, rest = (n + 1) // 2, n // 2
    assert drawn == [
        ("dense", "plain", (half + 1) // 2),
        ("sparse", "plain", half // 2),
        ("dense", "bent", (rest + 1) // 2),
        ("sparse", "bent", rest // 2),
    ]
    assert n_plain(n) == half

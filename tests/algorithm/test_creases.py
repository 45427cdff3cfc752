"""The loops of the creases do what NumPy does in many steps."""

import numpy as np
import pytest
from scipy.linalg.lapack import dpstrf

from refold.algorithm import kernels


def standardized(X, center, scale, largest):
    with np.errstate(all="ignore"):
        z = (X - center) / scale
        z = np.where(np.isinf(z), (X / 2.0 - center / 2.0) / (scale / 2.0), z)
    return np.clip(z, -largest, largest)


@pytest.mark.parametrize("gaps", [False, True])
def test_standardizing_divides_clips_and_sees_gaps(gaps, rng):
    X = rng.normal(size=(50, 5)) * 10.0 ** rng.integers(-3, 4, size=(50, 5))
    X[3, 2], X[4, 2] = 1.7e308, -1.7e308
    if gaps:
        X[7, 1] = np.nan
    center, scale = rng.normal(size=5), rng.uniform(0.1, 3.0, size=5)
    center[2], scale[2] = -1e308, 1e308
    out = np.empty_like(X)
    assert kernels.standardize(X, center, scale, 1e3, out) == gaps
    np.testing.assert_array_equal(out, standardized(X, center, scale, 1e3))


def some_bends(rng, lengths):
    starts = np.cumsum([0, *lengths])
    knots, heights = (
        np.concatenate([np.empty(0), *(np.sort(rng.normal(size=n)) for n in lengths)])
        for _ in range(2)
    )
    return knots, heights, starts, rng.uniform(0.5, 2.0, size=len(lengths))


def bent(Z, knots, heights, starts, slopes):
    out = np.empty_like(Z)
    for column, z in enumerate(Z.T):
        part = slice(starts[column], starts[column + 1])
        own = knots[part]
        out[:, column] = np.interp(z, own, heights[part])
        out[:, column] += slopes[column] * (z - np.clip(z, own[0], own[-1]))
    return out


def test_bending_is_interpolation_that_goes_on_beyond_the_ends(rng):
    lengths = [2, 3, 65, 1]
    lines = some_bends(rng, lengths)
    Z = rng.normal(size=(300, 4)) * 2.0
    for column, start in enumerate(lines[2][:-1]):  # on the knots themselves
        Z[: lengths[column], column] = lines[0][start : start + lengths[column]]
    np.testing.assert_array_equal(kernels.bent(kernels.bends(*lines), Z), bent(Z, *lines))


def test_neighbouring_doubles_may_be_knots():
    tiny = np.nextafter(0.0, 1.0)
    lines = kernels.bends(
        np.array([0.0, tiny]), np.array([-1e9, 1e9]), np.array([0, 2]), np.ones(1)
    )
    found = kernels.bent(lines, np.array([[0.0], [tiny]]))
    np.testing.assert_array_equal(found[:, 0], [-1e9, 1e9])


def test_gaps_are_filled_with_the_mean_given_the_other_values(rng):
    A = rng.normal(size=(40, 6))
    precision = np.linalg.inv(A.T @ A)
    Z = rng.normal(size=(200, 6))
    Z[rng.random(Z.shape) < 0.3] = np.nan
    Z[7], Z[8] = np.nan, 1.0
    filled = Z.copy()
    kernels.filled(filled, precision)
    for row, found in zip(Z, filled, strict=True):
        m = np.isnan(row)
        np.testing.assert_array_equal(found[~m], row[~m])
        expected = -np.linalg.solve(precision[np.ix_(m, m)], precision[np.ix_(m, ~m)] @ row[~m])
        np.testing.assert_allclose(found[m], expected, rtol=1e-9, atol=1e-12)


class Plain:
    """The arrays of creases, and their features in NumPy."""

    def __init__(self, rng, *, creases=20, levels=2, d=5, constant=1, gauss=True):
        v = d - constant
        self.center, self.scale = rng.normal(size=d), rng.uniform(0.5, 2.0, size=d)
        self.varying = np.arange(d) != (min(2, d - 1) if constant else d)
        self.directions, self.offsets = rng.normal(size=(creases, v)), rng.normal(size=creases)
        self.shifts, self.slopes = rng.uniform(size=(2, levels, creases))
        self.lines = some_bends(rng, rng.integers(1, 9, size=v)) if gauss else None
        A = rng.normal(size=(v + 9, v))
        self.precision = np.linalg.inv(A.T @ A)
        self.constant = constant
        self.p = creases * levels + constant
        self.map = kernels.crease_map(
            self.center,
            self.scale,
            self.varying,
            self.directions,
            self.offsets,
            self.shifts,
            self.slopes,
            self.precision,
            None if self.lines is None else kernels.bends(*self.lines),
            constants=bool(constant),
            largest=1e6,
        )

    def features(self, X):
        z = standardized(X, self.center, self.scale, 1e6)
        Z = np.ascontiguousarray(z[:, self.varying])
        kernels.filled(Z, self.precision)
        changed = np.nansum(np.abs(z[:, ~self.varying]), axis=1) / X.shape[1]
        return self.folded(Z, changed)

    def folded(self, Z, changed):
        plain = len(self.offsets) - (len(self.offsets) // 2 if self.lines else 0)
        y = Z @ self.directions.T
        if self.lines:
            y[:, plain:] = bent(Z, *self.lines) @ self.directions[plain:].T
        y -= self.offsets
        levels = []
        for shift, slope in zip(self.shifts, self.slopes, strict=True):
            y = (np.abs(y) - shift) * slope
            levels.append(y)
        return np.hstack([*levels, changed[:, None][:, : self.constant]])


SHAPES = [
    {"creases": 20},
    {"creases": 1, "levels": 3},
    {"creases": 33, "gauss": False, "constant": 0},
    {"creases": 64, "d": 40},
    {"creases": 0, "d": 1, "gauss": False},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_features_are_bent_projected_and_folded(shape, dtype, rng):
    plain = Plain(rng, **shape)
    X = rng.normal(size=(101, len(plain.center))).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    found = kernels.crease_features(plain.map, X, 1)
    np.testing.assert_allclose(found, plain.features(X.astype(float)), rtol=1e-9, atol=1e-9)
    norms = kernels.crease_norms(plain.map, X, 2)
    np.testing.assert_allclose(norms, np.square(found).sum(axis=1), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [1, 130, 1300])
def test_sums_are_those_of_the_features(shape, rows, rng):
    plain = Plain(rng, **shape)
    X, w = rng.normal(size=(rows, len(plain.center))), rng.uniform(0.0, 3.0, size=rows)
    phi = kernels.crease_features(plain.map, X, 1)
    total, gram = kernels.crease_sums(plain.map, X, w, 1)
    np.testing.assert_allclose(total, w @ phi, rtol=1e-10, atol=1e-10)
    expected = np.tril((phi * w[:, None]).T @ phi)
    np.testing.assert_allclose(gram, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernels.sum_products(phi, w, 2), expected, rtol=1e-9, atol=1e-9)


def positive(rng, p):
    A = rng.normal(size=(p + 20, p))
    return A.T @ A


@pytest.mark.parametrize("p", [0, 1, 15, 16, 17, 100])
def test_factors_and_solutions_are_those_of_numpy(p, rng):
    A, center, B = positive(rng, p), 0.1 * rng.normal(size=p), rng.normal(size=(p, 21))
    L = kernels.Scatter(np.tril(A)).cholesky()
    np.testing.assert_allclose(L, np.linalg.cholesky(A), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(L @ kernels.solve_lower(L, B), B, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(L @ kernels.solve_lower(L, None, 2), np.eye(p), atol=1e-9)
    moved = kernels.Scatter(A, center, weight=3.0, ridge=0.5).cholesky()
    expected = A - 3.0 * np.outer(center, center) + 0.5 * np.eye(p)
    np.testing.assert_allclose(moved @ moved.T, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("p", "count"), [(1, 0), (1, 1), (17, 4), (100, 25), (300, 75), (300, 1)])
def test_pivots_are_those_of_lapack_and_the_last_have_what_the_others_do_not_explain(p, count, rng):
    A, center = positive(rng, p), 0.1 * rng.normal(size=p)
    moved = A - 3.0 * np.outer(center, center) + 0.5 * np.eye(p)
    scatter = kernels.Scatter(np.tril(A), center, weight=3.0, ridge=0.5)
    order, pivots = scatter.pivots(p - count), dpstrf(moved, lower=1)[1] - 1
    np.testing.assert_array_equal(order[: p - count], pivots[: p - count])
    np.testing.assert_array_equal(order[p - count :], np.sort(pivots[p - count :]))
    first = np.ix_(*[order[: p - count]] * 2)
    expected = np.linalg.inv(moved)
    expected[first] -= np.linalg.inv(moved[first])
    rows = scatter.last_rows(order, count, 1)
    np.testing.assert_allclose(rows.T @ rows, expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(scatter.last_rows(order, count, 3), rows)


def test_rows_of_some_features_are_those_of_a_matrix_of_them_alone(rng):
    A, some = positive(rng, 50), rng.permutation(50)[:20]
    rows = kernels.Scatter(np.tril(A)).last_rows(some, 20, 2)
    expected = np.linalg.inv(np.linalg.cholesky(A[np.ix_(some, some)]))
    np.testing.assert_allclose(rows[:, some], expected, atol=1e-9)
    assert (np.delete(rows, some, axis=1) == 0.0).all()


@pytest.mark.parametrize("wrong", [-1.0, 0.0, np.nan, np.inf])
def test_what_is_not_positive_definite_is_refused(wrong, rng):
    A = positive(rng, 20)
    A[18, 18] = wrong
    scatter = kernels.Scatter(A)
    for factor in (
        scatter.cholesky,
        lambda: scatter.pivots(20),
        lambda: scatter.last_rows(np.arange(20), 1, 1),
    ):
        with pytest.raises(ValueError, match="not positive definite"):
            factor()


@pytest.mark.parametrize("features", [[1, 1], [-1], [20]])
def test_features_that_cannot_be_are_refused(features, rng):
    with pytest.raises(ValueError, match="features must be there, once"):
        kernels.Scatter(positive(rng, 20)).last_rows(np.array(features), 1, 1)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 50, 7), (100, 5, 33), (0, 4, 4), (5, 0, 3)])
def test_products_are_those_of_numpy(shape, rng):
    n, k, m = shape
    A, B = rng.normal(size=(n, k)), rng.normal(size=(m, k))
    np.testing.assert_allclose(kernels.product(A, B, 2), A @ B.T, rtol=1e-12, atol=1e-12)


def form_of(plain, rng, *, dual):
    """Return a quadratic form as the loops have it and as a matrix."""
    p, center = plain.p, rng.normal(size=plain.p)
    if not dual:
        L = np.linalg.cholesky(positive(rng, p))
        arguments, matrix = (L, 7.0, 0.3, False), np.linalg.inv(L @ L.T)
    else:
        G = 0.2 * rng.normal(size=(11, p)) / np.sqrt(p)
        arguments, matrix = (G, 7.0, 0.3, True), (np.eye(p) - G.T @ G) / 0.3
    factor, weight, ridge, dual = arguments
    form = kernels.leverage_form(
        plain.map, center, factor, weight=weight, ridge=ridge, dual=dual, n_threads=1
    )
    return form, center, matrix


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dual", [False, True])
def test_leverages_are_a_quadratic_form_of_the_features(shape, dual, rng):
    plain = Plain(rng, **shape)
    form, center, matrix = form_of(plain, rng, dual=dual)
    X = rng.normal(size=(77, len(plain.center)))
    v = plain.features(X) - center
    expected = 1 / 7.0 + np.einsum("ij,jk,ik->i", v, matrix, v)
    found = kernels.leverages(plain.map, form, X, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("groups", [1, 3, 60])  # the last are more than are scored together
def test_variants_are_scores_of_rows_with_values_replaced(dual, groups, rng):
    plain = Plain(rng, d=6)
    form, center, matrix = form_of(plain, rng, dual=dual)
    Z, instead = rng.normal(size=(2, 4, 5))
    owners, changed = rng.integers(-1, groups, size=5), rng.uniform(size=(4, 1 + groups))
    scores, across = kernels.crease_variants(plain.map, form, Z, instead, owners, changed, 2)
    for row in range(4):
        rows = np.repeat(Z[row][None], 1 + groups, axis=0)
        for column, owner in enumerate(owners):
            if owner >= 0:
                rows[1 + owner, column] = instead[row, column]
        v = plain.folded(rows, changed[row]) - center
        form_of_all = 1 / 7.0 + v @ matrix @ v.T
        np.testing.assert_allclose(scores[row], np.diagonal(form_of_all), rtol=1e-8)
        np.testing.assert_allclose(across[row], form_of_all[0], rtol=1e-7, atol=1e-9)


@pytest.mark.threads
@pytest.mark.parametrize("dual", [False, True])
def test_threads_give_the_bits_of_one(dual, rng):
    plain = Plain(rng, creases=50)
    form, _, _ = form_of(plain, rng, dual=dual)
    X, w = rng.normal(size=(3000, 5)), rng.uniform(0.5, 2.0, size=3000)
    Z, instead = rng.normal(size=(2, 30, 4))
    A, L = rng.normal(size=(200, 9)), np.linalg.cholesky(positive(rng, 100))
    directions = rng.normal(size=(50, 5))

    def results(n):
        return (
            kernels.crease_features(plain.map, X, n),
            kernels.crease_norms(plain.map, X, n),
            *kernels.crease_sums(plain.map, X, w, n),
            kernels.leverages(plain.map, form, X, n),
            *kernels.crease_variants(
                plain.map, form, Z, instead, np.arange(4), np.ones((30, 5)), n
            ),
            *kernels.crease_levels(X, directions, np.ones(50), w, 2, least=1e-6, n_threads=n),
            kernels.product(A, A, n),
            kernels.solve_lower(L, None, n),
        )

    for n in (2, 5):
        for many, one in zip(results(n), results(1), strict=True):
            np.testing.assert_array_equal(many, one)


def test_levels_are_means_and_spreads_of_the_folded_values(rng):
    Z, w = rng.normal(size=(300, 4)), rng.uniform(0.5, 2.0, size=300)
    W, c = rng.normal(size=(21, 4)), rng.normal(size=21)
    W[5], c[5] = 0.0, 3.0  # every row is folded to the same
    shifts, spreads = kernels.crease_levels(Z, W, c, w, 3, least=1e-6, n_threads=2)
    y = Z @ W.T - c
    for j in range(3):
        y = np.abs(y)
        mean = np.average(y, axis=0, weights=w)
        np.testing.assert_allclose(shifts[j], mean, rtol=1e-9, atol=1e-12)
        y -= mean
        sd = np.sqrt(w @ np.square(y) / (w.sum() - 1.0))
        sd[5] = 0.0
        np.testing.assert_allclose(spreads[j], sd, rtol=1e-9)
        y = np.divide(y, sd, out=np.zeros_like(y), where=sd > 0)


def test_the_excess_is_the_way_to_the_nearest_known_value():
    known = [[], [0.0, 1.0, 5.0], [2.0, 4.0, 90.0]]
    box = kernels.box_sides(
        np.zeros(3),
        np.full(3, 4.0),
        np.array([1.0, 0.5, 2.0]),
        np.concatenate(known),
        np.cumsum([0, *map(len, known)]),
        np.array([False, True, False]),
    )
    X = np.array(
        [
            [2.0, 0.0, 3.0],
            [-1.0, 0.6, 5.0],
            [6.5, 4.5, 80.0],
            [np.nan, np.nan, 1e308],
            [1e308, -1e308, -2.0],
        ]
    )
    expected = [
        [0.0, 0.0, 0.0],
        [1.0, 0.8, 0.5],
        [2.5, 1.0, 5.0],
        [0.0, 0.0, 5e307],
        [1e308, np.finfo(float).max, 2.0],
    ]
    np.testing.assert_allclose(kernels.box_excess(box, X), expected)


def test_known_rows_are_found_within_the_tolerance(rng):
    z, weights, gaps = rng.normal(size=(50, 3)), rng.normal(size=(3, 4)), rng.normal(size=3)
    z[4, 1] = np.nan
    marks = kernels.row_marks(z, weights, gaps)
    np.testing.assert_allclose(marks, np.where(np.isnan(z), gaps, z) @ weights)
    order = np.argsort(marks[:, 0])
    known = kernels.known_marks(marks[order], np.arange(50.0), weights, gaps, 1e-6)
    found = kernels.find_known(known, np.vstack([z, z + 1e-9, z + 1e-3]))
    np.testing.assert_array_equal(order[found[:50]], np.arange(50))
    np.testing.assert_array_equal(found[50:100], found[:50])
    assert (found[100:] == -1).sum() >= 49  # but for the row whose gap is the same


def test_arrays_that_do_not_fit_together_are_refused(rng):
    Z, out = rng.normal(size=(4, 3)), np.empty((4, 3))
    with pytest.raises(ValueError, match="fit together"):
        kernels.standardize(Z, np.zeros(2), np.ones(3), 1.0, out)
    with pytest.raises(ValueError, match="span all values"):
        kernels.bends(np.arange(6.0), np.arange(6.0), np.array([0, 2, 4, 5]), np.ones(3))
    with pytest.raises(ValueError, match="needs a knot"):
        kernels.bends(np.arange(6.0), np.arange(6.0), np.array([0, 4, 2, 6]), np.ones(3))
    with pytest.raises(ValueError, match="needs a knot"):
        kernels.bends(np.arange(6.0), np.arange(6.0), np.array([0, 2**62, 2, 6]), np.ones(3))
    with pytest.raises(ValueError, match="fit together"):
        kernels.filled(Z, np.eye(2))
    with pytest.raises(ValueError, match="differ in width"):
        kernels.crease_features(Plain(rng).map, Z, 1)
    form, _, _ = form_of(Plain(rng, creases=50), rng, dual=False)
    with pytest.raises(ValueError, match="other creases"):
        kernels.leverages(Plain(rng).map, form, rng.normal(size=(2, 5)), 1)


@pytest.mark.parametrize(("value", "said"), [(np.inf, "infinity"), (np.nan, "observed")])
def test_rows_that_cannot_be_scored_are_named(value, said, rng):
    plain = Plain(rng)
    form, _, _ = form_of(plain, rng, dual=False)
    X = rng.normal(size=(300, 5))
    X[137] = X[260] = value
    with pytest.raises(ValueError, match=f"137.*{said}|{said}.*137"):
        kernels.leverages(plain.map, form, X, 3)

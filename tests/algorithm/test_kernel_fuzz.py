"""Random tables and random nonsense at every entry of the kernels: right, or refused in words.

A few thousand cases in a few seconds; ``make asan`` runs more of them, with sanitizers that see
what an answer does not show.
"""

import os

import numpy as np
import pytest

from refold.algorithm import kernels
from refold.algorithm.engines import reference
from refold.algorithm.engines.sketch import Histogram
from refold.algorithm.kernels import _kernels
from tests.algorithm.test_creases import Plain, form_of

CASES = int(os.environ.get("REFOLD_FUZZ_CASES", "300"))
DTYPES = ("f8", "f4", ">f8", ">f4", "f2", "g", "i4", "?")


def misaligned(array):
    """The same array at an odd address."""
    memory = np.empty(array.nbytes + 1, dtype=np.uint8)
    copy = memory[1:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def laid_out(rng, X):
    """The same table, somewhere else in memory."""
    kind = rng.integers(8)
    if kind == 0:
        return np.asfortranarray(X)
    if kind == 1:
        return np.repeat(X, 3, axis=0)[::3]
    if kind == 2:
        return np.repeat(X, 2, axis=1)[:, ::2]
    if kind == 3:
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if kind == 4:
        return misaligned(X)
    if kind == 5:
        rows = np.zeros(len(X), dtype=[("flag", "i1"), ("row", X.dtype, (X.shape[1],))])
        rows["row"] = X
        return rows["row"]
    if kind == 6:
        return np.pad(X, 2)[2:-2, 2:-2]
    return X


def a_table(rng, *, rows=None):
    """A small table of any type and layout, and the numbers it holds."""
    shape = int(rng.integers(2, 130)) if rows is None else rows, int(rng.integers(1, 12))
    scale = 10.0 ** rng.integers(-3, 4)
    X = rng.normal(size=shape) * scale if rng.random() < 0.6 else rng.integers(5, size=shape) * 1.0
    if rng.random() < 0.1:
        X = np.broadcast_to(X[:1], shape)  # a stride of zero
    X = X.astype(rng.choice(DTYPES))
    if X.dtype.kind == "f" and rng.random() < 0.4:
        X = X.copy()
        X[rng.random(shape) < 0.1] = np.nan
    X = laid_out(rng, X)
    return X, X.astype(np.float64)


def some_weights(rng, n):
    if rng.random() < 0.5:
        return None
    w = rng.integers(4, size=n).astype(float) if rng.random() < 0.5 else rng.uniform(0.5, 2, size=n)
    return [w, misaligned(w), np.repeat(w, 2)[::2], w[::-1].copy()[::-1], w.astype(">f8")][
        rng.integers(5)
    ]


def threads(rng):
    return int(rng.integers(1, 5))


@pytest.mark.parametrize("seed", range(4))
def test_any_table_is_learned_and_scored_as_by_the_reference(seed):
    rng = np.random.default_rng(seed)
    for _ in range(CASES):
        X, numbers = a_table(rng)
        w, fold = some_weights(rng, len(X)), str(rng.choice(kernels.FOLDS))
        recipe = {"n_iter": int(rng.integers(1, 7)), "fold": fold, "max_gain": 1e6}
        try:
            expected = reference.learn(numbers, w, **recipe)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:30]):
                kernels.learn(X, w, **recipe, n_threads=threads(rng))
            continue
        learned = kernels.learn(X, w, **recipe, n_threads=threads(rng))
        np.testing.assert_array_equal(learned[2], expected.levels)
        for ours, theirs in zip(learned[:2], (expected.shifts, expected.scales), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7 * np.abs(theirs).max())
        score(rng, expected, X, numbers)


def score(rng, chain, X, numbers):
    full = ~np.isnan(numbers).all(axis=1)
    X, numbers, steps = X[full], numbers[full], chain.compiled
    kind, path = str(rng.choice(kernels.DISTANCES)), bool(rng.random() < 0.5)
    distances = kernels.distances(X, steps, kind, threads(rng), path=path)
    totals, parts = kernels.contributions(X, steps, kind, threads(rng), path=path)
    np.testing.assert_array_equal(totals, distances)  # bit by bit: they come in another pass
    expected = reference.contributions(chain, numbers, kind, path=path)
    for ours, theirs in (
        (distances, reference.distances(chain, numbers, kind, path=path)),
        (totals, expected[0]),
        (parts, expected[1]),
        (kernels.trace(X, steps, kind, threads(rng)), reference.trace(chain, numbers, kind)),
        (kernels.transform(X, steps, threads(rng)), reference.transform(chain, numbers)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_any_table_is_counted_as_by_numpy(seed):
    rng = np.random.default_rng(seed)
    for _ in range(CASES):
        X, numbers = a_table(rng)
        w, n_bins = some_weights(rng, len(X)), int(rng.choice([16, 17, 100, 8192]))
        low, high, missing = kernels.extremes(X, w, threads(rng))
        once = np.ones(len(X)) if w is None else w.astype(float)
        for j, fields in enumerate(kernels.sketch(X, w, n_bins, threads(rng))):
            assert_counted(Histogram(*fields), numbers[:, j], once, n_bins)
            used = numbers[(once > 0.0) & ~np.isnan(numbers[:, j]), j]
            assert low[j] == used.min(initial=np.inf)
            assert high[j] == used.max(initial=-np.inf)
            np.testing.assert_allclose(missing[j], once[np.isnan(numbers[:, j])].sum())


def assert_counted(histogram, column, weights, n_bins):
    seen = ~np.isnan(column) & (weights > 0.0)
    assert histogram.rows == seen.sum()
    assert len(histogram.bins) <= n_bins
    np.testing.assert_allclose(histogram.missing, weights[np.isnan(column)].sum())
    if histogram.rows:
        values, counts = histogram.centroids()
        np.testing.assert_allclose(counts.sum(), weights[seen].sum())
        np.testing.assert_allclose(
            values @ counts,
            column[seen] @ weights[seen],
            rtol=1e-9,
            atol=1e-9 * np.abs(column[seen]).max() * len(column),
        )


@pytest.mark.parametrize("seed", range(4))
def test_parts_with_and_without_weights_are_counted_in_one_tally(seed):
    rng = np.random.default_rng(seed)
    for _ in range(CASES):
        n_bins = int(rng.choice([16, 100, 4096]))
        tally, values, weights = kernels.SketchTally(n_bins), [], []
        for _ in range(rng.integers(1, 6)):
            X, numbers = a_table(rng, rows=int(rng.choice([0, 1, 9, 300, 1500])))
            w = some_weights(rng, len(X))
            tally.add(X[:, 0], w, first=0, column=0)
            values.append(numbers[:, 0])
            weights.append(np.ones(len(X)) if w is None else w.astype(float))
        assert_counted(
            Histogram(*tally.histogram()), np.concatenate(values), np.concatenate(weights), n_bins
        )


@pytest.mark.parametrize("seed", range(4))
def test_any_kernel_matrix_gets_weights_within_the_box(seed):
    rng = np.random.default_rng(seed)
    for _ in range(CASES // 4):
        Z = rng.normal(size=(int(rng.integers(1, 60)), 3))
        K, box = Z @ Z.T, float(rng.uniform(1.1 / len(Z), 1.5))
        single = laid_out(rng, K.astype(np.float32))
        a, G, _, violation = kernels.svdd(single, misaligned(np.diagonal(K)), box, 1e-6, 10**6)
        assert violation < 1e-6
        assert (a >= 0.0).all()
        assert (a <= box * (1 + 1e-12)).all()
        np.testing.assert_allclose(a.sum(), 1.0)
        np.testing.assert_allclose(G, K @ a - np.diagonal(K) / 2, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_any_rows_get_the_bits_that_each_gets_alone(seed):
    rng = np.random.default_rng(seed)
    for _ in range(CASES // 10):
        X, numbers = a_table(rng)
        X = X[~np.isnan(numbers).all(axis=1)]
        plain = Plain(rng, creases=int(rng.integers(1, 50)), d=X.shape[1], constant=X.shape[1] > 1)
        form, _, _ = form_of(plain, rng, dual=bool(rng.random() < 0.5))
        together = kernels.leverages(plain.map, form, X, threads(rng))
        alone = [kernels.leverages(plain.map, form, row[None], 1)[0] for row in X[:9]]
        np.testing.assert_array_equal(together[:9], alone)
        sums = (kernels.crease_sums(plain.map, X, np.ones(len(X)), n) for n in (1, 3))
        for one, other in zip(*sums, strict=True):
            np.testing.assert_array_equal(one, other)


ODD_NUMBERS = (-(2**63), -(2**31), -1, 0, 1, 2, 6, 17, 1025, 2**24 + 1, 2**31 - 1, 2**61, 2**70)
ODD_FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 5e-324, 1.7e308, "1", None)


def odd_array(rng, array):
    """An array much like another, but not what was asked for."""
    kind = rng.integers(12)
    if kind == 0:
        return misaligned(array)
    if kind == 1:
        return array[:0]
    if kind == 2:
        return array[..., :0]
    if kind == 3:
        return np.concatenate([array, array])
    if kind == 4:
        return array[:-1]
    if kind == 5:
        return array[..., ::-1]
    if kind == 6:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(["f4", ">f8", "f2", "c16", "O", "i8", "M8[s]"]))
    if kind == 7:
        return array[None]
    if kind == 8:
        frozen = array.copy()
        frozen.flags.writeable = False
        return frozen
    if kind == 9:
        return np.broadcast_to(array[:1], array.shape)
    if kind == 10:
        return array.tolist()
    return np.asarray(rng.choice(ODD_NUMBERS[:8], size=array.shape)).astype(array.dtype)


def spoiled(rng, argument):
    """An argument in the place of which something else comes."""
    if rng.random() < 0.1:
        return rng.choice([None, "x", {}, 1.5], size=1)[0]
    if isinstance(argument, np.ndarray):
        return odd_array(rng, argument)
    if isinstance(argument, list):
        return [odd_array(rng, argument[0]), *argument[1:]] if rng.random() < 0.8 else argument[1:]
    if isinstance(argument, bool | type(None)):
        return argument
    if isinstance(argument, int):
        return ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    return ODD_FLOATS[rng.integers(len(ODD_FLOATS))]


def entries(rng):
    """Every entry of the module with arguments that are right."""
    n, d, J = int(rng.integers(1, 100)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    X, w = rng.normal(size=(n, d)), rng.uniform(0.5, 2.0, size=n)
    chain = np.zeros((J, d)), np.ones((J, d)), np.zeros(d, dtype=np.int64), np.ones(d)
    recipe = 0, J, 1e6, 2
    steps = (0, *rng.normal(size=(2, d)), *rng.normal(size=(2, d, J)), np.full(d, J))
    K = (X @ X.T).astype(np.float32)
    tally = _kernels.Tally(16)
    right = _kernels.Steps(*steps)
    return [
        (_kernels.learn, (X, w, *recipe, *chain)),
        (_kernels.learn_each, ([X[:, 0].copy()] * d, [w] * d, *recipe, *chain)),
        (_kernels.Steps, steps),
        (lambda X, n_threads, out, *s: _kernels.transform(X, _kernels.Steps(*s), n_threads, out),
         (X, 2, np.empty((n, d)), *steps)),
        (_kernels.distances, (X, right, 1, True, 2, np.empty(n))),
        (_kernels.trace, (X, right, 0, 2, np.empty((n, J)))),
        (_kernels.transform, (X, right, 2, np.empty((n, d)))),
        (_kernels.contributions, (X, right, 1, True, 2, np.empty(n), np.empty((n, d)))),
        (_kernels.sketch, (X, w, 16, 2)),
        (_kernels.extremes, (X, w, 2, np.empty(d), np.empty(d), np.empty(d))),
        (_kernels.order, (w, np.empty(n, dtype=np.int64))),
        (_kernels.quantiles, (X, np.arange(n), 2, np.empty((9, d)))),
        (_kernels.edge, (w, w, np.arange(n), 2, 3)),
        (_kernels.Tally, (16,)),
        (tally.add, (w, w, 0, 0)),
        (_kernels.least_exponent, (-1.0, 2.0, 16)),
        (_kernels.svdd, (K, np.diagonal(K).astype(float), 0.9, 1e-3, 10**4, w.copy(), w.copy())),
        *crease_entries(rng, X, w),
    ]  # fmt: skip


def crease_entries(rng, X, w):
    """The entries of the creases and of dense matrices."""
    (n, d), c, j = X.shape, int(rng.integers(1, 40)), int(rng.integers(1, 4))
    v, p = d, c * j + 1
    knots = np.sort(rng.normal(size=3 * v)), np.sort(rng.normal(size=3 * v))
    bends = (*knots, np.arange(v + 1) * 3, np.ones(v))
    arrays = (
        np.zeros(d), np.ones(d), np.arange(v), rng.normal(size=(c, v)), rng.normal(size=c),
        *rng.uniform(size=(2, j, c)), np.eye(v), _kernels.Bends(*bends), True, 1e6,
    )  # fmt: skip
    creases = _kernels.CreaseMap(*arrays)
    center, r = rng.normal(size=p), int(rng.integers(1, 20))
    none, m = (np.empty(0, dtype=np.int64), np.empty((0, 0))), p // 2
    primal = creases, center, np.eye(p), 3.0, 0.1, False, 2, *none
    dual = creases, center, rng.normal(size=(r, p)), 3.0, 0.1, True, 2, *none
    few = rng.permutation(p)[:m], rng.normal(size=(m, m))
    some = creases, center, rng.normal(size=(min(r, p), p)), 3.0, 0.1, False, 2, *few
    form = _kernels.LeverageForm(*(primal, dual, some)[rng.integers(3)])
    sides = (
        np.zeros(d), np.ones(d), np.ones(d), np.sort(rng.normal(size=2 * d)),
        np.arange(d + 1) * 2, np.arange(d) % 2,
    )  # fmt: skip
    box = _kernels.BoxSides(*sides)
    marks = np.sort(rng.normal(size=(9, 4)), axis=0), np.ones(9), np.ones((d, 4)), np.ones(d), 1e-6
    known, out = _kernels.KnownMarks(*marks), np.empty((n, d))
    groups = int(rng.integers(0, 60))
    scores = np.empty((2, n, 1 + groups))
    owners = rng.integers(-1, groups, size=v)
    gram, L = np.empty((p, p)), np.eye(n) + np.tril(np.ones((n, n)))
    return [
        (_kernels.Bends, bends),
        (_kernels.CreaseMap, arrays),
        (_kernels.LeverageForm, primal),
        (_kernels.LeverageForm, dual),
        (_kernels.LeverageForm, some),
        (_kernels.BoxSides, sides),
        (_kernels.KnownMarks, marks),
        (_kernels.standardized, (X, np.zeros(d), np.ones(d), 1e6, out)),
        (_kernels.filled, (X.copy(), np.eye(d))),
        (_kernels.bent, (_kernels.Bends(*bends), X, out)),
        (_kernels.box_excess, (box, X, out)),
        (_kernels.row_marks, (X, np.ones((d, 4)), np.ones(d), np.empty((n, 4)))),
        (_kernels.find_known, (known, X, np.empty(n, dtype=np.int64))),
        (_kernels.crease_levels,
         (X, rng.normal(size=(c, v)), np.zeros(c), w, 1e-6, 2, *np.empty((2, j, c)))),
        (_kernels.crease_features, (creases, X, 2, np.empty((n, p)))),
        (_kernels.crease_norms, (creases, X, 2, np.empty(n))),
        (_kernels.crease_sums, (creases, X, w, 2, np.empty(p), gram)),
        (_kernels.sum_products, (rng.normal(size=(n, p)), w, 2, np.empty(p), gram)),
        (_kernels.leverages, (creases, form, X, 2, np.empty(n))),
        (_kernels.crease_distances,
         (creases, form, box, known, 1.0, 1.0, 10.0, 3.0, X, 2, np.empty(n))),
        (_kernels.crease_variants,
         (creases, form, X, X[::-1].copy(), owners, np.zeros((n, 1 + groups)), 2, *scores)),
        (_kernels.product, (X, X[: n // 2 + 1].copy(), 2, np.empty((n, n // 2 + 1)))),
        (_kernels.cholesky, (np.eye(n), w, 0.1, 1e9, np.empty((n, n)))),
        (_kernels.pivots, (np.eye(n), w, 0.1, 1e9, n // 2, np.empty(n, dtype=np.int64))),
        (_kernels.last_rows,
         (np.eye(n), w, 0.1, 1e9, np.arange(n)[n // 2 :].copy(), 2, np.empty((n - n // 2, n)))),
        (_kernels.solve_lower, (L, X, 2, out)),
    ]  # fmt: skip


REFUSALS = (ValueError, TypeError, OverflowError, MemoryError)


@pytest.mark.parametrize("seed", range(4))
def test_nonsense_is_refused_and_never_crashes(seed):
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(CASES // 3):
        for entry, arguments in entries(rng):
            spoilt, at = list(arguments), rng.integers(len(arguments))
            spoilt[at] = spoiled(rng, spoilt[at])
            try:
                entry(*spoilt)
            except REFUSALS:
                refused += 1
    assert refused > CASES  # the most part of what is tried is wrong


TABLE, WEIGHTS = np.ones((5, 2)), np.ones(5)
CHAIN = np.zeros((3, 2)), np.ones((3, 2)), np.zeros(2, dtype=np.int64), np.ones(2)
RECIPE = 0, 3, 1e6, 1
STEPS = 0, np.zeros(2), np.ones(2), np.zeros((2, 3)), np.ones((2, 3)), np.full(2, 3)
KERNEL = np.eye(5, dtype=np.float32)


@pytest.mark.parametrize("n_threads", [0, -1, 1025])
def test_a_number_of_threads_that_cannot_be_is_refused(n_threads):
    steps = _kernels.Steps(*STEPS)
    for call in (
        lambda: _kernels.learn(TABLE, None, 0, 3, 1e6, n_threads, *CHAIN),
        lambda: _kernels.learn_each([WEIGHTS] * 2, [WEIGHTS] * 2, 0, 3, 1e6, n_threads, *CHAIN),
        lambda: _kernels.distances(TABLE, steps, 0, False, n_threads, np.empty(5)),
        lambda: _kernels.trace(TABLE, steps, 0, n_threads, np.empty((5, 3))),
        lambda: _kernels.transform(TABLE, steps, n_threads, np.empty((5, 2))),
        lambda: _kernels.contributions(
            TABLE, steps, 0, False, n_threads, np.empty(5), np.empty((5, 2))
        ),
        lambda: _kernels.sketch(TABLE, None, 16, n_threads),
        lambda: _kernels.extremes(TABLE, None, n_threads, *np.empty((3, 2))),
        lambda: _kernels.quantiles(TABLE, np.arange(5), n_threads, np.empty((3, 2))),
        lambda: _kernels.product(TABLE, TABLE, n_threads, np.empty((5, 5))),
        lambda: _kernels.solve_lower(np.eye(5), TABLE, n_threads, np.empty((5, 2))),
        lambda: _kernels.sum_products(TABLE, WEIGHTS, n_threads, np.empty(2), np.empty((2, 2))),
    ):
        with pytest.raises(ValueError, match="n_threads must lie between 1 and 1024"):
            call()


@pytest.mark.parametrize("n_bins", [-1, 0, 1, 2**24 + 1, 2**61])
def test_a_number_of_bins_that_cannot_be_is_refused(n_bins):
    for call in (
        lambda: kernels.sketch(TABLE, None, n_bins, 1),
        lambda: kernels.SketchTally(n_bins),
    ):
        with pytest.raises(ValueError, match="n_bins must lie between 16 and 16777216"):
            call()
    if n_bins < 2:
        with pytest.raises(ValueError, match="n_bins must lie between 2"):
            kernels.least_exponent(-1.0, 1.0, n_bins)


def test_a_table_without_columns_is_refused():
    nothing = np.empty((5, 0))
    for call in (
        lambda: kernels.learn(nothing, None, "abs", 3, 1e6, 1),
        lambda: kernels.sketch(nothing, None, 16, 1),
        lambda: kernels.extremes(nothing, None, 1),
        lambda: kernels.quantiles(nothing, np.arange(5), 3, 1),
    ):
        with pytest.raises(ValueError, match="at least one column"):
            call()
    with pytest.raises(ValueError, match="every column"):
        kernels.learn_each([], "abs", 3, 1e6, 1)


@pytest.mark.parametrize(
    ("entry", "arguments", "message"),
    [
        (kernels.learn, (TABLE, None, "abs", 0, 1e6, 1), "n_iter must lie between 1"),
        (kernels.learn, (TABLE, None, "abs", 3, np.nan, 1), "max_gain"),
        (kernels.learn, (TABLE, None, "cube", 3, 1e6, 1), "'cube' is none of abs, sqr"),
        (kernels.learn, (TABLE, WEIGHTS[1:], "abs", 3, 1e6, 1), "a weight for each row"),
        (_kernels.learn, (TABLE, None, 6, 3, 1e6, 1, *CHAIN), "fold must lie between 0 and 5"),
        (_kernels.learn, (TABLE, None, 0, 2, 1e6, 1, *CHAIN), "wrong shape"),
        (_kernels.learn, (misaligned(TABLE), None, *RECIPE, *CHAIN), "not aligned"),
        (_kernels.learn, (TABLE, misaligned(WEIGHTS), *RECIPE, *CHAIN), "not aligned"),
        (kernels.learn_each, ([(WEIGHTS, -WEIGHTS)], "abs", 3, 1e6, 1), "weights above zero"),
        (kernels.learn_each, ([(WEIGHTS * np.nan, WEIGHTS)], "abs", 3, 1e6, 1), "finite"),
        (_kernels.Steps, (6, *STEPS[1:]), "fold must lie between 0 and 5"),
        (_kernels.Steps, (0, np.zeros(3), *STEPS[2:]), "do not fit together"),
        (_kernels.Steps, (*STEPS[:3], np.empty((2, 0)), np.empty((2, 0)), STEPS[5]), "n_iter"),
        (kernels.least_exponent, (1.0, -1.0, 16), "range"),
        (kernels.least_exponent, (0.0, np.inf, 16), "range"),
        (kernels.svdd, (KERNEL[1:], WEIGHTS, 1.0, 1e-3, 9), "do not fit together"),
        (kernels.svdd, (KERNEL, WEIGHTS, 1.0, 1e-3, -1), "max_steps must not be negative"),
        (kernels.svdd, (KERNEL, WEIGHTS, np.nan, 1e-3, 9), "box"),
        (kernels.svdd, (KERNEL[:0, :0], WEIGHTS[:0], 1.0, 1e-3, 9), "do not fit together"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_named(entry, arguments, message):
    with pytest.raises(ValueError, match=message):
        entry(*arguments)


@pytest.mark.parametrize("levels", [0, 4, -(2**40)])
def test_levels_outside_the_chain_are_refused_when_they_are_used(levels):
    used = np.full(2, 3)
    steps = _kernels.Steps(*STEPS[:5], used)
    used[1] = levels
    with pytest.raises(ValueError, match="levels must lie between 1 and 3"):
        _kernels.transform(TABLE, steps, 1, np.empty((5, 2)))


def test_an_unknown_distance_and_another_width_are_refused():
    steps = _kernels.Steps(*STEPS)
    with pytest.raises(ValueError, match="distance must lie between 0 and 1"):
        _kernels.distances(TABLE, steps, 2, False, 1, np.empty(5))
    with pytest.raises(ValueError, match="differ in width"):
        _kernels.transform(np.ones((5, 3)), steps, 1, np.empty((5, 3)))

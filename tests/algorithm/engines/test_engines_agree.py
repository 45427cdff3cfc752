"""The compiled engine and the reference, written apart, are each other's oracle."""

import numpy as np
import pytest

from refold.algorithm.engines import exact, reference
from refold.algorithm.kernels import LARGEST, MOST_WEIGHT
from refold.base.errors import TableError
from tests.conftest import FOLDS

RNG = np.random.default_rng(5)
# Columns that are handled apart somewhere: constants of any size, hardly any spread, gaps, ends.
COLUMNS = {
    "normal": RNG.normal(size=60),
    "few values": RNG.integers(3, size=60) * 1.0,
    "far from zero": 1e9 + RNG.normal(size=60),
    "a spread at the limit of what is corrected": 10.0 + RNG.normal(size=60) * 1e-4,
    "huge": RNG.normal(size=60) * 1e307,
    "tiny": RNG.normal(size=60) * 1e-307,
    "zero": np.zeros(60),
    "seven": np.full(60, 7.0),
    "minus a third": np.full(60, -1.0 / 3.0),
    "a constant that is hardly there": np.full(60, 1e-299),
    "a smaller constant": np.full(60, -3e-308),
    "the largest constant": np.full(60, 1.7e308),
    "gaps": np.where(np.arange(60) % 3 == 0, np.nan, RNG.normal(size=60)),
    "two rows": np.append([1.0, 2.5], np.full(58, np.nan)),
    "one far row": np.append(RNG.normal(size=59), 1e6),
}
X = np.column_stack(list(COLUMNS.values()))
WEIGHTS = {
    "none": None,
    "whole": RNG.integers(1, 4, size=60) * 1.0,
    "shares": 0.3 + RNG.random(60),
    "some nothing": np.where(np.arange(60) % 4 == 3, 0.0, 2.5),
}


def learned(engine, fold, weights, rows=X, max_gain=1e6):
    return engine.learn(rows, weights, n_iter=6, fold=fold, max_gain=max_gain)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("fold", FOLDS)
def test_both_learn_the_same_chain_of_columns_of_any_kind(fold, weights):
    one, other = (learned(engine, fold, WEIGHTS[weights]) for engine in (reference, exact))
    np.testing.assert_array_equal(one.levels, other.levels)
    assert one.shifts.shape == (one.n_iter, one.n_features) == (6, len(COLUMNS))
    near = np.abs(one.shifts - other.shifts) <= 1e-9 * np.abs(other.shifts)
    near[0] |= np.abs(one.shifts[0] - other.shifts[0]) <= 1e-9 * other.scales[0]
    near[1:] |= np.abs(one.shifts[1:] - other.shifts[1:]) <= 1e-9
    assert near.all(), np.argwhere(~near)
    np.testing.assert_allclose(one.scales, other.scales, rtol=1e-7, atol=0.0)
    np.testing.assert_allclose(one.gain, other.gain, rtol=1e-5)


@pytest.mark.parametrize("max_gain", [1.0, 3.0, 100.0])
def test_both_stop_folding_at_the_same_gain(max_gain):
    chains = [learned(engine, "abs", None, max_gain=max_gain) for engine in (reference, exact)]
    np.testing.assert_array_equal(*(chain.levels for chain in chains))
    for chain in chains:
        assert (chain.gain <= max_gain).all()


@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("kind", ["l1", "l2"])
@pytest.mark.parametrize("fold", FOLDS)
def test_both_say_the_same_of_rows(fold, kind, path):
    chain = learned(exact, fold, None)
    center = chain.shifts[0]
    gap = np.where(np.arange(X.shape[1]) % 2, center, np.nan)
    rows = np.vstack([X[:20], 0.4 * X[20:30], center, gap])
    one, other = (
        engine.contributions(chain, rows, kind, path=path) for engine in (reference, exact)
    )
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    for engine in (reference, exact):
        distances, parts = engine.contributions(chain, rows, kind, path=path)
        np.testing.assert_allclose(parts.sum(axis=1), distances, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(engine.distances(chain, rows, kind, path=path), distances)
    np.testing.assert_allclose(
        reference.trace(chain, rows, kind), exact.trace(chain, rows, kind), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(
        reference.transform(chain, rows), exact.transform(chain, rows), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(
    ("column", "weights"),
    [
        ([np.nan, np.nan, np.nan], None),
        ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
        ([1.0, 2.0, np.nan], [0.5, 0.5, 9.0]),  # a weight of 1 has no spread
        ([1.0, 2.0, np.nan], [0.5, 0.25, 9.0]),
        ([1.0, 2.0, 2.0], [6e299, 6e299, 1.0]),
        ([1.0, np.inf, 2.0], None),
        ([1.0, 2.0, -np.inf], None),
    ],
)
def test_both_refuse_the_same_columns_in_the_same_words(column, weights):
    rows = np.column_stack([[3.0, 1.0, 2.0], column])
    weights = None if weights is None else np.array(weights)
    said = []
    for engine in (reference, exact):
        with pytest.raises(TableError) as error:
            learned(engine, "abs", weights, rows)
        said.append((str(error.value), error.value.row, error.value.column))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("column", "weights"),
    [
        ([2.0, 2.0, np.nan], [0.5, 0.25, 9.0]),  # a constant needs no spread
        ([2.0, 2.0, 2.0], [6e299, 6e299, 1.0]),
        ([1.0, 2.0, np.nan], [0.5, 0.75, 9.0]),
        ([1.0, 2.0, 2.0], [4e299, 4e299, 1.0]),
        ([1.0, 2.0, np.nan], [MOST_WEIGHT / 2.0, MOST_WEIGHT / 2.0, 1.0]),
        ([1.0, 1.0, 2.0], [1e10, 1e10, 1e-300]),  # hardly anything is not 1
    ],
)
def test_both_learn_from_as_little_and_as_much_weight_as_they_can(column, weights):
    chains = [
        learned(engine, "abs", np.array(weights), np.array(column)[:, None])
        for engine in (reference, exact)
    ]
    np.testing.assert_allclose(*(chain.scales for chain in chains), rtol=1e-7)
    assert (chains[0].scales >= 1.0 / LARGEST).all()


@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324, 0.0])
@pytest.mark.parametrize("fold", FOLDS)
def test_a_row_that_counts_for_nothing_changes_nothing(fold, value):
    counted = np.arange(60) % 4 != 3
    rows = np.where(counted[:, None], X, value)
    for engine in (reference, exact):
        one = learned(engine, fold, counted * 2.5, rows)
        other = learned(engine, fold, np.full(45, 2.5), X[counted])
        for name in ("shifts", "scales", "levels", "gain"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9)


def test_both_refuse_a_row_without_any_value_by_its_number():
    chain, rows = learned(exact, "abs", None), np.vstack([X[:1], np.full((2, X.shape[1]), np.nan)])
    for engine in (reference, exact):
        for place, part in ((1, rows), (0, rows[1:])):
            for kind in ("l1", lambda y: np.abs(y).sum(axis=1)):
                with pytest.raises(TableError) as error:
                    engine.distances(chain, part, kind, path=False)
                assert (error.value.row, error.value.column) == (place, None)

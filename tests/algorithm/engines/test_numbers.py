"""Numbers at the ends of what doubles can hold: no NaN, no infinity, whatever the order."""

from fractions import Fraction

import numpy as np
import pytest

from refold import REF
from tests.conftest import FOLDS

ENGINES = ("exact", "reference", "sketch")
PARAMETERS = [{"engine": engine} for engine in ENGINES] + [
    {"engine": "reference", "max_gain": None}
]


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("offset", [1e5, 1e8, -1e12])
def test_the_order_of_rows_changes_no_label_of_discrete_columns_far_from_zero(
    engine, fold, offset, rng
):
    step = 1e-3 * abs(offset) / 1e8
    X = offset + rng.integers(3, size=(700, 3)) * step
    model = REF(engine=engine, fold=fold).fit(X)
    for _ in range(5):
        again = REF(engine=engine, fold=fold).fit(rng.permutation(X))
        np.testing.assert_array_equal(again.chain_.shifts[0], model.chain_.shifts[0])
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_far_from_zero_is_the_nearest_double(engine, weighted, rng):
    X = 1e8 + rng.integers(1000, size=(3000, 1)) * 1e-3
    weights = rng.integers(1, 5, size=3000).astype(float) if weighted else None
    counts = [1] * 3000 if weights is None else weights.astype(int).tolist()
    exactly = sum(Fraction(x) * n for x, n in zip(X[:, 0].tolist(), counts, strict=True))
    mean = float(exactly / sum(counts))
    shift = REF(engine=engine).fit(X, sample_weight=weights).chain_.shifts[0, 0]
    assert abs(shift - mean) <= np.spacing(mean)


def assert_finite(model, rows):
    chain = model.chain_
    for numbers in (chain.shifts, chain.scales, chain.gain, model.threshold_):
        assert np.isfinite(numbers).all()
    assert (chain.scales > 0.0).all()
    for method in ("score_samples", "contributions", "transform", "trace"):
        assert np.isfinite(getattr(model, method)(rows)).all(), method


NEW = [[0.0], [1.0], [-1.79e308], [1.79e308], [1e-300], [-5e-324]]


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize(
    ("column", "weights"),
    [
        ([-1.7e308, 1.7e308], None),
        ([-1.7e308, 1.7e308, 1.7e308, 0.3], None),
        ([-5e-324, 5e-324], None),
        ([0.0] * 50 + [5e-324], None),
        ([0.0, 1.0, 2.0], [10.0, 10.0, 5e-324]),
        ([0.0, 0.0, 2.0], [10.0, 10.0, 5e-324]),
        ([0.0, 1.0, 1e80], [10.0, 10.0, 1e-300]),
        ([7.0, np.nan, np.nan], [0.4, 10.0, 10.0]),
        ([0.0, 1.0, 2.0], [1e299, 1e299, 3e299]),
    ],
)
def test_no_values_and_no_weights_give_nan_or_infinity(column, weights, parameters, fold):
    model = REF(fold=fold, **parameters).fit(np.array(column)[:, None], sample_weight=weights)
    assert_finite(model, NEW)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_spread_wider_than_any_double_still_gives_training_rows_ordinary_distances(engine):
    X = np.array([[-1.7e308], [1.7e308]])
    model = REF(engine=engine).fit(X)
    assert (-model.score_samples(X) < 1.0).all()
    assert -model.score_samples([[0.0]])[0] < 1e-9


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("weights", [[1e308] * 3, [1e301, 1.0, 1.0]])
def test_weights_that_cannot_be_added_up_are_refused_in_words(weights, parameters):
    with pytest.raises(ValueError, match=r"sums to (inf|1e\+301).*squares overflow.*rescale"):
        REF(**parameters).fit([[0.0], [1.0], [2.0]], sample_weight=weights)


def test_parts_that_together_weigh_too_much_are_refused_in_words():
    model = REF(engine="sketch")
    for _ in range(2):
        model.partial_fit([[0.0], [1.0], [2.0]], sample_weight=[4e299, 1.0, 1.0])
    assert_finite(model, NEW)  # together they are just light enough
    model.partial_fit([[0.0], [1.0], [2.0]], sample_weight=[4e299, 1.0, 1.0])
    with pytest.raises(ValueError, match="squares overflow"):
        model.predict(NEW)

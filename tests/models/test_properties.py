"""What holds for every table: properties that hypothesis tries to break."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refold import REF
from tests.conftest import FOLDS

KINDS = ("normal", "uniform", "exponential", "bimodal", "integers", "two values", "few values")


def column(rng, kind, n):
    match kind:
        case "normal":
            return rng.normal(size=n)
        case "uniform":
            return rng.uniform(size=n)
        case "exponential":
            return rng.exponential(size=n)
        case "bimodal":
            return rng.normal(size=n) + 8 * rng.integers(2, size=n)
        case "integers":
            return rng.poisson(4.0, size=n).astype(float)
        case "two values":
            return rng.integers(2, size=n).astype(float)
        case _:
            return rng.choice([0.1, 0.25, 0.7, 3.0], size=n)


@st.composite
def tables(draw, gaps=False, min_rows=5):
    """Training rows and new rows, some of them far out, of columns of any kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    n = draw(st.integers(min_rows, 120))
    train = np.column_stack([column(rng, kind, n) for kind in kinds])
    new = np.column_stack([column(rng, kind, 60) for kind in kinds])
    new[40:] *= rng.normal(scale=5.0, size=(20, 1))
    if gaps and len(kinds) > 1:
        for table in (train, new):
            rows = rng.integers(len(table), size=len(table) // 3)
            table[rows, rng.integers(1, len(kinds), size=len(rows))] = np.nan
        assume(np.isfinite(train).any(axis=0).all())
    # A constant 0 has no scale of its own; its 1e-3 is the one absolute scale there is.
    assume((np.nanmax(np.abs(train), axis=0) > 0).all())
    return train, new


models = st.builds(
    REF,
    fold=st.sampled_from(FOLDS),
    distance=st.sampled_from(["l1", "l2"]),
    levels=st.sampled_from(["last", "all"]),
)
abs_models = st.builds(
    REF, distance=st.sampled_from(["l1", "l2"]), levels=st.sampled_from(["last", "all"])
)


def assert_same_labels(a, b, margin, threshold=1.0):
    """Labels agree for distances that are farther than `margin` from the threshold."""
    clear = np.abs(a - threshold) > margin
    np.testing.assert_array_equal((a <= threshold)[clear], (b <= threshold)[clear])


@given(tables(gaps=True), models)
def test_a_row_does_not_depend_on_its_batch(data, model):
    train, new = data
    model.fit(train)
    for method in ("score_samples", "contributions", "transform", "trace", "predict"):
        together = getattr(model, method)(new)
        alone = np.concatenate([getattr(model, method)(new[i : i + 1]) for i in range(0, 60, 7)])
        np.testing.assert_array_equal(alone, together[::7], err_msg=method)


@given(tables(gaps=True), models)
def test_contributions_are_not_negative_and_add_up_to_the_distance(data, model):
    train, new = data
    model.fit(train)
    parts, distance = model.contributions(new), -model.score_samples(new)
    assert (parts >= 0).all()
    assert (parts[np.isnan(new)] == 0).all()
    np.testing.assert_allclose(parts.sum(axis=1), distance, rtol=1e-12, atol=1e-12)


@given(tables(gaps=True), models)
def test_trace_ends_in_the_distance_and_averages_to_the_path_score(data, model):
    train, new = data
    trace = model.fit(train).trace(new)
    expected = trace[:, -1] if model.levels == "last" else trace.mean(axis=1)
    np.testing.assert_allclose(-model.score_samples(new), expected, rtol=1e-12, atol=1e-12)


@given(tables(gaps=True), models)
def test_a_missing_value_is_the_same_as_a_model_without_that_feature(data, model):
    train, new = data
    assume(train.shape[1] > 1)
    whole, part = model.fit(train), REF(**model.get_params()).fit(train[:, :-1])
    new[:, -1] = np.nan
    new = new[~np.isnan(new).all(axis=1)]
    np.testing.assert_array_equal(whole.score_samples(new), part.score_samples(new[:, :-1]))


@given(tables(), models)
def test_columns_may_come_in_any_order(data, model):
    train, new = data
    distance = -model.fit(train).score_samples(new)
    turned = -model.fit(train[:, ::-1]).score_samples(new[:, ::-1])
    np.testing.assert_allclose(turned, distance, rtol=1e-12)


@given(tables(gaps=True), models, st.integers(-200, 200))
def test_a_power_of_two_as_unit_changes_no_bit(data, model, exponent):
    train, new = data
    scores = model.fit(train).score_samples(new)
    unit = 2.0**exponent
    np.testing.assert_array_equal(model.fit(train * unit).score_samples(new * unit), scores)


@given(tables(), abs_models, st.floats(-6, 6), st.sampled_from([0.0, 1.0, -1e4]))
def test_units_and_origin_change_no_label(data, model, power, shift):
    train, new = data
    distance = -model.fit(train).score_samples(new)
    factor, origin = 10.0**power, shift * train.std(axis=0)
    moved = -model.fit((train + origin) * factor).score_samples((new + origin) * factor)
    assert_same_labels(distance, moved, margin=1e-3)


@given(tables(), models, st.randoms(use_true_random=False))
def test_row_order_changes_no_label(data, model, random):
    train, new = data
    distance = -model.fit(train).score_samples(new)
    order = list(range(len(train)))
    random.shuffle(order)
    shuffled = -model.fit(train[order]).score_samples(new)
    assert_same_labels(distance, shuffled, margin=1e-6)


@given(tables(gaps=True), models, st.data())
def test_integer_weights_are_repeated_rows(data, model, draw):
    train, new = data
    n = len(train)
    weights = np.array(draw.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    weighted = -model.fit(train, sample_weight=weights).score_samples(new)
    repeated = -model.fit(np.repeat(train, weights, axis=0)).score_samples(new)
    assert_same_labels(weighted, repeated, margin=1e-6)
    if model.fold == "abs":  # the others square or bend the far-out rows' rounding errors too
        np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-7)


@given(tables(gaps=True), models, st.sampled_from(["exact", "reference"]))
def test_zero_weight_is_absence(data, model, engine):
    train, new = data
    model.set_params(engine=engine)
    ghosts = np.vstack([train, np.full((3, train.shape[1]), 1e200)])
    weights = np.r_[np.ones(len(train)), np.zeros(3)]
    present = -model.fit(train, sample_weight=np.ones(len(train))).score_samples(new)
    with_ghosts = -model.fit(ghosts, sample_weight=weights).score_samples(new)
    np.testing.assert_allclose(with_ghosts, present, rtol=1e-7, atol=1e-7)


@given(tables(gaps=True), models)
def test_compiled_and_reference_engine_give_the_same_labels(data, model):
    train, new = data
    exact = -model.set_params(engine="exact").fit(train).score_samples(new)
    levels = model.chain_.levels
    reference = -model.set_params(engine="reference").fit(train).score_samples(new)
    np.testing.assert_array_equal(model.chain_.levels, levels)
    assert_same_labels(exact, reference, margin=1e-6)


@given(tables(min_rows=20), st.floats(0.0, 1e6), st.booleans())
def test_beyond_the_last_crease_the_magnitude_grows_with_slope_one_over_s(data, further, right):
    train, _ = data
    model = REF().fit(train)
    m, s = model.chain_.unscaled()
    start = m[1:].sum(axis=0)
    away = start * (1 + 1e-9) + further * s[-1]
    sign = 1.0 if right else -1.0
    folded = np.abs(model.transform(np.vstack([m[0] + sign * (away + k * s[-1]) for k in (0, 1)])))
    assume(np.isfinite(start).all())
    np.testing.assert_allclose(folded[0], (away - start) / s[-1], rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(folded[1] - folded[0], 1.0, rtol=1e-4)


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("levels", ["last", "all"])
def test_the_number_of_threads_changes_no_bit(fold, distance, levels, rng):
    train = rng.normal(size=(3000, 7))
    train[rng.integers(3000, size=200), rng.integers(7, size=200)] = np.nan
    weights = rng.integers(1, 4, size=3000)
    results = []
    for n_jobs in (1, 2, 5):
        model = REF(fold=fold, distance=distance, levels=levels, n_jobs=n_jobs)
        model.fit(train, sample_weight=weights)
        chain = model.chain_
        results.append(
            [chain.shifts, chain.scales, chain.levels, chain.gain]
            + [getattr(model, f)(train) for f in ("score_samples", "contributions", "transform")]
        )
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)

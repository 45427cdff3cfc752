"""What is for the sketch alone is refused of models that have none."""

import array_api_strict as xp
import numpy as np
import pytest
from sklearn.base import clone

import refold
from refold import REF, CreasedREF


def test_only_sketches_are_merged(rng):
    sketch, exact = (
        REF(engine=engine).fit(rng.normal(size=(50, 2))) for engine in ("sketch", "exact")
    )
    with pytest.raises(ValueError, match="Model 1 was learned by engine='exact'; only models of"):
        refold.merge(sketch, exact)


def test_a_model_without_a_sketch_has_no_such_attribute(rng):
    model = REF(engine="exact").fit(rng.normal(size=(50, 2)))
    assert not hasattr(model, "sketch_")
    with pytest.raises(AttributeError, match="Only a REF learned by engine='sketch'"):
        _ = model.sketch_
    assert np.isfinite(model.score_samples([[0.0, 0.0]])).all()


@pytest.mark.parametrize("model", [REF(engine="sketch"), CreasedREF(n_creases=8, n_init=20)])
def test_arrays_of_other_libraries_are_learned_in_parts_as_numbers(model, rng):
    X = rng.normal(size=(50, 2))
    own = clone(model).partial_fit(X[:30]).partial_fit(X[30:])
    other = clone(model).partial_fit(xp.asarray(X[:30])).partial_fit(xp.asarray(X[30:]))
    for rows in (X + 0.1, xp.asarray(X + 0.1)):
        np.testing.assert_array_equal(other.score_samples(rows), own.score_samples(X + 0.1))
    if isinstance(model, REF):
        own.forget(X[:5])
        other.forget(xp.asarray(X[:5]))
        np.testing.assert_array_equal(other.score_samples(X), own.score_samples(X))
    own.accept(X[:1] + 9.0)
    other.accept(xp.asarray(X[:1] + 9.0))
    np.testing.assert_array_equal(other.score_samples(X), own.score_samples(X))


@pytest.mark.parametrize("single", [False, True])
def test_few_rows_calibrate_a_sketch_as_they_do_all_rows(single, rng):
    X = rng.normal(size=(60, 3))
    if single:
        X[1:, 2] = np.nan  # one row has the only value
    models = [REF(engine=engine, alpha=0.1).fit(X) for engine in ("sketch", "exact")]
    scores = [model.calibration_.scores for model in models]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)


@pytest.mark.parametrize("engine", ["reference", "exact", "sketch"])
def test_the_reference_alone_answers_in_arrays_of_other_libraries(engine, rng):
    X = rng.normal(size=(50, 2))
    own, other = (REF(engine=engine, n_iter=5).fit(rows) for rows in (X, xp.asarray(X)))
    answer = other.score_samples(xp.asarray(X))
    assert isinstance(answer, np.ndarray) == (engine != "reference")
    np.testing.assert_allclose(np.from_dlpack(answer), own.score_samples(X), rtol=1e-9)

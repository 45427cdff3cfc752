"""A CreasedREF that went through a file is the same model, whatever it has learned so far."""

import json

import numpy as np
import pandas as pd
import pytest

import refold
from refold import CreasedREF, ModelFileError
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.files import KINDS
from tests.modelfile.conftest import NAMES, put, sealed, unpacked

MAKES = (
    "fit",
    "few rows",
    "stream",
    "waiting",
    "waiting, as many creases as rows let",
    "calibrated",
    "merged",
    "weights",
    "table",
    "box",
    "no box",
)
MANY = "quarters: "  # of a model that scores as those of many rows


@pytest.fixture
def X(rng):
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:3] = 0.5
    return np.column_stack([X[:, :2], np.full(400, 7.0), X[:, 2]])


def fitted(make, X):
    model = CreasedREF(n_creases=16, n_jobs=1, n_init=100)
    match make:
        case "fit":
            return model.fit(X)
        case "box" | "no box":
            return model.set_params(box=0.5 if make == "box" else 0.0).fit(X)
        case "few rows":
            return model.fit(X[:25])
        case "stream":
            return model.partial_fit(X[:200]).partial_fit(X[200:])
        case "waiting":
            return model.partial_fit(X[:40]).partial_fit(X[40:70])
        case "waiting, as many creases as rows let":
            return model.set_params(n_creases="auto").partial_fit(X[:70])
        case "calibrated":
            return model.fit(X[:200]).calibrate(X[200:], alpha=0.05)
        case "merged":
            return refold.merge(model.fit(X[:200]), model.empty_like().partial_fit(X[200:]))
        case "weights":
            return model.fit(X, sample_weight=np.linspace(0.0, 2.0, len(X)))
        case "table":
            return model.partial_fit(pd.DataFrame(np.asfortranarray(X), columns=[*NAMES, "d"]))


def through_file(model):
    return from_bytes(to_bytes(model, KINDS, "0"), KINDS)


def assert_same_answers(a, b, rows):
    for method in ("predict", "score_samples", "decision_function", "p_values"):
        ours, theirs = getattr(a, method)(rows), getattr(b, method)(rows)
        np.testing.assert_array_equal(ours, theirs, err_msg=method)
    for part in ("expected", "drop"):
        ours, theirs = (getattr(one._reasons(rows), part) for one in (a, b))
        np.testing.assert_array_equal(ours, theirs, err_msg=part)
    np.testing.assert_array_equal(a.summary_.quantiles, b.summary_.quantiles)
    assert (a.threshold_, a.alpha_, a.get_params()) == (b.threshold_, b.alpha_, b.get_params())


@pytest.mark.parametrize("make", [*MAKES, *(MANY + make for make in ("fit", "stream", "merged"))])
def test_a_model_comes_back_with_every_bit_and_goes_on(make, X, request):
    if make.startswith(MANY):
        request.getfixturevalue("few_are_many")
    model = fitted(make.removeprefix(MANY), X)
    assert (model.scoring_.leverage.quarters is not None) == make.startswith(MANY)
    loaded = through_file(model)
    named = hasattr(model, "feature_names_in_")
    rows = pd.DataFrame(X * 1.3, columns=model.feature_names_in_) if named else X * 1.3
    assert_same_answers(model, loaded, rows)
    for one in (model, loaded):
        one.partial_fit(rows[:60])
    assert_same_answers(model, loaded, rows)
    ours = refold.merge(model, loaded.empty_like().partial_fit(rows[60:]))
    theirs = refold.merge(loaded, model.empty_like().partial_fit(rows[60:]))
    assert_same_answers(ours, theirs, rows)


@pytest.mark.filterwarnings("ignore::refold.RateWarning")
def test_a_model_of_constants_comes_back():
    model = fitted("box", np.ones((120, 2)))
    assert_same_answers(model, through_file(model), np.array([[1.0, 1.0], [1.0, 2.0]]))


def test_what_would_take_long_is_not_computed_when_a_file_is_read(rng):
    rows = rng.normal(size=(4200, 2))
    for n_creases, computed in ((4, True), (512, False)):
        model = CreasedREF(n_creases=n_creases, n_init=5000, n_jobs=1).partial_fit(rows)
        assert ("scoring" in vars(through_file(model)._learned)) == computed


def test_creases_without_rows_travel_to_another_site(X):
    here = fitted("fit", X[:200])
    there = through_file(here.empty_like()).partial_fit(X[200:])
    assert_same_answers(
        refold.merge(here, there),
        refold.merge(here, here.empty_like().partial_fit(X[200:])),
        X,
    )


def test_learning_more_gives_up_a_rate_that_was_set(X):
    model = fitted("calibrated", X)
    assert model.alpha_ == 0.05
    assert model.partial_fit(X).alpha_ == 0.01


WRONG = {
    "threshold": [-1.0, None],
    "alpha": [0.0, 1.0, "0.1"],
    "recipe.n_creases": [0, 2**40, 1.5],
    "recipe.seed": [-1, 2**40],
    "creases.center": [None, "1", [0.0, 0.0, 0.0, 0.0], np.zeros(3), np.zeros((4, 1))],
    "creases.center[1]": [np.nan, np.inf],
    "creases.scale[1]": [0.0, -1.0],
    "creases.constant[0]": [-1, 4],
    "creases.directions[2]": [[1.0, 1.0, 1.0]],
    "creases.spreads[1][3]": [-1.0],
    "creases.precision": [np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])],
    "creases.gauss.knots[3]": [-1e300],
    "creases.gauss.slopes[0]": [0.0],
    "sums": [None],
    "sums.weight": [-1.0],
    "sums.total": [np.ones(1)],
    "sums.rows": [np.ones((1, 33))],
    "sums.products": [np.ones(1)],
    "waiting": [[]],
    "sample": [None],
    "sample.keys[0]": [1.0, -0.5],
    "sample.weights[0]": [0.0],
    "sample.rows[0]": [[np.nan, np.nan, np.nan, np.nan]],
    "sample.rows[0][1]": [np.inf],
    "sample.rows": [np.zeros((400, 3))],
    "edges": [None],
    "edges.low.lengths[0]": [6, -1],
    "edges.low.values[1]": [-1e300],
    "edges.low.weights[1]": [0.0],
    "edges.has_levels": [[True]],
    "judge.unit": [0.0, -1.0, None],
    "judge.ridge": [0.0],
    "judge.left_out": [np.ones(3)],
    "judge.calibration.scores[0]": [-1.0],
}


@pytest.mark.parametrize(("path", "value"), [(p, v) for p, vs in WRONG.items() for v in vs])
def test_a_wrong_value_is_named(path, value, X):
    document = unpacked(json.loads(to_bytes(fitted("fit", X), KINDS, "0")))
    put(document, path, value)
    with pytest.raises(ModelFileError) as caught:
        from_bytes(sealed(document), KINDS)
    assert caught.value.where.startswith(path)


def test_sums_that_cannot_be_factored_are_refused(X):
    document = unpacked(json.loads(to_bytes(fitted("fit", X), KINDS, "0")))
    document["sums"]["products"][0] = -1e9
    with pytest.raises(ModelFileError, match=r"judge: cannot be made of the sums"):
        from_bytes(sealed(document), KINDS)


def test_sums_without_products_need_the_rows_of_their_weight(X):
    document = unpacked(json.loads(to_bytes(fitted("fit", X), KINDS, "0")))
    document["sums"]["products"] = None
    with pytest.raises(ModelFileError, match=r"sums.counts: add up to 0.0"):
        from_bytes(sealed(document), KINDS)


def test_features_of_kept_rows_are_made_again(X):
    few = fitted("few rows", X)
    document = unpacked(json.loads(to_bytes(few, KINDS, "0")))
    assert (document["sums"]["rows"], document["sums"]["products"]) == (None, None)
    assert len(document["sums"]["counts"]) == 25
    loaded = through_file(few)._learned.state.sums
    np.testing.assert_array_equal(loaded.rows, few._learned.state.sums.rows)


def test_features_of_rows_that_are_not_kept_are_written(X):
    """A row that counts for nothing is summed, but not drawn into the sample."""
    counts = np.ones(25)
    counts[3] = 0.0
    model = CreasedREF(n_creases=16, n_jobs=1).fit(X[:25], sample_weight=counts)
    document = unpacked(json.loads(to_bytes(model, KINDS, "0")))
    assert document["sums"]["rows"].shape == (25, 32)
    assert_same_answers(model, through_file(model), X)


def test_rows_from_which_features_cannot_be_made_are_refused(X):
    document = unpacked(json.loads(to_bytes(fitted("few rows", X), KINDS, "0")))
    document["sums"]["counts"] = np.full(5, 5.0)
    with pytest.raises(ModelFileError, match=r"sums.rows: must be there: .* have 5 rows"):
        from_bytes(sealed(document), KINDS)

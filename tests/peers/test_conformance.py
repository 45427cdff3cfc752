"""What every peer must do, whatever its method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from refold.peers import (
    SVDD,
    AutoassociativeKernelELM,
    NaiveParzen,
    NonlinearProjection,
    OneClassELM,
    OneClassKernelELM,
    ReferenceMapping,
    SubspaceSVDD,
)

DETECTORS = [
    SVDD(),
    SVDD(kernel="rbf"),
    SubspaceSVDD(),
    OneClassELM(random_state=0),
    OneClassKernelELM(),
    AutoassociativeKernelELM(),
    NaiveParzen(),
    NaiveParzen(width="ml"),
]
TRANSFORMERS = [NonlinearProjection(), ReferenceMapping(random_state=0)]

each_detector = pytest.mark.parametrize("detector", DETECTORS, ids=repr)
each_peer = pytest.mark.parametrize("peer", [*DETECTORS, *TRANSFORMERS], ids=repr)


@parametrize_with_checks([*DETECTORS, *TRANSFORMERS])
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def rows(n: int = 200, d: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@each_detector
def test_what_only_the_models_of_the_package_have_is_refused_in_words(detector: Any) -> None:
    for name in ("partial_fit", "p_values", "explain", "save", "merge", "calibrate", "accept"):
        assert not hasattr(detector, name)
        with pytest.raises(AttributeError, match=f"has no {name}: it is here to be compared with"):
            getattr(detector, name)
    with pytest.raises(AttributeError, match="no attribute 'threshold'"):
        detector.threshold  # noqa: B018


@each_detector
def test_most_training_rows_are_normal_and_far_rows_are_not(detector: Any) -> None:
    X = rows()
    model = clone(detector).fit(X)
    assert (model.predict(X) == 1).mean() > 0.8
    if not isinstance(detector, OneClassELM):  # sigmoids saturate, with them the error
        assert (model.predict(X + 50.0) == -1).all()


@each_detector
def test_decision_is_score_minus_offset_and_its_sign_the_label(detector: Any) -> None:
    X = rows()
    model = clone(detector).fit(X)
    test = np.vstack([X, 3.0 * rows(seed=1)])
    decision = model.decision_function(test)
    assert np.array_equal(decision, model.score_samples(test) - model.offset_)
    ties = 1 if not isinstance(detector, (SVDD, SubspaceSVDD)) else -1
    expected = np.where(decision > 0, 1, np.where(decision < 0, -1, ties))
    assert np.array_equal(model.predict(test), expected)


@each_peer
def test_a_row_alone_gets_what_it_got_among_others(peer: Any) -> None:
    X = rows(300)
    model = clone(peer).fit(X)
    apply = getattr(model, "score_samples", None) or model.transform
    among = apply(X)
    for i in (0, 1, 127, 128, 299):
        assert np.array_equal(apply(X[[i]])[0], among[i])
    assert np.array_equal(apply(X[::-1]), among[::-1])


@each_peer
def test_missing_and_infinite_values_are_refused(peer: Any) -> None:
    for bad in (np.nan, np.inf):
        X = rows()
        X[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            clone(peer).fit(X)


@each_peer
def test_constant_columns_and_equal_rows_give_finite_results(peer: Any) -> None:
    constant = rows()
    constant[:, 2] = 7.0
    equal = np.tile(rows(1), (50, 1))
    discrete = np.random.default_rng(0).integers(0, 3, (60, 4)).astype(float)
    for X in (constant, equal, discrete):
        model = clone(peer).fit(X)
        apply = getattr(model, "decision_function", None) or model.transform
        assert np.isfinite(apply(X)).all()
        assert np.isfinite(apply(rows(seed=1))).all()


@each_peer
def test_one_row_is_enough_or_refused_in_words(peer: Any) -> None:
    X = rows(1)
    if getattr(peer, "width", None) == "ml":
        with pytest.raises(ValueError, match="minimum of 2 is required"):
            clone(peer).fit(X)
        return
    model = clone(peer).fit(X)
    apply = getattr(model, "decision_function", None) or model.transform
    assert np.isfinite(apply(rows(5))).all()


@each_detector
def test_scores_of_extreme_values_are_not_nan(detector: Any) -> None:
    model = clone(detector).fit(rows())
    decision = model.decision_function([[1e200, 0.0, 0.0, 0.0], [-1e308, 1e308, 0.0, 0.0]])
    assert not np.isnan(decision).any()


@pytest.mark.parametrize(
    ("peer", "name", "value"),
    [
        (SVDD(), "C", 0.0),
        (SVDD(), "C", -1.0),
        (SVDD(), "tol", 0.0),
        (SVDD(), "max_iter", 0),
        (SVDD(), "kernel", "poly"),
        (SVDD(kernel="rbf"), "gamma", 0.0),
        (SubspaceSVDD(), "C", 0.0),
        (SubspaceSVDD(), "n_components", 0),
        (SubspaceSVDD(), "eta", -0.1),
        (NonlinearProjection(), "gamma", np.inf),
        (ReferenceMapping(), "n_references", 0),
        (OneClassELM(), "n_hidden", 0),
        (OneClassELM(), "n_hidden", 0.0),
        (OneClassKernelELM(), "reg", 0.0),
        (OneClassKernelELM(), "fracrej", 0.0),
        (AutoassociativeKernelELM(), "fracrej", 1.0),
        (NaiveParzen(), "fracrej", 1.5),
        (NaiveParzen(), "width", 0.0),
        (NaiveParzen(), "width", "silverman"),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(peer: Any, name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(peer).__name__} must"):
        clone(peer).set_params(**{name: value}).fit(rows())

"""Operations of one's own: the compiled engine does what the reference does, or refuses."""

import numpy as np
import pytest

from refold import REF
from refold.algorithm.engines import exact


def largest(y):
    return np.abs(y).max(axis=1)


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 3))


def test_a_distance_of_one_s_own_is_followed_through_all_levels(X):
    traces = [
        REF(engine=engine, distance=largest, threshold=1.0, n_iter=10).fit(X).trace(X)
        for engine in ("exact", "reference")
    ]
    assert traces[0].shape[1] > 1
    np.testing.assert_allclose(traces[0], traces[1], rtol=1e-9)
    path = REF(levels="all", distance=largest, threshold=1.0, n_iter=10).fit(X)
    assert path.engine_ == "exact"
    np.testing.assert_allclose(-path.score_samples(X), traces[1].mean(axis=1), rtol=1e-9)


@pytest.mark.parametrize(
    ("fold", "max_gain", "said"),
    [(np.abs, 1e6, "named folds only"), ("abs", None, "need a max_gain")],
)
def test_what_only_the_reference_can_do_is_refused(X, fold, max_gain, said):
    with pytest.raises(ValueError, match=said):
        exact.leave_one_out(X, 3, "l1", path=False, n_iter=5, fold=fold, max_gain=max_gain)


def test_only_the_abs_chain_has_no_inner_scales(X):
    with pytest.raises(ValueError, match="Only the abs chain"):
        REF(fold="sqr").fit(X).chain_.unscaled()


def test_more_of_a_value_than_was_counted_is_not_subtracted():
    model = REF(engine="sketch").partial_fit([[1.0], [2.0], [3.0], [3.0]])
    before = model.sketch_.weight
    with pytest.raises(ValueError, match="column 'x0' would count below zero"):
        model.forget([[3.0], [3.0], [3.0]])
    assert model.sketch_.weight == before

"""Rows of label -1 in y are left out, and it is said."""

import warnings

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector

MAKES = {
    "REF": lambda: REF(alpha=0.1),
    "REF, reference": lambda: REF(engine="reference", n_iter=5),
    "sketch": lambda: REF(engine="sketch"),
    "CreasedREF": lambda: CreasedREF(n_creases=16),
    "CreasedREF, trimmed": lambda: CreasedREF(n_creases=16, trim=0.1),
    "Detector": lambda: Detector(),
    "Detector, trimmed": lambda: Detector(method="ref", trim=0.1),
}


@pytest.fixture
def labelled():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.ones(300, dtype=int)
    y[::7] = -1
    X[y == -1] += 6.0
    return X, y


@pytest.mark.parametrize("name", MAKES)
def test_they_are_left_out_with_a_warning(name, labelled):
    X, y = labelled
    with pytest.warns(UserWarning, match=r"43 of 300 rows have the label -1 in y and are left out"):
        model = MAKES[name]().fit(X, y)
    only = MAKES[name]().fit(X[y == 1])
    np.testing.assert_allclose(model.score_samples(X), only.score_samples(X), rtol=1e-9)
    assert model.threshold_ == pytest.approx(only.threshold_)
    assert (y[model.dropped_] == 1).all()
    assert np.flatnonzero(y == 1)[only.dropped_].tolist() == model.dropped_.tolist()


@pytest.mark.parametrize("make", [lambda: REF(engine="sketch"), CreasedREF, Detector])
def test_partial_fit_leaves_them_out_too(make, labelled):
    X, y = labelled
    with pytest.warns(UserWarning, match="label -1"):
        model = make().partial_fit(X, y)
    only = make().partial_fit(X[y == 1])
    np.testing.assert_allclose(model.score_samples(X), only.score_samples(X), rtol=1e-5)


@pytest.mark.parametrize("name", ["REF", "CreasedREF", "Detector"])
@pytest.mark.parametrize(
    "y", [None, np.ones(300), np.arange(300) % 3 - 1, ["a", "b"] * 150, [1, 1, -1]]
)
def test_anything_but_such_labels_is_not_looked_at(name, y, labelled):
    X, _ = labelled
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "label")
        model = MAKES[name]().fit(X, y)
    np.testing.assert_array_equal(model.score_samples(X), MAKES[name]().fit(X).score_samples(X))


@pytest.mark.parametrize("name", ["REF", "CreasedREF", "Detector"])
def test_without_a_normal_row_there_is_nothing_to_learn(name, labelled):
    X, _ = labelled
    with pytest.raises(ValueError, match="All rows have the label -1"):
        MAKES[name]().fit(X, np.full(len(X), -1))


def test_rows_that_are_noticed_keep_their_places(labelled):
    X, y = labelled
    table = pd.DataFrame(X, columns=list("abc")).assign(kind="x")
    table.loc[299, "a"] = 4000.0
    with pytest.warns(UserWarning, match="label -1"):
        model = Detector().fit(table, y)
    assert (299,) in [each.rows for each in model.noticed_ if each.kind == "absurd-cell"]

"""Views that a language cannot say are left out of new texts, and of these alone."""

import numpy as np

from refold.columns.conversion import texts_of
from refold.columns.encoding.numbers import NumberCounts
from refold.columns.encoding.texts import VIEWS, TextCounts


def test_only_new_texts_lose_views():
    counts = TextCounts.of(texts_of([f"AB-{k % 50:02d}" for k in range(60)] + ["x?"]))
    texts = texts_of(["AB-07", "x?", "ab 7", "", "日本"])
    whole = counts.views(texts)
    without = counts.views(texts, without=("shape", "character"))
    known = [texts.values.index(text) for text in ("AB-07", "x?")]
    np.testing.assert_array_equal(without[known], whole[known])
    np.testing.assert_array_equal(without[-1], whole[-1])
    new = [texts.values.index(text) for text in ("ab 7", "日本")]
    assert (whole[new][:, [1, 3]] > 0).all()
    assert (without[new][:, [1, 3]] == 0).all()
    np.testing.assert_array_equal(without[new][:, [0, 2]], whole[new][:, [0, 2]])
    assert VIEWS[1] == "shape"
    assert VIEWS[3] == "character"


def test_a_number_has_one_magnitude_whatever_else_its_row_lacks(rng):
    X = rng.normal(size=(300, 60))
    counts = NumberCounts.of(X, np.zeros(60, dtype=np.int64))
    gaps = np.where(rng.random(X.shape) < rng.random((300, 1)), np.nan, X)
    for value in X[:20, 0]:
        gaps[:, 0] = value
        assert len(np.unique(counts.magnitudes(gaps)[:, 0])) == 1

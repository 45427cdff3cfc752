"""Views that a language cannot say are left out of new texts, and of these alone."""

import numpy as np
import pandas as pd

from refold import Detector
from refold.columns.bring import texts_of
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
    table = pd.DataFrame(rng.normal(size=(300, 7)), columns=list("abcdefg"))
    table["kind"] = "x"
    table[table.columns[1:7]] = table[table.columns[1:7]].mask(rng.random((300, 6)) < 0.5)
    model = Detector(method="ref").fit(table)
    counts = model.encoder_.counts.numbers
    again = table[list("abcdefg")].assign(a=table["a"][0]).to_numpy()
    assert len(np.unique(counts.magnitudes(again)[:, 0])) == 1

"""Cells that are novel, and cells that are merely far out, are not taken for one another."""

import numpy as np
import pandas as pd

from refold import Detector
from refold.models.detector.scorer import FARTHEST, pack


def test_a_number_however_far_out_is_not_taken_for_a_novel_cell():
    table = pd.DataFrame({"kind": ["a", "b"] * 100, "size": np.arange(200) % 5})
    model = Detector(method="ref").fit(table)
    far = pd.DataFrame({"kind": ["a", "z"], "size": [1e12, 1.0]})
    rows, novel = model.scorer().unpack(model._learned.encoded(far)[0])
    assert novel.tolist() == [[False, False], [True, False]]
    assert rows[0, 3] == FARTHEST
    assert model.predict(far).tolist() == [-1, -1]


def test_marks_can_be_taken_off_again(rng):
    table = pd.DataFrame({"kind": ["a", "b"] * 100, "size": np.arange(200) % 5})
    model = Detector(method="ref").fit(table)
    new = pd.DataFrame({"kind": ["a", "z", None], "size": [1.0, np.nan, 3.0]})
    encoded = model.encoder_.encode(model.encoder_.read(new, reset=False))
    rows, novel = model.scorer().unpack(pack(encoded))
    np.testing.assert_array_equal(novel, encoded.novel)
    np.testing.assert_allclose(rows[:, 2:], encoded.magnitudes, atol=1e-9)

"""Files that versions 1 to 3 of the format have written stay loadable for ever.

Never write these files anew. ``expected.json`` holds rows and what the models said about them when
they were saved: float.hex, label.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import refold

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_file_gives_what_its_model_gave(name):
    expected = EXPECTED[name]
    model = refold.load(FILES / name)
    rows = expected["rows"]
    if isinstance(rows[0], list):
        rows = np.array(rows, dtype=float)  # null becomes NaN
    if expected["names"]:
        assert list(model.feature_names_in_) == expected["names"]
        del model.feature_names_in_  # rows come without names here
    scores = [float.fromhex(score) for score in expected["scores"]]
    # CreasedREF is factored anew, and a Detector has one inside: another BLAS rounds otherwise.
    rounding = 0.0 if isinstance(model, refold.REF) else 1e-9
    np.testing.assert_allclose(model.score_samples(rows), scores, rtol=rounding)
    assert model.predict(rows).tolist() == expected["labels"]
    if expected["p_values"]:
        assert model.p_values(rows).tolist() == expected["p_values"]
    if hasattr(model, "sketch_"):
        assert model.partial_fit(rows[:2]).summary_.rows == expected["learned"] + 2


@pytest.mark.parametrize("version", [1, 2, 3])
def test_there_is_a_file_of_each_sort(version):
    sorts = {"names": False, "sketch": False, "calibration": False, "CreasedREF": False}
    for name in EXPECTED:
        document = json.loads((FILES / name).read_text(encoding="utf-8"))
        if name.startswith(f"v{version}-"):
            assert document["format_version"] == version
            sorts["names"] |= document["feature_names"] is not None
            sorts["sketch"] |= document.get("sketch") is not None
            sorts["calibration"] |= document.get("calibration") is not None
            sorts["CreasedREF"] |= document["estimator"] == "CreasedREF"
    assert all(sorts.values())


def test_a_creased_model_whose_rows_waited_goes_on_learning():
    model = refold.load(FILES / "v2-waiting.json")
    rows = np.array(EXPECTED["v2-waiting.json"]["rows"][:3], dtype=float)
    del model.feature_names_in_
    assert model.partial_fit(rows).summary_.rows == EXPECTED["v2-waiting.json"]["learned"] + 3


@pytest.mark.parametrize("name", ["v3-detector.json", "v3-detector-ref.json"])
def test_an_old_detector_goes_on_learning(name):
    model, rows = refold.load(FILES / name), EXPECTED[name]["rows"]
    assert model.partial_fit(rows[:1]).encoder_.counts.rows == EXPECTED[name]["learned"] + 1

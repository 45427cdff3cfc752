"""Files that were written once stay loadable for ever, from the first release on.

Never write these files anew. ``expected.json`` holds rows and what the models said about them when
they were saved: float.hex, label.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import refold

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))


def given(name):
    """Rows as the model takes them: a list of records, or numbers of which null is NaN."""
    rows, names = EXPECTED[name]["rows"], EXPECTED[name]["names"]
    if isinstance(rows[0], dict):
        return rows
    numbers = np.array(rows, dtype=float)
    return pd.DataFrame(numbers, columns=names) if names else numbers


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_gives_what_its_model_gave(name):
    expected, rows = EXPECTED[name], given(name)
    model = refold.load(FILES / name)
    scores = [float.fromhex(score) for score in expected["scores"]]
    # CreasedREF is factored anew, and a Detector has one inside: another BLAS rounds otherwise.
    rounding = 0.0 if isinstance(model, refold.REF) else 1e-9
    np.testing.assert_allclose(model.score_samples(rows), scores, rtol=rounding)
    assert model.predict(rows).tolist() == expected["labels"]
    if expected["p_values"]:
        assert model.p_values(rows).tolist() == expected["p_values"]
    assert [entry.kind for entry in model.feedback_] == expected["feedback"]


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["goes_on"]])
def test_a_model_goes_on_learning(name):
    model, rows = refold.load(FILES / name), given(name)
    before = model.score_samples(rows)
    model.partial_fit(rows[:3])
    assert (model.score_samples(rows) != before).any()


def test_there_is_a_file_of_each_sort():
    documents = [json.loads((FILES / name).read_text(encoding="utf-8")) for name in EXPECTED]
    assert {document["format_version"] for document in documents} == {1}
    assert {document["estimator"] for document in documents} == {"REF", "CreasedREF", "Detector"}
    for member in ("feature_names", "sketch", "calibration", "waiting", "cut", "feedback"):
        assert any(document.get(member) for document in documents), member
    assert sum(path.stat().st_size for path in FILES.iterdir()) < 300_000

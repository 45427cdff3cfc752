"""What a Detector makes of what it learned: rows that would have been novel, models made anew."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.decisions.thresholds import Calibration
from refold.models.detector import learned as learned_module
from refold.models.detector.learned import Inside


def table(rows, singles, rng):
    """Two kinds, and so many rows of a kind that no other has."""
    kind = rng.choice(["a", "b"], rows).astype(object)
    kind[:singles] = [f"only {k}" for k in range(singles)]
    return pd.DataFrame({"kind": kind, "size": rng.normal(size=rows)})


@pytest.mark.parametrize("rate", [0.011, 0.02, 0.3])
@pytest.mark.parametrize("singles", [0, 1])
def test_rows_that_would_have_been_novel_are_far_out_and_set_no_threshold(singles, rate, rng):
    model = Detector(method="ref", alpha=rate, roles={"kind": "category"}, n_jobs=1)
    learned = model.fit(table(1000, singles, rng))._learned
    assert learned.counts.novel_left_out == singles
    scores = np.arange(1.0, 101.0)
    before = Calibration.of(scores, None, "leave-one-out")
    inside = Inside(learned.inside.scorer, 50.0, before, None)
    found = learned.with_novelties(inside)
    if singles == 0:
        assert found is inside
        return
    share = singles / 1000
    assert found.calibration.total == pytest.approx(100.0)
    assert found.calibration.scores.tolist() == [*scores, 100.0 + 10.0 * 50.0]
    np.testing.assert_allclose(found.calibration.weights, [*[1.0 - share] * 100, 100 * share])
    assert found.threshold == min(found.calibration.threshold(rate), 100.0)
    assert found.calibration.source == "leave-one-out"


@pytest.mark.parametrize(
    ("columns", "anew"), [(["kind", "size"], False), (["kind", "size", "colour"], True)]
)
def test_models_of_a_few_columns_are_made_anew_where_two_of_them_go_together(
    columns, anew, rng, monkeypatch
):
    frame = table(300, 0, rng)
    frame["colour"] = np.where(frame["kind"] == "a", "red", "blue")
    made = []
    monkeypatch.setattr(
        "refold.models.creased.scoring.refitted",
        lambda rows, weights, score, scores, parts, seed: made.append(parts) or scores,
    )
    Detector(n_jobs=1).fit(frame[columns])
    assert bool(made) == anew
    made.clear()
    for name in ("b", "c")[: 2 if anew else 1]:
        frame[name] = rng.normal(size=300)
        Detector(n_jobs=1).fit(frame[[*columns, *({"b", "c"} & set(frame))]])
    assert len(made) == anew  # of four columns; of five they are not


def test_without_a_rate_it_is_what_so_many_rows_allow(rng):
    for rows, rate in ((100, 5 / 101), (2000, 0.01)):
        model = Detector(n_jobs=1, method="ref").fit(table(rows, 0, rng))
        assert model._learned.rate == model.alpha_ == pytest.approx(rate)


def test_numbers_alone_are_judged_as_they_come_and_what_is_missing_as_in_a_table(rng):
    X = rng.normal(size=(300, 3))
    model = Detector(n_jobs=1).fit(X)
    packed, parsed = model._learned.encoded(X)
    assert parsed is None
    np.testing.assert_array_equal(packed, X)
    gaps = X.copy()
    gaps[4, 1] = np.nan
    packed, parsed = model._learned.encoded(gaps)
    assert parsed is not None
    np.testing.assert_array_equal(packed[np.arange(300) != 4], np.delete(X, 4, axis=0))
    np.testing.assert_array_equal(
        np.delete(model.score_samples(gaps), 4), np.delete(model.score_samples(X), 4)
    )


@pytest.mark.parametrize(("columns", "paired"), [(4, True), (5, False)])
def test_of_four_columns_or_fewer_pairs_are_left_out_anew(columns, paired, rng, monkeypatch):
    first = rng.integers(0, 4, 300)
    table = pd.DataFrame({"a": [f"A{k}" for k in first], "b": [f"B{k // 2}" for k in first]})
    for k in range(columns - 2):
        table[f"x{k}"] = rng.normal(size=300)
    asked = []
    monkeypatch.setattr(
        learned_module, "CrossFitParts", lambda encode, paired: asked.append(paired)
    )
    Detector(n_jobs=1).fit(table)
    assert asked == [paired]

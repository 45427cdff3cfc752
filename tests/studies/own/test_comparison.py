"""What is said of the methods follows from the cells: the best, noise, and false alarms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from refold.studies.own.comparison import Extent, fitted, verdict
from refold.studies.own.faults import corrected_p
from tests.studies.own.made import caught, comparison


def test_the_corrected_test_is_the_usual_one_with_a_larger_variance():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(0.8, 0.01, 8), rng.normal(0.79, 0.01, 8)
    assert corrected_p(ours, theirs, 0.0) == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
    t = stats.ttest_rel(ours, theirs).statistic * np.sqrt((1 / 8) / (1 / 8 + 0.5))
    assert corrected_p(ours, theirs, 0.5) == pytest.approx(2 * stats.t.sf(abs(t), 7))


def test_the_corrected_test_rarely_calls_chance_a_difference():
    """Two methods that are alike: means of halves of the same 60 numbers, drawn again and again."""
    rng, found = np.random.default_rng(0), []
    for _ in range(400):
        rows = rng.normal(size=60)
        halves = [rng.permutation(60)[:20] for _ in range(5)]
        found.append(corrected_p([rows[h].mean() for h in halves], [0.0] * 5, 0.5) < 0.05)
    assert np.mean(found) < 0.1


@pytest.mark.parametrize(
    ("ours", "theirs", "p"),
    [([0.5], [0.1], 1.0), ([0.5, 0.5], [0.5, 0.5], 1.0), ([0.5, 0.6], [0.4, 0.5], 0.0)],
)
def test_the_corrected_test_at_its_ends(ours, theirs, p):
    assert corrected_p(ours, theirs, 0.5) == p


def test_kinds_count_alike_however_many_sizes_they_have():
    cell = caught(0.0) | {"caught beyond 0.1": 0.2, "caught beyond 1": 0.6, "caught typo": 1.0}
    found = comparison({"Detector": [cell]})
    assert found.mean("beyond", "Detector") == pytest.approx(0.4)
    assert found.mean("caught", "Detector") == pytest.approx(0.7)
    assert found.mean("others", "Detector") == 1.0


def test_the_best_and_what_is_within_noise_of_it():
    found = comparison(
        {
            "LOF": [caught(0.3), caught(0.31), caught(0.29)],
            "Detector": [caught(0.8), caught(0.9), caught(0.85)],
            "kNN-5": [caught(0.84), caught(0.8), caught(0.83)],
        }
    )
    assert found.ranked == ["Detector", "kNN-5", "LOF"]
    assert found.level_with_best() == ["kNN-5"]
    said = " ".join(verdict(found))
    assert said.startswith("Detector catches most of the faults that were put in: 85.0 %")
    assert "Within noise of it: kNN-5 (82.3)." in said
    assert "LOF" not in said


def test_a_method_that_rejects_too_much_is_not_called_the_best():
    found = comparison(
        {"Detector": [caught(0.8)] * 2, "OneClassSVM": [caught(0.9, alarms=0.3)] * 2}
    )
    assert found.best == "Detector"
    assert found.exceeds_rate("OneClassSVM")
    assert "More false alarms than the 5 % that were asked for: OneClassSVM 30.0 %" in " ".join(
        verdict(found)
    )


def test_what_is_to_be_fitted_keeps_the_rate_if_something_does():
    found = comparison(
        {"Detector": [caught(0.9, alarms=0.4)] * 2, "Detector-ref": [caught(0.5)] * 2}
    )
    assert (found.best, fitted(found)) == ("Detector-ref", "Detector-ref")
    loud = comparison({"Detector": [caught(0.9, alarms=0.4)] * 2})
    assert (loud.best, fitted(loud)) == ("Detector", "Detector")


def test_with_labels_scores_decide():
    values = {
        "Detector": [{"auroc": 0.9, "auprc": 0.5, "caught anomaly": 0.4, "false_alarms": 0.05}],
        "LOF": [{"auroc": 0.95, "auprc": 0.5, "caught anomaly": 0.3, "false_alarms": 0.3}],
    }
    found = comparison(values, extent=Extent(100, 50, 20))
    said = " ".join(verdict(found))
    assert found.best == "LOF"
    assert "Of what refold fit makes, Detector is best: 90.0, 5.0 behind." in said
    assert "take --seeds 5" in said
    assert fitted(found) == "Detector"


def test_failures_are_told_and_come_last():
    found = comparison({"LOF": ["no memory"], "Detector": [caught(0.5)]})
    assert found.finished == ["Detector"]
    assert list(found.text())[-1] == "LOF: failed: ValueError: no memory"


def test_nothing_finished_is_said():
    found = comparison(
        {
            "LOF": ["no"],
            "Detector": [
                "no",
            ][:1],
        }
    )
    assert list(verdict(found)) == ["No method finished."]
    assert fitted(found) is None
    json.dumps(found.document(), allow_nan=False)
    assert len(list(found.text())) == 3


def test_the_document_has_what_the_table_says():
    found = comparison({"Detector": [caught(0.5), caught(0.7)], "LOF": ["no", "no"]})
    ours, other = json.loads(json.dumps(found.document(), allow_nan=False))
    assert ours["best"]
    assert ours["means"]["caught"] == pytest.approx(0.6)
    assert ours["caught"]["typo"] == pytest.approx(0.6)
    assert other["means"]["caught"] is None
    assert other["unfinished"] == "failed: ValueError: no"

"""Means, as they are printed."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tests.studies.tables.made import comparison

FOUND = {
    "ours": {
        "clean-a": [
            {"auroc typo": 0.9, "auroc rare": 0.7, "auroc spike": 1.0, "named typo": 0.8}
            | {"false_alarms": 0.04, "fit_seconds": 1.0, "score_seconds": 0.5},
            {"auroc typo": 0.7, "auroc rare": 0.7, "auroc spike": 1.0, "named typo": 0.6}
            | {"false_alarms": 0.06, "fit_seconds": 9.0, "score_seconds": 0.5},
        ],
        "clean-b": [
            {"auroc typo": 0.6, "false_alarms": 0.10, "fit_seconds": 3.0, "score_seconds": 0.5}
        ]
        * 2,
        "natural-c": [
            {"auroc anomaly": 0.75, "false_alarms": 0.0, "fit_seconds": 1.0, "score_seconds": 0.5}
        ]
        * 2,
    },
    "theirs": {"clean-a": ["no"] * 2, "clean-b": ["no"] * 2, "natural-c": ["no"] * 2},
}


@pytest.fixture(scope="module")
def found():
    return comparison(FOUND)


def test_errors_are_means_over_kinds_of_means_over_tables(found):
    means = found.overview("ours")
    typo, rare, spike = (0.8 + 0.6) / 2, 0.7, 1.0
    assert means["injected"] == pytest.approx((typo + rare + spike) / 3)
    assert means["category"] == pytest.approx((typo + rare) / 2)
    assert means["number"] == spike
    assert np.isnan(means["date"])
    assert means["natural"] == 0.75
    assert means["named"] == pytest.approx(0.7)
    assert found.injected("clean-b", "ours") == pytest.approx(0.6)


def test_rates_are_shown_with_their_extremes(found):
    means = found.overview("ours")
    assert means["false_alarms"] == pytest.approx((0.05 + 0.10 + 0.0) / 3)
    assert (means["lowest"], means["highest"]) == (0.0, 0.1)


def test_times_are_means_over_tables_of_medians_over_seeds(found):
    assert found.overview("ours")["fit_seconds"] == pytest.approx((5.0 + 3.0 + 1.0) / 3)


def test_what_is_not_finished_has_no_value_and_is_said(found):
    assert np.isnan(list(found.overview("theirs").values())).all()
    assert found.unfinished("clean-a", "theirs") == "failed: ValueError: no"
    assert found.unfinished("clean-a", "ours") == ""
    assert "theirs on clean-b: failed: ValueError: no" in list(found.text())


def test_one_failed_seed_is_not_hidden_by_the_others():
    half = comparison({"ours": {"clean-a": [{"auroc typo": 0.9}, "no"]}})
    assert np.isnan(half.value("auroc typo", "clean-a", "ours"))


def test_the_printed_tables(found):
    lines = list(found.text())
    heads = lines[1].split()
    row = dict(zip(heads, lines[2].removeprefix("ours").split(), strict=False))
    assert (row["natural"], row["injected"], row["category"]) == ("75.0", "80.0", "70.0")
    assert row["reason"] == "70.0"
    at = lines.index("AUROC by kind of error")
    assert lines[at + 1].split() == ["unseen", "rare", "typo", "spike"][1:]
    assert lines[at + 2].split() == ["ours", "70.0", "70.0", "100.0"]
    assert lines[at + 3].split() == ["theirs", "–", "–", "–"]
    assert len({len(line) for line in lines[at + 1 : at + 4]}) == 1


def test_the_csv_has_a_line_per_cell(found):
    rows = list(csv.DictReader(found.csv().splitlines()))
    assert len(rows) == 12
    assert rows[0]["auroc typo"] == "0.9"
    assert rows[-1]["note"] == "ValueError: no"

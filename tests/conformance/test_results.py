"""Every result that a public function returns: plain values, a dataframe, a repr of one line."""

import json

import numpy as np
import pandas as pd
import pytest

import refold
from refold.checks import learned_rules
from refold.explanation import importance
from refold.report import describe


@pytest.fixture(scope="module")
def results():
    """One of each, of rows of which one is an outlier, by columns of all kinds."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({
        "heat": rng.normal(20.0, 2.0, 300).round(1),
        "machine": rng.choice(["M1", "M2"], 300),
        "at": pd.date_range("2026-01-01", periods=300, freq="h").astype(str),
    })  # fmt: skip
    new = rows[:40].copy()
    new.loc[7, "heat"], new.loc[8, "machine"], new.loc[9, "heat"] = 90.0, "M9", np.nan
    model = refold.Detector(alpha=0.02).fit(rows)
    other = refold.Detector(alpha=0.02).fit(rows.assign(heat=rows["heat"] * 2))
    return {
        "check": refold.check(rows.assign(constant=1)),
        "compare": refold.compare(model, other, new),
        "drift": refold.drift(model, new),
        "explain": refold.explain(model, new),
        "importance": importance(model, new),
        "incidents": refold.incidents(model, new),
        "learned_rules": learned_rules(model),
        "limits": refold.limits(model),
        "report": describe(model, new),
        "suspects": refold.suspects(rows, 5),
    }


KINDS = (
    *("check", "compare", "drift", "explain", "importance", "incidents", "learned_rules"),
    *("limits", "report", "suspects"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_plain_values_are_json(results, kind):
    found = results[kind].to_dict()
    assert found
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("kind", KINDS)
def test_a_dataframe_of_each_library_has_the_same_columns_and_rows(results, kind):
    result = results[kind]
    pandas, polars, arrow = (result.to_frame(each) for each in ("pandas", "polars", "pyarrow"))
    assert list(pandas.columns) == polars.columns == arrow.column_names
    assert len(pandas) == len(polars) == len(arrow) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_repr_is_one_line_that_names_the_type(results, kind):
    shown = repr(results[kind])
    assert type(results[kind]).__name__ in shown
    assert " object at " not in shown
    assert "\n" not in shown
    assert len(shown) < 120


@pytest.mark.parametrize(
    "kind", ["explain", "importance", "incidents", "learned_rules", "suspects"]
)
def test_a_slice_is_a_result_of_the_same_kind(results, kind):
    whole = results[kind]
    part = whole[:1]
    assert type(part) is type(whole)
    assert list(part) == [whole[0]]
    assert len(part.to_frame()) <= len(whole.to_frame())


def test_what_a_report_says_is_what_its_plain_values_say(results):
    report, found = results["report"], results["report"].to_dict()
    assert (found["rows"], found["rejected"]) == (report.rows, report.rejected)
    assert [row["name"] for row in found["worst"]] == [row.name for row in report.worst]
    assert len(found["incidents"]) == len(report.incidents)
    frame = report.to_frame()
    assert frame["distance"].tolist() == [row.distance for row in report.worst]
    assert frame["reason_1"][0] == str(report.worst[0].reasons[0])

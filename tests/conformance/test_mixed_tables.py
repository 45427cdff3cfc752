"""A table of texts, dates and numbers in every room that takes one: the same answers, or words."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import refold
from refold import Detector, drift, explain, plot
from refold.explanation import importance
from refold.report import write_report
from tests.conformance.models import DISPLAYS

mpl.use("Agg")
DRAWN = {"ContributionsDisplay", "DistancesDisplay", "LimitsDisplay"}


def orders(rows, seed):
    rng = np.random.default_rng(seed)
    heat = rng.normal(70.0, 2.0, size=rows)
    return pd.DataFrame(
        {
            "machine": rng.choice(["north", "south", "east"], rows),
            "heat": heat.round(2),
            "day": pd.Timestamp("2026-03-02") + pd.to_timedelta(rng.integers(0, 60, rows), "D"),
            "flow": (0.5 * heat + rng.normal(size=rows)).round(2),
            "part": [f"AB-{number:04d}" for number in rng.integers(0, 9999, rows)],
        }
    )


@pytest.fixture(scope="module", params=["creased", "ref"])
def model(request):
    return Detector(method=request.param).fit(orders(600, 0))


@pytest.fixture
def new():
    """Normal rows; one with a high number, one with a new value, one without any."""
    rows = orders(200, 1)
    rows.loc[3, "flow"] = 400.0
    rows.loc[5, "machine"] = "west"
    rows.loc[9] = None
    return rows


@pytest.fixture
def judged(model, new):
    answers = zip(model.predict(new), -model.score_samples(new), strict=True)
    return dict(zip(new.index, answers, strict=True))


def test_explain(model, new, judged):
    found = explain(model, new)
    assert {one.row: (one.label, one.distance) for one in found if one.label} == judged
    assert [found[row].reasons[0].feature for row in (3, 5)] == ["flow", "machine"]
    assert found[9].label == -1
    assert found[9].reasons[0].words == "no value in 5 of 5 columns"
    assert len(found.to_frame()) == 200 * 5


def test_importance_counts_each_column_once(model, new):
    found = importance(model, new)
    assert {one.feature for one in found} == set(new)
    assert sum(one.share for one in found) == pytest.approx(1.0)


def test_report(model, new, judged, tmp_path):
    found = write_report(model, new, tmp_path / "report.html")
    assert found.rejected == sum(label == -1 for label, _ in judged.values())
    assert {row.name: row.reasons[0].feature for row in found.worst}["5"] == "machine"
    assert [feature.name for feature in found.features] == list(new)
    assert "&#39;west&#39; was never seen" in (tmp_path / "report.html").read_text("utf-8")


def test_drift(model, new):
    assert [feature.name for feature in drift(model, new).features] == list(new)


@pytest.mark.parametrize("display", DISPLAYS)
def test_plots_are_drawn_or_refused_in_words(model, new, display):
    make = getattr(plot, display).from_estimator
    argument = "flow" if display == "FoldMapDisplay" else new
    if display in DRAWN:
        make(model, argument).figure_.savefig(io.BytesIO())
    else:
        with pytest.raises(TypeError, match=r"Use a (REF|model)"):
            make(model, argument)
    plt.close("all")


def test_limits_are_those_of_the_numbers_and_hold(model, new):
    known = new.drop(index=9)
    accepted = known[model.predict(known) == 1]
    found = refold.limits(model, known)
    assert [limit.feature for limit in found] == ["heat", "flow"]
    assert found.left_out == ("machine", "day", "part")
    assert {change.feature for change in found.changes} == {"machine", "day", "part"}
    for limit in found:
        assert limit.rows == len(accepted)
        for shift, share in ((limit.up_90, 0.9), (limit.up_50, 0.5), (-limit.down_90, 0.9)):
            moved = accepted.assign(**{limit.feature: accepted[limit.feature] + shift})
            assert (model.predict(moved) == -1).mean() >= share
    assert refold.limits(model).source == "kept by the model"


def test_limits_without_a_number_are_those_of_changed_cells():
    rows = orders(100, 0)[["machine", "part"]]
    found = refold.limits(Detector().fit(rows))
    assert len(found) == 0
    assert {change.feature for change in found.changes} == {"machine", "part"}

"""Every room takes a pipeline that ends in one of our models, and speaks of the table's columns."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import refold
from refold import REF, CreasedREF, Detector, drift, explain, plot
from refold.explanation import importance
from refold.report import write_report
from tests.conformance.models import DISPLAYS
from tests.conformance.test_rooms import NAMES, normal_rows

mpl.use("Agg")
CATEGORY = "site"


def with_sites(rows, seed):
    sites = np.random.default_rng(seed).choice(["Oslo", "Rome"], rows)
    return normal_rows(rows, seed).assign(site=sites)


def encoded():
    one_hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    return make_column_transformer((StandardScaler(), NAMES), (one_hot, [CATEGORY]))


PIPELINES = {
    "REF": lambda: make_pipeline(encoded(), REF(alpha=0.05)),
    "CreasedREF": lambda: make_pipeline(encoded(), CreasedREF(n_creases=32)),
    "Detector": lambda: make_pipeline("passthrough", Detector(method="ref")),
}

REFUSALS = {
    "CreasedREF": {"FoldMapDisplay", "LevelsDisplay"},
    "Detector": {"FoldMapDisplay", "LevelsDisplay", "RegionsDisplay"},
}


@pytest.fixture(scope="module", params=PIPELINES)
def pipeline(request):
    return PIPELINES[request.param]().fit(with_sites(600, 0))


@pytest.fixture
def new():
    rows = with_sites(200, 1)
    rows.loc[3, "flow"] = 400.0
    return rows


def test_explain(pipeline, new):
    found = explain(pipeline, new)
    assert [one.label for one in found] == pipeline.predict(new).tolist()
    assert [one.distance for one in found] == (-pipeline.score_samples(new)).tolist()
    assert (found[3].reasons[0].feature, found[3].reasons[0].value) == ("flow", 400.0)
    assert {one.feature for one in importance(pipeline, new)} >= set(NAMES)


def test_report(pipeline, new, tmp_path):
    found = write_report(pipeline, new, tmp_path / "report.html")
    assert found.rejected == (pipeline.predict(new) == -1).sum()
    worst = next(row for row in found.worst if row.name == "3")
    assert worst.reasons[0].feature == "flow"


def test_drift(pipeline, new):
    found = drift(pipeline, new)
    assert found.rejected == (pipeline.predict(new) == -1).mean()
    moved = drift(pipeline, new.assign(heat=new["heat"] + 5.0))
    assert [f.name for f in moved.features if f.changed] == ["heat"]
    assert moved.features[0].shift == pytest.approx(5.0, abs=0.5)


def test_limits(pipeline, new):
    assert refold.limits(pipeline, new)["heat"].up_90 > 0.0


@pytest.mark.parametrize("display", DISPLAYS)
def test_plots_are_drawn_or_refused_in_words(pipeline, new, display):
    make = getattr(plot, display).from_estimator
    arguments = ("flow",) if display == "FoldMapDisplay" else (new,)
    if display in REFUSALS.get(type(pipeline[-1]).__name__, ()):
        with pytest.raises(TypeError, match=r"Use a "):
            make(pipeline, *arguments)
    else:
        make(pipeline, *arguments).figure_.savefig(io.BytesIO())
    plt.close("all")


def test_saving_is_refused_in_words(pipeline, tmp_path):
    with pytest.raises(TypeError, match=r"not Pipeline"):
        refold.save(pipeline, tmp_path / "model.json")

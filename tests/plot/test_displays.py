"""Pictures: they show what the model says, where they are told to, and nothing pops up."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError

from refold import REF, Detector, compare
from refold.model_selection import gmean_score
from refold.plot import (
    ComparisonDisplay,
    ContributionsDisplay,
    DistancesDisplay,
    FoldMapDisplay,
    LevelsDisplay,
    LimitsDisplay,
    RegionsDisplay,
    comparison,
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    mpl.use("Agg")
    pyplot.close("all")  # what others have left open
    monkeypatch.setattr(pyplot, "show", lambda *a, **k: pytest.fail("a picture called show()"))
    yield
    pyplot.close("all")


@pytest.fixture
def X(rng):
    return pd.DataFrame(
        {
            "torque [Nm]": rng.normal(74.0, 2.0, size=400),
            "speed": np.where(rng.random(400) < 0.5, 10.0, 30.0) + rng.normal(size=400),
            "fixed": 7.0,
        }
    )


@pytest.fixture
def model(X):
    return REF(levels="all").fit(X)


DRAW = {
    "fold map": lambda model, X, ax: FoldMapDisplay.from_estimator(model, "speed", ax=ax),
    "levels": lambda model, X, ax: LevelsDisplay.from_estimator(model, X, ax=ax),
    "limits": lambda model, X, ax: LimitsDisplay.from_estimator(model, X, ax=ax),
    "distances": lambda model, X, ax: DistancesDisplay.from_estimator(model, X, ax=ax),
    "contributions": lambda model, X, ax: ContributionsDisplay.from_estimator(model, X, ax=ax),
    "regions": lambda model, X, ax: RegionsDisplay.from_estimator(
        model, X, features=("torque [Nm]", "speed"), resolution=40, ax=ax
    ),
}


@pytest.mark.parametrize("name", DRAW)
def test_it_draws_where_it_is_told_to_and_can_be_drawn_again(name, model, X):
    ax = Figure().subplots()
    display = DRAW[name](model, X, ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert pyplot.get_fignums() == []
    again = display.plot()
    assert again is display
    assert display.ax_ is not ax
    assert ax.get_xlabel()
    display.figure_.canvas.draw()


@pytest.mark.parametrize("name", DRAW)
def test_a_model_that_is_not_fitted_is_refused(name, X):
    with pytest.raises(NotFittedError):
        DRAW[name](REF(), X, None)


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize("engine", ["sketch", "reference"])
def test_every_engine_can_be_drawn(name, engine, X):
    DRAW[name](REF(engine=engine).fit(X), X, None)


def test_the_fold_map_is_what_the_feature_contributes(model, X):
    display = FoldMapDisplay.from_estimator(model, "speed")
    rows = pd.DataFrame({"torque [Nm]": np.nan, "speed": display.values, "fixed": np.nan})
    np.testing.assert_allclose(display.magnitudes, -model.score_samples(rows), rtol=1e-12)
    assert display.shares.sum() == pytest.approx(1.0, abs=0.01)
    assert len(display.ranges) == 2  # a real gap
    counts = np.histogram(X["speed"], display.edges)[0] / len(X)
    assert np.abs(np.cumsum(display.shares) - np.cumsum(counts)).max() < 0.02


@pytest.mark.parametrize("levels", ["last", "all"])
@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_the_line_is_where_a_row_that_is_otherwise_typical_stops_being_normal(X, levels, distance):
    model = REF(levels=levels, distance=distance, alpha=0.05).fit(X)
    display = FoldMapDisplay.from_estimator(model, "speed")
    # With the median row's other values: close to typical, and beyond the line for sure if far.
    rows = pd.DataFrame({"torque [Nm]": 74.0, "speed": display.values, "fixed": 7.0})
    rejected = model.predict(rows) == -1
    assert rejected[display.magnitudes > 1.5 * display.needed].all()
    assert not rejected[display.magnitudes < 0.67 * display.needed].any()
    assert 0.0 < display.needed < 3 * model.threshold_ + 1e-9
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "an outlier from here on, if all else is typical" in texts
    # All of the map is in the picture: nothing is a line that leaves it.
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_ylim()[1] > display.magnitudes.max()


def test_with_one_feature_the_line_is_the_threshold(X):
    model = REF(threshold=0.4).fit(X[["speed"]])
    assert FoldMapDisplay.from_estimator(model, 0).needed == pytest.approx(0.4)
    # Where the others are beyond the threshold already, any value is.
    assert FoldMapDisplay.from_estimator(REF(threshold=1e-9).fit(X), "speed").needed == 0.0
    own = REF(distance=lambda y: np.abs(y).max(axis=1), engine="reference").fit(X)
    assert FoldMapDisplay.from_estimator(own, "speed").needed is None


def test_a_constant_feature_has_a_map_too(model):
    display = FoldMapDisplay.from_estimator(model, 2)
    assert display.shares.sum() == pytest.approx(1.0)
    assert np.isfinite(display.magnitudes).all()


def test_the_learning_curve_ends_with_the_last_level(X):
    model = REF().fit(X)
    bad = X.assign(speed=90.0)
    both, y = pd.concat([X, bad]), np.repeat([1, -1], len(X))
    display = LevelsDisplay.from_estimator(model, both, y)
    labels = model.predict(both)
    assert display.accepted[-1] == (labels[y == 1] == 1).mean()
    assert display.rejected[-1] == (labels[y == -1] == -1).mean()
    assert display.gmean[-1] == gmean_score(y, labels)
    assert len(display.accepted) == model.n_iter
    with pytest.raises(ValueError, match="both normal rows"):
        LevelsDisplay.from_estimator(model, X, np.ones(len(X)))
    with pytest.raises(ValueError, match="has 400 rows"):
        LevelsDisplay.from_estimator(model, X, [1, -1])


def test_the_legend_says_how_many_rows_are_above_the_threshold(model, X):
    far = pd.concat([X, X.head(100).assign(speed=1e9)])
    display = DistancesDisplay.from_estimator(model, far)
    share = 100 * (model.predict(far) == -1).mean()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"threshold: {share:.3g} % of rows above" in texts
    drawn = sum(patch.get_height() for patch in display.ax_.patches)
    assert drawn == len(far)


def test_every_bar_has_its_feature_and_the_rest_is_added_up(rng):
    X = rng.normal(size=(300, 14))
    model = REF().fit(X)
    display = ContributionsDisplay.from_estimator(model, X, row=5, most=4)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert len(labels) == 5
    assert labels[-1] == "10 others"
    assert sum(widths) == pytest.approx(-model.score_samples(X)[5])
    assert widths[:4] == sorted(widths[:4], reverse=True)


def test_no_label_of_the_contributions_is_cut_off(rng):
    names = [f"a rather long name of a measurement, number {k} [mm]" for k in range(6)]
    X = pd.DataFrame(rng.normal(-25.0, 1.0, size=(300, 6)), columns=names)
    display = ContributionsDisplay.from_estimator(REF(alpha=0.05).fit(X), X + 40.0)
    figure = display.figure_
    figure.canvas.draw()
    beside = display.ax_.xaxis.get_ticklabels()  # some of them are beyond the ends, and not drawn
    texts = [t for t in display.ax_.findobj(Text) if t.get_text() and t not in beside]
    assert "Row 0 is an outlier" in "".join(text.get_text() for text in texts)
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= 0.0
        assert box.x1 <= figure.bbox.width, text.get_text()


def test_the_regions_are_the_models_own_distances(model):
    display = RegionsDisplay.from_estimator(model, features=(0, 1), resolution=30)
    row = pd.DataFrame({"torque [Nm]": [display.x[3]], "speed": [display.y[20]], "fixed": [7.0]})
    assert display.distances[20, 3] == pytest.approx(-model.score_samples(row)[0], rel=1e-12)
    with pytest.raises(ValueError, match="two different"):
        RegionsDisplay.from_estimator(model, features=(1, "speed"))
    with pytest.raises(ValueError, match="no feature 'sped'"):
        RegionsDisplay.from_estimator(model, features=(0, "sped"))
    with pytest.raises(ValueError, match="numbered 0 to 2"):
        FoldMapDisplay.from_estimator(model, 3)


@pytest.mark.parametrize(
    "values",
    [[0.0, 1.0], [5.0, 5.0], [1e-308, -3e-308], [1e307, -1e307]],
    ids=["two values", "one value", "tiny", "huge"],
)
@pytest.mark.parametrize("threshold", [1.0, 0.0])
def test_odd_columns_are_drawn_without_a_warning(values, threshold):
    model = REF(threshold=threshold).fit(np.tile(values, 30)[:, None])
    FoldMapDisplay.from_estimator(model, 0).figure_.canvas.draw()


def test_bars_are_the_limits_in_ranges_and_the_text_in_units(model, X):
    display = LimitsDisplay.from_estimator(model, X)
    limit = display.limits["torque [Nm]"]
    wide, narrow = display.ax_.containers
    for bars, key in ((wide, "90"), (narrow, "50")):
        up, down = (limit.relative(getattr(limit, f"{way}_{key}")) for way in ("up", "down"))
        assert bars[0].get_x() == pytest.approx(-down)
        assert bars[0].get_width() == pytest.approx(up + down)
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[1] == f"+{limit.up_90:.4g} Nm"
    assert wide[2].get_width() == 0.0  # a constant column has no range to compare with


def test_what_is_never_noticed_is_a_bar_to_the_edge(X):
    display = LimitsDisplay.from_estimator(REF(fold="cos").fit(X))
    assert [text.get_text() for text in display.ax_.texts[:2]] == ["never", "never"]
    assert display.ax_.patches[0].get_width() == 4.0


@pytest.mark.parametrize("alpha", [None, 0.05])
def test_a_comparison_has_a_point_for_each_row_and_both_limits(X, alpha):
    old, new = REF(alpha=alpha).fit(X.iloc[:200]), REF(alpha=0.1).fit(X.iloc[200:])
    found = compare(old, new, X)
    display = comparison(found)
    same, turned = (points.get_offsets() for points in display.ax_.collections)
    assert (len(same), len(turned)) == (400 - found.n_changed, found.n_changed)
    limits = [0.05, 0.1] if alpha else [1.0, 1.0]
    across, up = display.ax_.lines
    assert [across.get_xdata()[0], up.get_ydata()[0]] == limits
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    outlier = same < limits
    if not alpha:  # distances: far out is large
        outlier = same > limits
    assert (outlier[:, 0] == outlier[:, 1]).mean() > 0.98
    again = ComparisonDisplay.from_estimators(old, new, X, ax=Figure().subplots())
    assert again.comparison.n_changed == found.n_changed


def test_regions_of_a_model_with_a_context_are_in_standard_deviations():
    rng, machine = np.random.default_rng(0), np.arange(600) % 6
    columns = {"machine": [f"M{k}" for k in machine], "heat": 50.0 * machine}
    rows = pd.DataFrame(columns).assign(flow=rng.normal(size=600))
    rows["heat"] += rng.normal(size=600)
    display = RegionsDisplay.from_estimator(
        Detector(by="machine").fit(rows), rows, features=("heat", "flow"), resolution=20
    )
    assert display.names[0] == "heat, standard deviations from what was expected"
    assert np.abs(display.x).max() < 10.0

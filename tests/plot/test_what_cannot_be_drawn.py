"""A picture that cannot be drawn is refused in a sentence, before a figure is made."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refold import REF, Detector
from refold.plot import DistancesDisplay, FoldMapDisplay, LevelsDisplay, RegionsDisplay


@pytest.fixture(autouse=True)
def quiet():
    mpl.use("Agg")
    pyplot.close("all")
    yield
    pyplot.close("all")


@pytest.fixture
def X(rng):
    return pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])


@pytest.fixture
def mixed(X, rng):
    return Detector(method="ref").fit(X.assign(machine=rng.choice(list("AB"), 200)))


@pytest.mark.parametrize("display", [DistancesDisplay, LevelsDisplay])
def test_labels_of_other_rows_are_refused(display, X):
    with pytest.raises(ValueError, match=r"y has shape \(3,\); X has 200 rows"):
        display.from_estimator(REF().fit(X), X, [1, 1, -1])
    assert not pyplot.get_fignums()


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda model: RegionsDisplay.from_estimator(model), "learned more than numbers"),
        (lambda model: FoldMapDisplay.from_estimator(model, "a"), "A Detector has no|more than"),
    ],
)
def test_a_model_of_more_than_numbers_has_no_such_picture(draw, said, mixed):
    with pytest.raises(TypeError, match=said):
        draw(mixed)
    assert not pyplot.get_fignums()


def test_levels_of_a_pipeline_are_those_of_its_last_step(X):
    model = make_pipeline(StandardScaler(), REF()).fit(X)
    drawn = LevelsDisplay.from_estimator(model, X)
    alone = LevelsDisplay.from_estimator(model[-1], model[:-1].transform(X))
    np.testing.assert_array_equal(drawn.accepted, alone.accepted)


def test_known_labels_colour_the_rows_and_not_the_verdicts(X):
    y = np.where(np.arange(200) < 50, -1, 1)
    drawn = DistancesDisplay.from_estimator(REF().fit(X), X, y)
    _, labels = drawn.ax_.get_legend_handles_labels()
    assert {"normal rows", "outliers"} <= set(labels)
    assert np.count_nonzero(~drawn.is_normal) == 50

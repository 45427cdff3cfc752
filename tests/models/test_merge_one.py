"""A model merged with nothing is itself, and of several the one that does not fit is named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from refold import REF, CreasedREF, Detector, merge


@pytest.fixture
def frame(rng):
    kind = rng.choice(["a", "b", "c"], 400)
    heat = rng.normal(size=400) + 3.0 * (kind == "a")
    return pd.DataFrame({"heat": heat, "flow": rng.normal(size=400), "kind": kind})


MAKES = {
    "REF": REF(engine="sketch"),
    "REF, trimmed": REF(engine="sketch", trim=0.1),
    "CreasedREF": CreasedREF(n_creases=16, n_init=100),
    "CreasedREF, trimmed": CreasedREF(n_creases=16, n_init=100, trim=0.1),
    "Detector": Detector(method="ref", n_jobs=1),
    "Detector, creased": Detector(n_jobs=1),
    "Detector by": Detector(method="ref", by="kind", n_jobs=1),
    "Detector, trimmed": Detector(method="ref", trim=0.1, n_jobs=1),
}


def columns_of(name, frame):
    return frame if name.startswith("Detector") else frame[["heat", "flow"]]


@pytest.mark.filterwarnings("ignore::refold.RateWarning")
@pytest.mark.parametrize("name", MAKES)
def test_a_model_merged_with_nothing_judges_as_it_did(name, frame):
    rows = columns_of(name, frame)
    model = MAKES[name].fit(rows)
    alone = merge(model)
    assert alone is not model
    assert alone.dropped_.tolist() == []
    new = rows.sample(100, random_state=0).assign(heat=lambda rows: rows["heat"] + 0.3)
    np.testing.assert_allclose(alone.score_samples(new), model.score_samples(new), rtol=1e-9)
    np.testing.assert_array_equal(alone.predict(new), model.predict(new))
    assert alone.get_params() == model.get_params()
    said = alone.accept(new[:1]).merge()
    assert len(said.feedback_) == 1
    np.testing.assert_allclose(said.score_samples(new), alone.score_samples(new), rtol=1e-9)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", ["CreasedREF", "Detector"])
def test_the_model_that_does_not_fit_is_called_by_its_number(name, place, frame):
    rows = columns_of(name, frame)
    model = MAKES[name].fit(rows)
    models = [model, model.empty_like().partial_fit(rows), model]
    models[place] = clone(model).partial_fit(rows[:50])
    with pytest.raises(ValueError, match=f"Model {place} has learned 50 of"):
        merge(*models)


def test_models_of_other_creases_columns_or_kinds_are_called_by_their_number(frame):
    rows = frame[["heat", "flow"]]
    one, other = (CreasedREF(n_creases=16, random_state=k).fit(rows) for k in (0, 1))
    with pytest.raises(ValueError, match="Models 0 and 2 have different creases"):
        merge(one, one, other)
    with pytest.raises(ValueError, match="Models 0 and 1 are of different kinds"):
        merge(one, REF(engine="sketch").fit(rows))
    text, number = (
        Detector(method="ref", n_jobs=1).fit(frame.assign(flow=flow))
        for flow in (frame["kind"], frame["flow"])
    )
    with pytest.raises(ValueError, match=r"Models 0 and 2 take columns for .* things: .*'flow'"):
        merge(number, number, text)

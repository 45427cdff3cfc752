"""What a Detector notices is said once, and of the user's columns."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector, RateWarning

KINDS = {"absurd-cell", "single-value", "too-few-rows"}


def noticed(frame, **options):
    model = Detector(alpha=0.05, n_jobs=1, **options).fit(frame)
    return sorted((f.kind, f.column) for f in model.noticed_ if f.kind in KINDS)


@pytest.fixture
def frame(rng):
    """A category between numbers: these are counted without it."""
    numbers = rng.normal(size=(400, 3))
    return pd.DataFrame(
        {
            "heat": numbers[:, 0],
            "kind": rng.choice(["a", "b"], 400),
            "flow": numbers[:, 1],
            "load": numbers[:, 2],
        }
    )


@pytest.mark.filterwarnings("ignore::refold.RateWarning")
@pytest.mark.parametrize("method", ["creased", "ref"])
@pytest.mark.parametrize("mixed", [False, True])
def test_each_thing_is_said_once_of_its_column(method, mixed, frame):
    frame = frame if mixed else frame.drop(columns="kind")
    assert noticed(frame, method=method) == []
    frame.loc[7, "flow"] = 1e4
    frame["load"] = np.where(np.arange(400) == 9, 3.0, np.nan)
    expected = [("absurd-cell", "flow"), ("single-value", "load")]
    adds_up = method == "ref" and mixed  # a cell adds to its own column alone
    assert noticed(frame, method=method) == expected[adds_up:]


@pytest.mark.filterwarnings("ignore::refold.RateWarning")
@pytest.mark.parametrize(("rows", "columns", "said"), [(30, 12, True), (400, 2, False)])
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_too_few_rows_are_said_of_mixed_tables_too(method, rows, columns, said, rng):
    frame = pd.DataFrame(rng.normal(size=(rows, columns))).add_prefix("c")
    frame["kind"] = rng.choice(["a", "b"], rows)
    assert (("too-few-rows", None) in noticed(frame, method=method)) == said


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_one_warning_is_given_however_many_models_are_inside(method, rng):
    with pytest.warns(RateWarning, match="The threshold rests on") as said:
        Detector(method=method, alpha=0.05, n_jobs=1).fit(rng.normal(size=(30, 12)))
    assert len(said) == 1

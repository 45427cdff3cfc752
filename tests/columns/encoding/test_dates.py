"""Dates that run on from row to row: new ones are later, none is earlier."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector


@pytest.mark.parametrize("method", ["auto", "ref"])
@pytest.mark.parametrize("newest_first", [False, True])
def test_in_a_log_an_earlier_date_is_far_out_and_a_later_one_is_not(method, newest_first):
    when = pd.Series(pd.date_range("2026-01-05", periods=600, freq="h"))
    heat = np.random.default_rng(0).normal(20.0, 1.0, 600)
    log = pd.DataFrame({"when": when[::-1] if newest_first else when, "heat": heat})
    model = Detector(method=method).fit(log)
    assert [found.kind for found in model.noticed_] == ["running-time"]
    usual = pd.DataFrame({"when": [when[0], when[500]], "heat": 20.0})
    new = usual.assign(
        when=[when[0] - pd.DateOffset(years=100), when[500] + pd.DateOffset(days=70)]
    )
    assert model.predict(usual).tolist() == [1, 1]
    assert model.predict(new).tolist() == [-1, 1]
    assert "1926-01-05" in model.explain(new)[0].sentence()

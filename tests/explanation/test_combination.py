"""An outlier whose columns say little by themselves: those odd together are named."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector, explain, incidents
from refold.report import describe


@pytest.fixture(scope="module")
def twins():
    """Two columns that are nearly equal, never near zero; the others have nothing to do with it."""
    rng = np.random.default_rng(0)
    p = rng.choice([-3.0, 3.0], 900) + rng.normal(0.0, 0.3, 900)
    q = p + rng.normal(0.0, 0.02, 900)
    return pd.DataFrame({"p": p, "q": q, **{name: rng.normal(size=900) for name in "rst"}})


@pytest.mark.parametrize("kind", [None, "a"], ids=["numbers", "mixed"])
@pytest.mark.parametrize("reasons", [None, 1])
def test_the_columns_of_a_combination_are_named(twins, kind, reasons):
    row = pd.DataFrame({"p": [0.01], "q": [0.02], "r": [0.1], "s": [0.1], "t": [0.0]})
    if kind is not None:
        row["kind"] = kind
        twins = twins.assign(kind=np.random.default_rng(1).choice(["a", "b"], len(twins)))
    (found,) = explain(Detector().fit(twins), row, reasons=reasons, nearest=False)
    assert (found.label, found.together) == (-1, True)
    assert {reason.feature for reason in found.combination} == {"p", "q"}
    assert found.sentence().startswith("unusual only together: ")
    assert found.to_dict()["combination"] == [reason.feature for reason in found.combination]


def test_without_its_combination_a_row_is_normal_and_without_less_it_is_not(twins):
    kind = np.random.default_rng(1).choice(["a", "b"], len(twins))
    model = Detector().fit(twins.assign(kind=kind))
    row = pd.DataFrame({"p": [0.0], "q": [0.0], "r": [0.1], "s": [0.1], "t": [0.0], "kind": ["a"]})
    named = [reason.feature for reason in explain(model, row, nearest=False)[0].combination]
    gap = 10.0  # what a first missing value adds to the distance
    distances = -model.score_samples(
        pd.concat([row.assign(**dict.fromkeys(left, np.nan)) for left in (named, ["p"], ["q"])])
    )
    assert distances[0] < 2.0 * gap + 1.0
    assert distances[1:].min() > gap + 20.0


def test_a_column_that_is_alone_is_no_combination():
    model = Detector().fit([{"x": value % 50} for value in range(600)])
    (found,) = explain(model, [{"x": 900}], reasons=1)
    assert (found.together, found.combination) == (False, ())


def test_the_report_and_an_incident_name_the_combination(twins):
    model = Detector().fit(twins)
    row = pd.DataFrame({"p": [0.01], "q": [0.02], "r": [0.1], "s": [0.1], "t": [0.0]})
    (worst,) = describe(model, row).worst
    assert worst.together
    assert {reason.feature for reason in worst.reasons} == {"p", "q"}
    (incident,) = incidents(model, row)
    assert set(incident.columns) == {"p", "q"}

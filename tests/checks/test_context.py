"""Limits, comparisons and drift of models that judge rows by their group, time or other columns."""

import numpy as np
import pandas as pd
import pytest

import refold
from refold import Detector

SPREADS = {"calm": 0.5, "usual": 1.0, "rough": 4.0}


def fleet(each, seed):
    """Rows of machines whose levels lie far apart and whose spreads are known."""
    rng = np.random.default_rng(seed)
    names = [f"{kind}{k}" for kind in SPREADS for k in range(8)]
    level = np.linspace(100.0, 900.0, len(names))
    spread = np.repeat([*SPREADS.values()], 8)
    machine = np.repeat(np.arange(len(names)), each)
    return pd.DataFrame(
        {
            "machine": np.array(names)[machine],
            "heat": level[machine] + spread[machine] * rng.normal(size=len(machine)),
            "flow": rng.lognormal(2.0, 0.2, size=len(machine)),
        }
    )


@pytest.fixture(scope="module")
def model():
    return Detector(by="machine", alpha=0.02).fit(fleet(100, 0))


@pytest.fixture(scope="module")
def found(model):
    return refold.limits(model)


@pytest.mark.parametrize("column", ["heat", "flow"])
@pytest.mark.parametrize(("key", "sign"), [("up_90", 1.0), ("down_90", -1.0)])
def test_rows_that_are_moved_by_the_limit_of_their_group_are_rejected(
    model, found, column, key, sign
):
    new = fleet(40, 1)
    new = new[model.predict(new) == 1]
    shift = new["machine"].map({name: getattr(g[column], key) for name, g in found.groups.items()})
    assert (model.predict(new.assign(**{column: new[column] + sign * shift})) == -1).mean() > 0.8
    half = new.assign(**{column: new[column] + sign * 0.3 * shift})
    assert (model.predict(half) == -1).mean() < 0.3


def test_a_rough_machine_hides_more_than_a_calm_one(found):
    means = {
        kind: np.mean([found.groups[f"{kind}{k}"]["heat"].up_90 for k in range(8)])
        for kind in SPREADS
    }
    assert means["rough"] / means["usual"] == pytest.approx(4.0, rel=0.3)
    assert means["usual"] / means["calm"] == pytest.approx(2.0, rel=0.3)
    assert "heat, up 90 % by group: " in str(found)
    assert len(found.to_dict()["groups"]) == 24


def test_limits_are_in_the_unit_of_the_column(found):
    assert found["heat"].low < 105.0
    assert found["heat"].high > 890.0
    assert 1.0 < found["heat"].up_50 < 20.0  # of the spread of one machine, not of the fleet


def test_the_rows_of_one_machine_have_the_limits_of_this_machine(model, found):
    rows = fleet(60, 2)
    own = refold.limits(model, rows[rows["machine"] == "rough3"])
    assert own["heat"].up_90 == pytest.approx(found.groups["rough3"]["heat"].up_90, rel=0.3)
    assert [*own.groups] == ["rough3"]


def test_a_model_with_groups_beside_one_without():
    training, new = fleet(100, 0), fleet(10, 3)
    plain, by = Detector(alpha=0.02).fit(training), Detector(by="machine", alpha=0.02).fit(training)
    new.loc[new["machine"] == "calm4", "heat"] += 100.0
    compared = refold.compare(plain, by, new)
    assert compared.normal_outlier >= 8
    row = compared.changed_rows[0]
    assert row.reasons[0].feature == "heat"
    assert "for machine calm4" in str(row)
    remarks = {column.name: column.remarks() for column in compared.columns}
    assert remarks["machine"] == ["a category to old, part of the context to new"]
    assert remarks["heat"] == []  # numbers and deviations are not compared as units


def test_equal_models_with_a_context_change_nothing(model):
    same = refold.compare(model, model, fleet(20, 4))
    assert same.normal_outlier == same.outlier_normal == 0
    assert same.same_distances


def test_a_table_without_the_group_is_refused_by_name(model):
    with pytest.raises(ValueError, match="X has no column 'machine', which old needs"):
        refold.compare(model, model, fleet(20, 4).drop(columns="machine"))


def test_other_machines_than_usual_are_no_drift_and_a_moved_machine_is(model):
    rows = fleet(60, 5)
    calm = rows[rows["machine"].str.startswith("calm")]  # heat is far from the fleet's median
    assert refold.drift(model, calm).verdict == "same"
    moved = refold.drift(model, calm.assign(heat=calm["heat"] + 0.5))
    assert moved.verdict == "changed"
    assert moved.features[0].scored
    assert moved.features[0].shift == pytest.approx(1.0, abs=0.3)  # a spread of 0.5
    assert "standard deviations from what was expected" in str(moved)

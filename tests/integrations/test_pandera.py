"""pandera reports the rows that refold score finds; a schema's limits are rules of a Detector."""

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins

import refold
from refold.integrations.pandera import normal_rows, rules_of, schema_of


@pytest.fixture
def pa():
    import pandera.pandas

    return pandera.pandas


def failing(pa, schema, frame):
    """Return the places of the rows that a schema finds fault with."""
    with pytest.raises(pa.errors.SchemaErrors) as caught:
        schema.validate(frame, lazy=True)
    return sorted(caught.value.failure_cases["index"].unique().tolist())


def test_the_rows_that_fail_are_the_outliers_of_refold_score(faulty, pa):
    schema = schema_of(faulty.model)
    assert failing(pa, schema, faulty.frame) == faulty.outliers
    further = pa.DataFrameSchema(checks=normal_rows(refold.load(faulty.model)))
    frame = faulty.frame.assign(further=1).set_index(np.arange(344) + 1000)
    assert failing(pa, further, frame) == [row + 1000 for row in faulty.outliers]


def test_normal_rows_pass_and_none_at_all_too(faulty, pa):
    schema = schema_of(faulty.model)
    normal = faulty.frame.drop(index=faulty.outliers)
    pd.testing.assert_frame_equal(schema.validate(normal), normal)
    assert len(schema.validate(normal.head(0))) == 0


def test_a_column_that_is_not_there_is_named(faulty, pa):
    with pytest.raises(pa.errors.SchemaError, match="island"):
        schema_of(faulty.model).validate(faulty.frame.drop(columns="island"))


def test_the_limits_of_a_schema_judge_as_the_schema_does(pa):
    penguins = load_penguins().drop(columns="year")
    check = pa.Check
    schema = pa.DataFrameSchema(
        {
            "body_mass_g": pa.Column(float, [check.gt(2500), check.le(6300)], nullable=True),
            "bill_depth_mm": pa.Column(
                float, check.in_range(10, 21.5, include_min=False), nullable=True
            ),
            "island": pa.Column(str, check.isin(["Biscoe", "Dream", "Torgersen"])),
            "sex": pa.Column(str, check.str_matches("^[a-z]+$"), nullable=True),
        }
    )
    rules = rules_of(schema)
    assert rules["island"] == {"allowed": ["Biscoe", "Dream", "Torgersen"], "required": True}
    assert "sex" not in rules
    model = refold.Detector(rules=rules).fit(penguins)
    new = penguins.head(8).reset_index(drop=True)
    new = new.astype({"island": object})
    new.loc[0, "body_mass_g"], new.loc[1, "body_mass_g"] = 2500.0, 2500.0001
    new.loc[2, "body_mass_g"], new.loc[3, "bill_depth_mm"] = 6300.5, 10.0
    new.loc[4, "island"] = "Mars"
    broken = failing(pa, schema, new)
    assert broken == [0, 2, 3, 4]
    outside = [one.row for one in model.explain(new) if "you" in one.sentence() and one.label == -1]
    assert outside == broken


def test_two_limits_of_a_column_both_hold(pa):
    column = pa.Column(
        float, [pa.Check.ge(0), pa.Check.ge(1), pa.Check.lt(9), pa.Check.le(20)], nullable=True
    )
    found = rules_of(pa.DataFrameSchema({"x": column}))["x"]
    assert found == {"min": 1, "max": np.nextafter(9.0, 0.0)}

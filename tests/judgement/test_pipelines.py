"""Pipelines that end in one of refold's models: the same verdicts, in the table's own words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from refold import REF, CreasedREF, Detector, TableEncoder, drift, explain
from refold.judgement import Judge, Judgement, unwrapped

NUMBERS = ["heat", "flow", "load"]
MODELS = [REF(alpha=0.05), REF(engine="sketch"), CreasedREF(n_creases=32, alpha=0.05)]


def table(rows, seed):
    rng = np.random.default_rng(seed)
    heat = np.round(rng.normal(70.0, 2.0, rows), 1)
    return pd.DataFrame(
        {
            "heat": heat,
            "flow": np.round(0.1 * heat + rng.normal(size=rows), 3),
            "load": rng.choice([0.1, 0.7, 1000.3], rows),
            "island": rng.choice(["Dream", "Biscoe", "Torgersen"], rows),
        }
    )


@pytest.fixture
def normal():
    return table(600, 0)


@pytest.fixture
def new():
    rows = table(100, 1)
    rows.loc[3, "flow"] = 40.0
    rows.loc[5, "heat"] = np.nan
    return rows


SCALERS = [
    (StandardScaler(),),
    (StandardScaler(with_mean=False),),
    (MinMaxScaler((-3, 5)),),
    (MaxAbsScaler(), RobustScaler()),
    ("passthrough", FunctionTransformer(), StandardScaler(), VarianceThreshold()),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("steps", SCALERS, ids=repr)
def test_verdicts_are_the_pipeline_s_and_values_the_table_s(model, steps, normal, new):
    pipeline = make_pipeline(*steps, model).fit(normal[NUMBERS])
    found = Judgement.of(pipeline, new[NUMBERS])
    np.testing.assert_array_equal(found.labels, pipeline.predict(new[NUMBERS]))
    np.testing.assert_array_equal(found.distances, -pipeline.score_samples(new[NUMBERS]))
    assert found.names == tuple(NUMBERS)
    np.testing.assert_array_equal(found.rows, new[NUMBERS])
    # What is asked of changed rows is answered in these units too, up to rounding.
    np.testing.assert_allclose(found.judge.rows(found.rows).distances, found.distances, rtol=1e-9)
    if model.get_params().get("engine") != "sketch":
        summary = unwrapped(pipeline).summary_
        np.testing.assert_allclose(summary.high, normal[NUMBERS].max(), rtol=1e-12)
        np.testing.assert_allclose(summary.box.low, normal[NUMBERS].min(), rtol=1e-12)
        assert summary.box.levels[2].tolist() == [0.1, 0.7, 1000.3]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_reasons_are_those_of_the_same_model_without_scaling(model, normal, new):
    scaled = unwrapped(make_pipeline(StandardScaler(), model).fit(normal[NUMBERS]))
    (reason,) = explain(scaled, Judgement.of(scaled, new[NUMBERS][3:4]), reasons=1)[0].reasons
    assert (reason.feature, reason.value) == ("flow", 40.0)
    plain = model.fit(normal[NUMBERS])
    (expected,) = explain(plain, new[NUMBERS][3:4], reasons=1)[0].reasons
    assert reason.feature == expected.feature
    np.testing.assert_allclose(reason.normal, expected.normal, rtol=0.01)
    assert reason.accepted_at < 40.0


def test_the_original_model_is_not_changed(normal):
    pipeline = make_pipeline(StandardScaler(), CreasedREF(n_creases=32)).fit(normal[NUMBERS])
    before = pipeline.score_samples(normal[NUMBERS])
    again = unwrapped(pipeline)
    np.testing.assert_allclose(again.training_sample()[:, 0].max(), normal["heat"].max())
    np.testing.assert_array_equal(pipeline.score_samples(normal[NUMBERS]), before)
    assert pipeline[-1].summary_.high.max() < 10.0
    assert unwrapped(again) is again


def test_categories_are_called_by_their_column_and_value(normal, new):
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore", drop=["Biscoe"])
    columns = make_column_transformer(
        (encoder, ["island"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["flow", "heat"]),
        remainder="passthrough",
    )
    pipeline = make_pipeline(columns, REF()).fit(normal)
    found = Judgement.of(pipeline, new)
    assert found.names == ("island = 'Dream'", "island = 'Torgersen'", "flow", "heat", "load")
    np.testing.assert_array_equal(found.rows[:, 2], new["flow"])
    np.testing.assert_array_equal(found.rows[:, 4], new["load"])
    np.testing.assert_array_equal(found.rows[:, 0], new["island"] == "Dream")
    np.testing.assert_array_equal(found.labels, pipeline.predict(new))
    assert explain(unwrapped(pipeline), found)[3].reasons[0].feature == "flow"


def test_what_is_no_column_any_more_has_the_name_that_its_step_gives(normal, new):
    components = make_pipeline(StandardScaler(), PCA(2), REF()).fit(normal[NUMBERS])
    assert Judgement.of(components, new[NUMBERS].dropna()).names == ("pca0", "pca1")
    bent = make_pipeline(PowerTransformer(), REF()).fit(normal[NUMBERS])
    assert Judge.of(bent).names[0] == "PowerTransformer(heat)"
    clipped = make_pipeline(MinMaxScaler(clip=True), REF()).fit(normal[NUMBERS])
    assert Judge.of(clipped).names[0] == "MinMaxScaler(heat)"
    own = make_pipeline(FunctionTransformer(np.log1p, validate=True), REF())
    own.fit(np.abs(normal[["heat"]].to_numpy()))
    assert Judge.of(own).names == ("x0",)
    twice = ColumnTransformer([("a", "passthrough", ["heat"]), ("b", StandardScaler(), ["heat"])])
    assert Judge.of(make_pipeline(twice, REF()).fit(normal)).names == ("heat (1)", "heat (2)")


def test_pipelines_within_pipelines_and_arrays_are_followed(normal, new):
    X, Y = normal[NUMBERS].to_numpy(), new[NUMBERS].to_numpy()
    inner = make_pipeline(StandardScaler(), REF())
    pipeline = make_pipeline(make_pipeline(MinMaxScaler()), inner).fit(X)
    found = Judgement.of(pipeline, Y)
    assert found.names == ("x0", "x1", "x2")
    np.testing.assert_array_equal(found.rows, Y)
    np.testing.assert_array_equal(found.distances, -pipeline.score_samples(Y))
    alone = make_pipeline(REF()).fit(X)
    assert unwrapped(alone) is alone[-1]


def test_tables_go_through_steps_to_a_detector(normal, new):
    first = FunctionTransformer(lambda X: X.rename(columns={"heat": "temperature"}))
    pipeline = make_pipeline(first, Detector(method="ref")).fit(normal)
    found = Judgement.of(pipeline, new)
    assert found.names == ("temperature", "flow", "load", "island")
    np.testing.assert_array_equal(found.labels, pipeline.predict(new))
    assert drift(pipeline, new).features[3].kind == "category"
    encoded = make_pipeline(TableEncoder(), REF()).fit(normal)
    assert Judge.of(encoded).names[-1] == "surprise(island)"


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_drift_of_a_pipeline_is_that_of_the_table(model, normal):
    pipeline = make_pipeline(StandardScaler(), model).fit(normal[NUMBERS])
    same = drift(pipeline, normal[NUMBERS])
    assert [feature.distance for feature in same.features] == [0.0, 0.0, 0.0]
    later = table(600, 2)[NUMBERS]
    later["heat"] += 3.0
    found = drift(pipeline, later)
    assert found.verdict == "changed"
    assert found.features[0].shift == pytest.approx(3.0, abs=0.3)


def test_what_cannot_be_judged_is_refused_in_words(normal):
    with pytest.raises(NotFittedError):
        Judgement.of(make_pipeline(StandardScaler(), REF()), normal[NUMBERS])
    other = make_pipeline(StandardScaler(), IsolationForest(n_estimators=5)).fit(
        normal[NUMBERS].to_numpy()
    )
    with pytest.raises(TypeError, match=r"ends in a IsolationForest: .* such as REF"):
        Judgement.of(other, normal[NUMBERS])
    nothing = Pipeline([("scale", StandardScaler())]).fit(normal[NUMBERS])
    with pytest.raises(TypeError, match="ends in a StandardScaler"):
        unwrapped(nothing)

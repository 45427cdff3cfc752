"""Other ways to store a model, alone and in a pipeline: pickle, joblib, cloudpickle, skops."""

import io
import pickle
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refold import REF, CreasedREF, Detector, TableEncoder
from refold.models import model_mixin
from tests.modelfile.conftest import fitted
from tests.modelfile.test_detector import mixed

# What docs/modelfile.md tells a reader to trust.
TRUSTED = [
    "refold.base.advice.Advice",
    "refold.base.findings.Finding",
    "refold.columns.box.Box",
    "refold.columns.extremes.CountedValues",
    "refold.columns.extremes.ColumnExtremes",
    "refold.models.creased.known.KnownRows",
    "refold.models.creased.drawing.RankGauss",
    "refold.algorithm.chain.FoldChain",
    "refold.models.learned.FromRows",
    "refold.models.learned.FromSketch",
    "refold.models.ref.REF",
    "refold.columns.summary.Summary",
    "refold.decisions.rules.ColumnRule",
    "refold.decisions.rules.Condition",
    "refold.decisions.rules.Mute",
    "refold.decisions.rules.Rules",
    "refold.decisions.rules.Specification",
    "refold.decisions.rules.Tolerance",
    "refold.decisions.thresholds.Calibration",
    "refold.algorithm.engines.sketch.Histogram",
    "refold.algorithm.engines.sketch.Sketch",
    "refold.models.creased.creases.Creases",
    "refold.models.creased.estimator.CreasedREF",
    "refold.models.creased.leverage.Leverage",
    "refold.models.creased.row_sample.Sample",
    "refold.models.creased.scoring.Learned",
    "refold.models.creased.scoring.Scoring",
    "refold.models.creased.state.Recipe",
    "refold.models.creased.state.TrainingState",
    "refold.models.creased.leverage.Sums",
    "refold.columns.date_form.DateForm",
    "refold.columns.context.context.ContextColumns",
    "refold.columns.encoding.counts.TableCounts",
    "refold.columns.encoding.dates.DateCounts",
    "refold.columns.encoding.dependence.ContingencyTable",
    "refold.columns.encoding.encoder.TableEncoder",
    "refold.columns.encoding.numbers.NumberCounts",
    "refold.columns.encoding.plan.ColumnPlan",
    "refold.columns.encoding.plan.Plan",
    "refold.columns.encoding.state.TableState",
    "refold.columns.encoding.surprise.Surprise",
    "refold.columns.encoding.value_counts.ValueCounts",
    "refold.columns.encoding.texts.Characters",
    "refold.columns.encoding.texts.TextCounts",
    "refold.columns.number_form.NumberForm",
    "refold.columns.missing.SourceFormat",
    "refold.columns.table.DateColumn",
    "refold.columns.table.NumberColumn",
    "refold.columns.table.Table",
    "refold.columns.table.TextColumn",
    "refold.models.creased.reasons.CreasedScorer",
    "refold.models.detector.estimator.Detector",
    "refold.models.detector.learned.Inside",
    "refold.models.detector.learned.LearnedTable",
    "refold.models.detector.learned.RowSample",
    "refold.models.detector.scorer.MeanScorer",
    "refold.models.detector.scorer.TableScorer",
    "refold.models.scoring.FoldScorer",
]


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def through_skops(model):
    return skops.io.loads(skops.io.dumps(model), trusted=TRUSTED)


WAYS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "joblib": through_joblib,
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
    "skops": through_skops,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", ["calibrated", "weights", "reference", "sketch", "stream"])
def test_a_model_comes_back(way, make, rows):
    model = fitted(make, rows)
    model.__dict__.pop("feature_names_in_", None)
    model.predict(rows)  # fills what is derived and cached
    loaded = WAYS[way](model)
    for method in ("score_samples", "contributions", "trace"):
        np.testing.assert_array_equal(getattr(loaded, method)(rows), getattr(model, method)(rows))
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.summary_.quantiles, model.summary_.quantiles)
    if hasattr(model, "calibration_"):
        np.testing.assert_array_equal(loaded.p_values(rows), model.p_values(rows))
    if hasattr(model, "sketch_"):
        ours, theirs = (one.partial_fit(rows).score_samples(rows) for one in (model, loaded))
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("way", WAYS)
def test_a_pipeline_comes_back(way, rows):
    pipeline = make_pipeline(StandardScaler(), REF()).fit(rows)
    np.testing.assert_array_equal(
        WAYS[way](pipeline).score_samples(rows), pipeline.score_samples(rows)
    )


def test_skops_asks_for_no_other_types_than_the_documented(rows):
    models = [fitted(make, rows) for make in ("calibrated", "sketch", "reference")]
    asked = set()
    models += [CreasedREF(n_creases=16).fit(rows), TableEncoder().fit(mixed(100))]
    models += [Detector(method=method).fit(mixed(100)) for method in ("creased", "ref")]
    models += [Detector(method="ref").fit(rows), Detector().partial_fit(mixed(100))]
    rules = {"x0": {"tolerance": 1.0, "max": 1e9, "mute": "x1 = 5"}}
    models += [Detector(method="ref", rules=rules).fit(rows)]
    for model in models:
        if isinstance(model, Detector):
            model.scorer()  # fills what is derived and cached
        asked |= set(skops.io.get_untrusted_types(data=skops.io.dumps(model)))
    assert asked == set(TRUSTED)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_a_creased_model_comes_back(way, learn, rows):
    model = getattr(CreasedREF(n_creases=16, n_init=1000), learn)(rows)
    expected = model.score_samples(rows)
    np.testing.assert_array_equal(WAYS[way](model).score_samples(rows), expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["creased", "ref"])
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_a_detector_comes_back_and_goes_on(way, learn, method):
    model = getattr(Detector(method=method), learn)(mixed(200))
    expected = model.score_samples(mixed(50, 1))
    loaded = WAYS[way](model)
    np.testing.assert_array_equal(loaded.score_samples(mixed(50, 1)), expected)
    for one in (model, loaded):
        one.partial_fit(mixed(50, 2))
    np.testing.assert_array_equal(
        loaded.score_samples(mixed(50, 1)), model.score_samples(mixed(50, 1))
    )


@pytest.mark.parametrize("way", WAYS)
def test_an_encoder_in_a_pipeline_comes_back(way):
    table = mixed(200)
    pipeline = make_pipeline(TableEncoder(), REF()).fit(table)
    np.testing.assert_array_equal(
        WAYS[way](pipeline).score_samples(table), pipeline.score_samples(table)
    )


def test_the_documents_say_what_to_trust():
    text = (Path(__file__).parents[2] / "docs" / "modelfile.md").read_text(encoding="utf-8")
    assert all(f'"{name}"' in text for name in TRUSTED)


@pytest.mark.parametrize("model", [REF(), CreasedREF(n_creases=16)])
def test_a_pickle_of_another_series_of_versions_is_refused_in_words(model, rows, monkeypatch):
    model.fit(rows)
    monkeypatch.setattr(model_mixin, "VERSION", "1.2.3")
    pickled = pickle.dumps(model)
    monkeypatch.setattr(model_mixin, "VERSION", "1.9.0")
    np.testing.assert_array_equal(pickle.loads(pickled).predict(rows), model.predict(rows))
    assert vars(pickle.loads(pickled)).keys() == vars(model).keys()
    monkeypatch.setattr(model_mixin, "VERSION", "2.0.0")
    with pytest.raises(ValueError, match=r"by refold 1\.2\.3, which version 2\.0\.0 cannot"):
        pickle.loads(pickled)

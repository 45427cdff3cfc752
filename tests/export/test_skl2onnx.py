"""Pipelines that end in REF convert through skl2onnx."""

import numpy as np
import onnxruntime
import pytest
import skl2onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from refold import REF
from tests.export.test_onnx import assert_same, run, with_gaps


def test_pipeline_converts_and_gives_the_same_answers(rng):
    train, X = rng.normal(3, 5, (400, 4)), with_gaps(rng, rng.normal(3, 8, (200, 4)), 0.1)
    pipeline = make_pipeline(StandardScaler(), REF(levels="all")).fit(train)
    proto = skl2onnx.to_onnx(pipeline, X)
    assert [x.name for x in proto.graph.output] == ["label", "distance", "contributions"]
    label, distance, contributions = run(proto, X)
    np.testing.assert_array_equal(label, pipeline.predict(X))
    np.testing.assert_allclose(distance, -pipeline.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(contributions.sum(axis=1), distance, rtol=1e-12)


def test_model_alone_converts_by_convert_sklearn_under_names_of_ones_own(rng):
    model, X = REF(distance="l2").fit(rng.normal(size=(200, 3))), rng.normal(0, 2, (50, 3))
    proto = skl2onnx.convert_sklearn(
        model,
        initial_types=[("X", DoubleTensorType([None, 3]))],
        final_types=[("label", None), ("distance", None), ("contributions", None)],
    )
    assert_same(model, X, run(proto, X))


def test_float32_rows_are_judged_as_python_judges_them(rng):
    """Python computes in float64 whatever the table holds; so does the converted graph."""
    model = REF().fit(rng.normal(size=(300, 3)))
    X = rng.normal(0, 2, (200, 3)).astype(np.float32)
    label, distance, _ = run(skl2onnx.to_onnx(model, X), X)
    np.testing.assert_array_equal(label, model.predict(X))
    assert distance.dtype == np.float32
    np.testing.assert_allclose(distance, -model.score_samples(X), rtol=1e-6)


def test_one_input_per_column_converts(rng):
    model, X = REF().fit(rng.normal(size=(200, 2))), rng.normal(0, 2, (30, 2)).astype(np.float32)
    types = [(name, FloatTensorType([None, 1])) for name in "ab"]
    proto = skl2onnx.convert_sklearn(model, initial_types=types)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    label, _, contributions = session.run(None, {"a": X[:, :1], "b": X[:, 1:]})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(contributions, model.contributions(X), rtol=1e-6)


def test_two_models_in_one_process_do_not_share_constants(rng):
    X = rng.normal(size=(100, 2))
    for scale in (1.0, 10.0):
        model = REF().fit(scale * X)
        assert_same(model, X, run(skl2onnx.to_onnx(model, X), X))


def test_ref_in_front_of_another_step_is_refused(rng):
    X = rng.normal(size=(100, 2))
    with pytest.raises(ValueError, match="last step"):
        skl2onnx.to_onnx(make_pipeline(REF(), OneClassSVM()).fit(X), X)


def test_old_opsets_and_callables_are_refused(rng):
    X = rng.normal(size=(100, 2))
    with pytest.raises(ValueError, match="target_opset=13"):
        skl2onnx.to_onnx(REF().fit(X), X, target_opset=12)
    with pytest.raises(ValueError, match="Python function"):
        skl2onnx.to_onnx(REF(fold=np.abs).fit(X), X)

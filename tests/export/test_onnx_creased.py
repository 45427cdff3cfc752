"""CreasedREF in ONNX Runtime: the same labels and distances."""

import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refold import CreasedREF
from refold.export import to_onnx, to_sql


def run(proto, X):
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return dict(
        zip((o.name for o in session.get_outputs()), session.run(None, {"X": X}), strict=True)
    )


def table(rng, n, d):
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * 10.0 ** rng.integers(-3, 6, size=d)
    return X + 1e3


def assert_same_answers(model, got, X):
    expected = -model.score_samples(X)
    np.testing.assert_allclose(got["distance"], expected, rtol=1e-9)
    clear = np.abs(expected - model.threshold_) > 1e-6
    np.testing.assert_array_equal(got["label"][clear], model.predict(X)[clear])


@pytest.mark.parametrize(
    ("n", "d", "n_creases", "n_levels"),
    [(40, 3, 256, 2), (3000, 5, 64, 2), (900, 30, 100, 3), (200, 1, 10, 1), (5000, 5, 256, 2)],
    ids=["dual", "primal", "wide", "one", "quarters"],
)
def test_answers_are_those_of_python(rng, n, d, n_creases, n_levels):
    X = table(rng, n, d)
    model = CreasedREF(n_creases=n_creases, n_levels=n_levels).fit(X)
    proto = to_onnx(model)
    onnx.checker.check_model(proto, full_check=True)
    assert {node.domain for node in proto.graph.node} == {""}
    far = np.concatenate([X[:50], X[:50] + X.std(axis=0) * 5, X[:5] * 1e6])
    got = run(proto, far)
    assert list(got) == ["label", "distance"]
    assert_same_answers(model, got, far)
    assert_same_answers(model.calibrate(alpha=0.3), run(to_onnx(model), far), far)
    assert run(proto, far[:0])["label"].shape == (0,)


def test_a_changed_constant_counts_as_in_python(rng):
    X = table(rng, 300, 3)
    X[:, 1] = 7.0
    model = CreasedREF(n_creases=32).fit(X)
    new = X[:20].copy()
    new[::2, 1] = 7.1
    got = run(to_onnx(model), new)
    assert_same_answers(model, got, new)
    new[:, 1] = np.nan  # a gap in a constant column is none
    assert_same_answers(model, run(to_onnx(model), new), new)


def test_a_table_of_constants_is_exported(rng):
    X = np.tile([3.0, 0.0], (50, 1))
    model = CreasedREF(n_creases=8).fit(X)
    new = np.array([[3.0, 0.0], [3.1, 0.0]])
    assert_same_answers(model, run(to_onnx(model), new), new)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_has_no_distance_is_not_normal(rng, value):
    X = table(rng, 300, 3)
    new = X[:4].copy()
    new[1, 2] = value
    proto = to_onnx(CreasedREF(n_creases=32).fit(X))
    got = run(proto, new)
    assert np.isnan(got["distance"]).tolist() == [False, True, False, False]
    assert got["label"][1] == 0
    props = {p.key: p.value for p in proto.metadata_props}
    assert "NaN" in props["missing_values"]


def test_a_float32_graph_says_how_far_it_is_off(rng):
    X = table(rng, 500, 4)
    model = CreasedREF(n_creases=64).fit(X)
    proto = to_onnx(model, dtype="float32")
    props = {p.key: p.value for p in proto.metadata_props}
    rows = model.training_sample()
    got = run(proto, rows.astype(np.float32))
    expected = -model.score_samples(rows)
    differ = (got["label"] == 1) != (expected <= model.threshold_)
    assert float(props["float32_labels_that_differ"]) == differ.mean()
    assert float(props["float32_largest_relative_difference"]) < 0.05


def test_a_pipeline_converts(rng):
    skl2onnx = pytest.importorskip("skl2onnx")
    X = table(rng, 400, 3)
    pipeline = make_pipeline(StandardScaler(), CreasedREF(n_creases=32)).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # skl2onnx's own
        proto = skl2onnx.to_onnx(pipeline, X[:1])
    got = run(proto, X[:60])
    assert list(got) == ["label", "distance"]
    np.testing.assert_allclose(got["distance"], -pipeline.score_samples(X[:60]), rtol=1e-9)


def test_what_cannot_be_exported_is_refused(rng):
    with pytest.raises(NotFittedError):
        to_onnx(CreasedREF())
    with pytest.raises(TypeError, match="CreasedREF"):
        to_sql(CreasedREF(n_creases=8).fit(rng.normal(size=(50, 2))), "t", "duckdb")


def test_levels_cut_off_cells_and_gaps_between_them_are_outside_there_too(rng):
    X = np.column_stack([table(rng, 400, 2), rng.integers(4, size=400), np.full(400, 5.0)])
    X[7, 0] = X[:, 0].max() + 50 * np.ptp(X[:, 0])
    X[8, 0] = X[:, 0].min() - 70 * np.ptp(X[:, 0])
    model = CreasedREF(n_creases=32).fit(X)
    box = model.summary_.box
    assert len(box.apart[0].values) == 2
    assert box.levels[2] is not None
    new = X[20:90] + rng.normal(size=(70, 4)) * [1e-3, 1e-3, 0.0, 0.0]
    ends = np.array([box.low[0], box.high[0]])
    new[:20, 0] = rng.uniform(ends[0] - 80 * np.ptp(ends), ends[1] + 80 * np.ptp(ends), size=20)
    new[20:40, 2] = rng.uniform(-1, 5, size=20)
    new[40:50, 3] = 5.0 + rng.normal(size=10) * 1e-2
    got = run(to_onnx(model), new)
    assert_same_answers(model, got, new)
    assert (model.scoring_.outside(new) > 0).any(axis=0).tolist() == [True, False, True, True]


def test_values_beyond_zero_are_as_far_out_there(rng):
    X = np.column_stack([rng.exponential(size=300), -rng.exponential(size=300), table(rng, 300, 2)])
    model = CreasedREF(n_creases=32).fit(X)
    new = X[:60] * np.where(rng.random((60, 4)) < 0.3, [-0.1, -0.1, 1.0, 1.0], 1.0)
    new[:5, 0] = 0.0
    assert model.scoring_.box.beyond_zero(new)[:, :2].any(axis=0).all()
    assert_same_answers(model, run(to_onnx(model), new), new)

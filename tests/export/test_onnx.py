"""A model and its ONNX graph are the same model: labels, distances, contributions."""

import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from refold import REF
from refold.export import to_onnx
from tests.conftest import FOLDS

RELATIVE = {"abs": 1e-12, "sqr": 1e-12, "cos-abs": 1e-6, "cos": 1e-6, "sin": 1e-6, "tanh": 1e-6}


def run(proto, X):
    """Label, distance and contributions by ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(["label", "distance", "contributions"], {"X": X})


def assert_same(model, X, results):
    """The results are the model's, rows at the threshold aside."""
    label, distance, contributions = results
    expected, relative = -model.score_samples(X), RELATIVE[model.fold]
    assert label.dtype == np.int64
    assert label.shape == distance.shape == (len(X),)
    np.testing.assert_allclose(distance, expected, rtol=relative, atol=0)
    clear = np.abs(expected - model.threshold_) > 1e-6
    np.testing.assert_array_equal(label[clear], model.predict(X)[clear])
    scale = np.where(expected > 0, expected, 1.0)[:, None]
    np.testing.assert_allclose(
        contributions / scale, model.contributions(X) / scale, rtol=0, atol=relative
    )
    assert (contributions[np.isnan(X)] == 0).all()
    np.testing.assert_allclose(contributions.sum(axis=1), distance, rtol=1e-12)


def column(rng, kind, rows):
    match kind:
        case "normal":
            return rng.normal(5, 2, rows)
        case "skewed":
            return rng.lognormal(0, 1.5, rows)
        case "times":
            return 1.7e9 + rng.uniform(0, 1e5, rows)
        case "tiny":
            return rng.normal(0, 1e-250, rows)
        case "few values":
            return rng.integers(0, 4, rows).astype(float)
        case "constant":
            return np.full(rows, 7.3)
    raise ValueError(kind)


KINDS = ("normal", "skewed", "times", "tiny", "few values", "constant")


def with_gaps(rng, X, share):
    """Take values out, but not the last of a row or of a column."""
    X = X.copy()
    gone = rng.random(X.shape) < share
    gone[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    gone[0] = gone[1] = False
    X[gone] = np.nan
    return X


@st.composite
def models(draw):
    """A fitted model and rows to judge: near, far off, and with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=60))
    gaps = draw(st.sampled_from([0.0, 0.2]))
    train = np.stack([column(rng, kind, 120) for kind in kinds], axis=1)
    model = REF(
        fold=draw(st.sampled_from(FOLDS)),
        distance=draw(st.sampled_from(["l1", "l2"])),
        levels=draw(st.sampled_from(["last", "all"])),
        engine=draw(st.sampled_from(["exact", "sketch", "reference"])),
        n_iter=draw(st.sampled_from([1, 2, 7, 101])),
        threshold=draw(st.sampled_from([0.3, 1.0, 1.7])),
    ).fit(with_gaps(rng, train, gaps))
    new = np.stack([column(rng, kind, 60) for kind in kinds], axis=1)
    new[40:] = (new[40:] - new.mean(axis=0)) * rng.choice([1.0, 3.0, 100.0, 1e9], (20, 1))
    return model, with_gaps(rng, new, gaps)


@given(models())
def test_random_models_give_the_same_answers(model_and_rows):
    model, X = model_and_rows
    proto = to_onnx(model)
    onnx.checker.check_model(proto, full_check=True)
    assert_same(model, X, run(proto, X))


def test_every_task_of_the_paper_gives_the_same_answers(paper_tasks):
    for number, (train, test, _) in enumerate(paper_tasks.values()):
        model = REF(fold=FOLDS[number % len(FOLDS)]).fit(train)
        assert_same(model, test, run(to_onnx(model), test))
    assert len({task for task, _ in paper_tasks}) == 14


@pytest.mark.parametrize("levels", ["last", "all"])
def test_default_models_of_the_paper_give_the_same_answers(paper_tasks, levels):
    for (_, split), (train, test, _) in paper_tasks.items():
        if split == 1:
            model = REF(levels=levels).fit(train)
            assert_same(model, test, run(to_onnx(model), test))


def test_the_papers_own_algorithm_without_a_limit_on_gain_travels_too(rng):
    """Chaotic features: only the very same arithmetic gives the same labels."""
    train = rng.integers(0, 4, (300, 6)).astype(float)
    model = REF(engine="reference", max_gain=None).fit(train)
    X = rng.integers(-1, 6, (500, 6)).astype(float)
    np.testing.assert_array_equal(run(to_onnx(model), X)[0], model.predict(X))


def test_deep_chains_of_a_constant_column_travel(rng):
    """Without a limit every level of a constant divides by 1e-3: their product is no number."""
    train = np.column_stack([np.full(50, 2.0), rng.normal(size=50)])
    model = REF(engine="reference", max_gain=None, n_iter=150).fit(train)
    X = np.array([[2.0, 0.3], [2.5, 0.1], [np.nan, 4.0]])
    assert_same(model, X, run(to_onnx(model), X))


def test_another_runtime_reads_the_same_graph(rng):
    """The evaluator in NumPy that defines ONNX's operators."""
    train = np.column_stack([rng.normal(size=200), rng.integers(0, 3, 200)])
    X = with_gaps(rng, rng.normal(0, 2, (50, 2)), 0.2)
    for fold in FOLDS:
        model = REF(fold=fold, distance="l2", levels="all", n_iter=20).fit(train)
        assert_same(model, X, ReferenceEvaluator(to_onnx(model)).run(None, {"X": X}))


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("levels", ["last", "all"])
@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_huge_values_stay_numbers_and_are_those_of_python(rng, fold, levels, distance):
    train = np.column_stack([rng.normal(size=300), np.zeros(300), rng.normal(0, 1e-300, 300)])
    model = REF(fold=fold, levels=levels, distance=distance).fit(train)
    largest = np.finfo(float).max
    X = np.array([[1e300, 0, 0], [-largest, largest, largest], [0, -1e300, 0], [1e20, 1, 1e308]])
    results = run(to_onnx(model), X)
    assert all(np.isfinite(result).all() for result in results)
    assert_same(model, X, results)


def test_huge_values_stay_numbers_in_float32(rng):
    for fold in FOLDS:
        for distance in ("l1", "l2"):
            model = REF(n_iter=20, fold=fold, distance=distance, levels="all")
            model.fit(rng.normal(size=(300, 3)))
            X = np.array([[3e38, -3e38, 0], [1e30, 1e20, np.nan]], dtype=np.float32)
            assert all(np.isfinite(r).all() for r in run(to_onnx(model, dtype="float32"), X))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_that_python_refuses_are_not_judged_and_have_no_distance(rng, dtype):
    model = REF(threshold=1e6).fit(rng.normal(size=(200, 2)))
    X = np.array([[np.nan, np.nan], [np.inf, 0], [np.nan, -np.inf], [0, 0]], dtype=dtype)
    for row in X[:3]:
        with pytest.raises(ValueError, match=r"Nothing is observed|infinity"):
            model.predict(row[None])
    label, distance, contributions = run(to_onnx(model, dtype=dtype), X)
    assert label.tolist() == [0, 0, 0, 1]
    assert np.isnan(distance).tolist() == [True, True, True, False]
    assert np.isnan(contributions[:3]).all()
    assert np.isfinite(contributions[3]).all()


@pytest.mark.parametrize("rows", [0, 1, 3000])
@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_any_number_of_rows_goes_through_one_graph(rng, rows, distance):
    model = REF(distance=distance).fit(rng.normal(size=(200, 4)))
    X = rng.normal(size=(rows, 4))
    label, d, contributions = run(to_onnx(model), X)
    assert (label.shape, d.shape, contributions.shape) == ((rows,), (rows,), (rows, 4))
    if rows:
        assert_same(model, X, (label, d, contributions))


def test_graph_is_plain_and_says_what_it_is(rng):
    table = pd.DataFrame(rng.normal(size=(200, 2)), columns=['a "b"', "température"])
    model = REF(levels="all").fit(table)
    model.calibrate(table, alpha=0.05)
    proto = to_onnx(model)
    assert {node.domain for node in proto.graph.node} == {""}
    assert [(o.domain, o.version) for o in proto.opset_import] == [("", 17)]
    assert [x.name for x in proto.graph.input] == ["X"]
    assert [x.name for x in proto.graph.output] == ["label", "distance", "contributions"]
    facts = {p.key: p.value for p in proto.metadata_props}
    assert json.loads(facts["feature_names"]) == ['a "b"', "température"]
    assert float(facts["threshold"]) == model.threshold_ != 1.0
    assert proto.producer_name == "refold"
    assert_same(model, table, run(proto, table.to_numpy()))


def test_only_the_levels_in_use_are_written(rng):
    model = REF(levels="all").fit(rng.integers(0, 3, (300, 2)).astype(float))
    assert model.chain_.levels.max() < 50
    assert len(to_onnx(model).graph.node) < 5 * model.chain_.levels.max() + 30


@pytest.mark.parametrize("fold", ["abs", "cos"])
def test_float32_graph_tells_the_truth_about_itself(rng, fold):
    train = np.column_stack([rng.normal(size=500), rng.lognormal(size=500), np.arange(500) % 5])
    model = REF(fold=fold).fit(train)
    drawn = np.random.default_rng(0).integers(257, size=(4096, 3))
    sample = np.stack([model.summary_.quantiles[drawn[:, j], j] for j in range(3)], axis=1)
    expected = -model.score_samples(sample)
    # A threshold among the densest distances, where rounding does change labels.
    ordered = np.sort(expected)
    model.threshold_ = ordered[np.argmin(ordered[40:] - ordered[:-40]) + 20]
    proto = to_onnx(model, dtype="float32")
    label, distance, _ = run(proto, sample.astype(np.float32))
    assert distance.dtype == np.float32
    facts = {p.key: p.value for p in proto.metadata_props}
    assert "4096 rows" in facts["float32_sample"]
    wrong = float(facts["float32_labels_that_differ"])
    assert wrong == np.mean(label != model.predict(sample)) > 0
    pairs = zip(expected, distance.astype(float), strict=True)
    difference = [abs(a - b) / max(a, b) for a, b in pairs]
    stated = float(facts["float32_largest_relative_difference"])
    assert stated == pytest.approx(max(difference))
    assert 0 < stated < 1


def test_float32_graph_keeps_all_digits_of_a_large_mean(rng):
    """A mean of 1.7e9 is not a float32: subtracted as one it would be off by up to 64."""
    train = (1.7e9 + 128 * rng.integers(-40, 40, (400, 1))).astype(np.float32)
    model = REF(n_iter=1).fit(train)
    distance = run(to_onnx(model, dtype="float32"), train)[1]
    np.testing.assert_allclose(distance, -model.score_samples(train), rtol=1e-5, atol=1e-6)


def test_float32_refuses_a_column_beyond_its_range(rng):
    table = pd.DataFrame({"fine": rng.normal(size=100), "galaxies": rng.normal(0, 1e200, 100)})
    with pytest.raises(ValueError, match=r"'galaxies'.*outside the range of float32"):
        to_onnx(REF().fit(table), dtype="float32")
    with pytest.raises(ValueError, match=r"Column 1.*outside the range of float32"):
        to_onnx(
            REF().fit(np.column_stack([train := np.arange(9.0), train * 1e-60])), dtype="float32"
        )


def test_float32_refuses_a_chain_beyond_its_range(rng):
    model = REF(engine="reference", max_gain=1e60).fit(rng.normal(size=(50, 2)))
    model.chain_.scales[5, 1] = 1e-60
    with pytest.raises(ValueError, match="beyond the range of float32"):
        to_onnx(model, dtype="float32")


def test_what_cannot_be_exported_is_refused_clearly(rng):
    X = rng.normal(size=(100, 2))
    with pytest.raises(NotFittedError):
        to_onnx(REF())
    with pytest.raises(ValueError, match=r"fold=.*Python function"):
        to_onnx(REF(fold=np.abs).fit(X))
    with pytest.raises(ValueError, match=r"distance=.*Python function"):
        to_onnx(REF(distance=lambda y: np.abs(y).max(axis=1)).fit(X))
    with pytest.raises(ValueError, match="'float16' is not possible"):
        to_onnx(REF().fit(X), dtype="float16")
    with pytest.raises(ValueError, match="'levels' parameter"):
        to_onnx(REF().fit(X).set_params(levels="first"))
    with pytest.raises(TypeError, match="skl2onnx"):
        to_onnx(make_pipeline(REF()).fit(X))


def test_without_onnx_the_package_imports_and_the_call_says_what_to_install():
    program = """
import sys
sys.modules["onnx"] = sys.modules["skl2onnx"] = None
from refold import REF
from refold.export import to_onnx
try:
    to_onnx(REF().fit([[1.0], [2.0], [4.0]]))
except ImportError as error:
    assert "refold[onnx]" in str(error), error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True)

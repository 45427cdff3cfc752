"""The ONNX graph of a Detector against the Detector, in ONNX Runtime."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from refold import Detector
from refold.export import to_onnx
from tests.export import mixed
from tests.export.test_sql_tables import odd_rows, orders


def inputs(model, table):
    """Columns as a graph takes them, and the same table as Python takes it: dates with a type."""
    feed, typed = {}, table.copy()
    for column in model.columns_:
        if column.role == "ignore":
            continue
        cells = table[column.name]
        if column.role == "date":
            cells = pd.to_datetime(cells, errors="coerce", format="ISO8601", utc=True)
            typed[column.name] = cells = cells.dt.tz_localize(None)
            values = (cells - pd.Timestamp(0)).dt.total_seconds().to_numpy()
        elif column.role == "number":
            values = cells.to_numpy(dtype=float)
        else:
            written = "{:.15g}".format if cells.dtype.kind == "f" else str  # 3, not 3.0, as learned
            values = np.array(
                ["" if pd.isna(cell) else written(cell).strip() for cell in cells], object
            )
            typed[column.name] = values
        feed[column.name] = values[:, None]
    return feed, typed


def run(proto, feed):
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name.removeprefix("r_") for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def assert_same(model, table, without=()):
    """Labels are Python's wherever the graph gives one; say how many that are."""
    proto = to_onnx(model, without=without, prefix="r_")
    onnx.checker.check_model(proto, full_check=True)
    feed, typed = inputs(model, table)
    found = run(proto, feed)
    expected = mixed.distances(model, typed, without)
    judged = found["label"] != 0
    near = np.abs(expected - model.threshold_) <= 1e-9
    wanted = np.array([label or 0 for label in mixed.labels(model, expected)])
    np.testing.assert_array_equal(found["label"][judged & ~near], wanted[judged & ~near])
    sure = (expected > model.scorer().certain) | ~judged
    np.testing.assert_allclose(found["distance"][~sure], expected[~sure], rtol=1e-9)
    return judged, expected, typed, found


@pytest.mark.parametrize("method", ["ref", "creased"])
@pytest.mark.slow
@pytest.mark.parametrize("name", mixed.REAL_TABLES)
def test_real_tables_have_pythons_labels(name, method):
    train, new = mixed.halves(name, 600)
    model = mixed.fitted(train, method)
    unsaid = mixed.open_columns(model)
    if unsaid:
        with pytest.raises(ValueError, match=rf"^Column {unsaid[0]!r}: .* cannot be said in ONNX"):
            to_onnx(model, prefix="r_")
    judged, _, typed, _ = assert_same(model, new, mixed.BLIND if unsaid else ())
    if method == "ref":
        assert judged.all()
    else:  # a row with a gap among the numbers has no distance, unless it is novel
        gaps = typed.select_dtypes("number").isna().any(axis=1).to_numpy()
        assert judged[~gaps].all()


def test_hostile_cells():
    model = mixed.fitted(orders())
    judged, expected, _, found = assert_same(model, odd_rows(), mixed.BLIND)
    np.testing.assert_array_equal(judged, ~np.isnan(expected))
    np.testing.assert_allclose(found["contributions"].sum(axis=1), found["distance"])


def test_truth_values_and_the_character_zero():
    train = pd.DataFrame(
        {
            "a": ["x\0y", "🦆", "'; DROP TABLE x"] * 50,
            "b": [True, False] * 75,
            "c": np.arange(150) % 7,
        }
    )
    model = mixed.fitted(train)
    new = pd.DataFrame({"a": ["x\0y", "🦆", "x", "n/A"], "b": [True, False, True, None], "c": 3.0})
    judged, *_ = assert_same(model, new)
    assert judged.all()


@pytest.mark.parametrize("method", ["ref", "creased"])
def test_a_table_of_numbers_alone_has_one_input(rng, method):
    train = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    train.loc[::9, "b"] = np.nan
    model = mixed.fitted(train, method)
    new = np.array([[0.1, 0.2, 0.3], [np.nan, 0.2, 0.3], [9.0, -9.0, 9.0], [np.nan] * 3])
    proto = to_onnx(model)
    found = run(proto, {"X": new})
    assert found["label"].tolist() == [1, -1, -1, -1]
    named = pd.DataFrame(new, columns=list("abc"))
    np.testing.assert_array_equal(found["label"], model.predict(named))
    np.testing.assert_allclose(found["distance"][3], -model.score_samples(named)[3], rtol=1e-9)
    gap = run(proto, {"X": np.array([[0.1, np.nan, 0.3]])})["label"]
    assert gap.tolist() == ([1] if method == "ref" else [0])


def test_infinity_is_not_judged():
    model = mixed.fitted(orders())
    proto = to_onnx(model, without=mixed.BLIND)
    feed, _ = inputs(model, orders(3, seed=1).assign(sum=[np.inf, -np.inf, 20.0]))
    found = run(proto, feed)
    assert (found["label"] == 0).tolist() == [True, True, False]
    assert np.isnan(found["distance"]).tolist() == [True, True, False]


def test_metadata_says_what_each_input_is():
    proto = to_onnx(mixed.fitted(orders()), without=["character", "shape"])
    facts = {each.key: each.value for each in proto.metadata_props}
    kinds = json.loads(facts["kinds"])
    assert kinds["when"] == "seconds"
    assert kinds["shop"] == "text"
    assert kinds["sum"] == "number"
    assert json.loads(facts["without"]) == ["character", "shape"]
    assert {o.domain for o in proto.opset_import} == {"", "ai.onnx.ml"}


def test_what_cannot_be_said_is_refused_by_name():
    model = mixed.fitted(orders())
    with pytest.raises(ValueError, match=r"'code': the shape and the character .* ONNX.*without="):
        to_onnx(model)
    with pytest.raises(ValueError, match=r"'code': the character of a text"):
        to_onnx(model, without=["shape"])
    with pytest.raises(ValueError, match="is not a collection of views among 'shape', 'character'"):
        to_onnx(model, without="shape")
    with pytest.raises(ValueError, match="float64 only"):
        to_onnx(model, dtype="float32", without=mixed.BLIND)
    renamed = mixed.fitted(orders().rename(columns={"sum": "distance"}))
    with pytest.raises(ValueError, match=r"\['distance'\] of the graph's outputs.*prefix="):
        to_onnx(renamed, without=mixed.BLIND)
    with pytest.raises(NotFittedError):
        to_onnx(Detector())


@pytest.mark.parametrize("kind", [False, True], ids=["numbers", "mixed"])
def test_a_number_of_a_new_sign_is_an_outlier_of_a_graph_too(kind, rng):
    model, new = mixed.of_new_signs(rng, kind=kind)
    feed = {"X": new.to_numpy(float)} if not kind else inputs(model, new)[0]
    found = run(to_onnx(model), feed)
    np.testing.assert_array_equal(found["label"], model.predict(new))
    np.testing.assert_allclose(found["distance"], -model.score_samples(new), rtol=1e-9)


def test_whole_numbers_among_texts_may_be_written_as_floats():
    train = pd.DataFrame({"x": ["3.0", "abc", "-40.0", "12.0"] * 100, "y": np.arange(400) % 7})
    model = mixed.fitted(train)
    texts = ["3", "3.0", "-40.0", "-40", "abc", "3.00", "99.0"]
    new = pd.DataFrame({"x": texts, "y": 1})
    assert_same(model, new, mixed.BLIND)
    assert model.predict(new).tolist() == [1, 1, 1, 1, 1, -1, -1]

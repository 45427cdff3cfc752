"""The ONNX graph of a model that judges rows by their group against Python, in ONNX Runtime."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from refold import Detector
from refold.base.errors import UserError
from refold.export import to_onnx
from tests.export.test_sql_groups import fleet, odd_rows


def feed(proto, table):
    """The inputs of a graph: numbers alone are one matrix, groups are texts."""
    columns = {}
    judged = json.loads(facts(proto)["feature_names"])
    for each in proto.graph.input:
        if each.name == "X":
            columns["X"] = table[judged].to_numpy(dtype=float)
        elif each.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            cells = ["" if pd.isna(cell) else str(cell) for cell in table[each.name]]
            columns[each.name] = np.array(cells, dtype=object)[:, None]
        else:
            columns[each.name] = table[each.name].to_numpy(dtype=float)[:, None]
    return columns


def facts(proto):
    return {each.key: each.value for each in proto.metadata_props}


def assert_same(model, new):
    proto = to_onnx(model, without=("shape", "character"))
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, distance = session.run(["label", "distance"], feed(proto, new))
    judged = label != 0
    expected = -model.score_samples(new)
    np.testing.assert_array_equal(label[judged], model.predict(new)[judged])
    exact = judged & ~new[list(model._learned.plan.names)].isna().any(axis=1).to_numpy()
    np.testing.assert_allclose(distance[exact], expected[exact], rtol=1e-7)
    return label


@pytest.mark.parametrize("method", ["ref", "creased"])
@pytest.mark.parametrize("by", [["machine"], ["site", "machine"]])
def test_rows_have_pythons_distances(by, method):
    columns = [*by, "heat", "flow"]
    model = Detector(by=by, method=method, alpha=0.05).fit(fleet(1_500)[columns])
    label = assert_same(model, odd_rows()[columns])
    assert {1, -1} <= set(label.tolist())
    if method == "ref":
        assert 0 not in label


def test_a_table_with_a_category():
    training = fleet(1_500).assign(kind=lambda t: np.where(t.index % 7, "a", "b"))
    model = Detector(by=["site", "machine"], alpha=0.05).fit(training)
    assert (assert_same(model, odd_rows().assign(kind="a"))[:14] != 0).all()


def test_groups_that_are_truth_values_or_numbers():
    training = fleet(1_500).assign(machine=lambda t: t["machine"].str[1:].astype(int))
    training["site"] = training["heat"] > training["heat"].median()
    new = fleet(40, seed=2).assign(machine=lambda t: t["machine"].str[1:].astype(int))
    new["site"] = new["heat"] > new["heat"].median()
    model = Detector(by=["site", "machine"], alpha=0.05).fit(training)
    assert_same(model, new)


def test_a_number_that_groups_fix_is_judged_as_python_does():
    training = fleet(1_500).assign(rated=lambda t: 5.0 * t["machine"].str[1:].astype(int))
    model = Detector(by="machine", alpha=0.05).fit(training.drop(columns="site"))
    new = fleet(40, seed=2).assign(rated=lambda t: 5.0 * t["machine"].str[1:].astype(int))
    new.loc[3, "rated"] += 5.0
    new.loc[4, "machine"] = "M-new"
    label = assert_same(model, new.drop(columns="site"))
    assert label[3] == -1


@pytest.mark.parametrize("arguments", [{"context": "flow"}, {"window": 5}])
def test_what_cannot_be_written_is_refused_in_a_sentence(arguments):
    model = Detector(by="machine", **arguments).fit(fleet(600).drop(columns="site"))
    with pytest.raises(UserError, match="does not take a model with over=, context= or window="):
        to_onnx(model)

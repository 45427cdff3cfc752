"""A model as an ONNX graph of plain operators."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from refold import __version__
from refold.algorithm.engines import ENGINES
from refold.base.needs import needs
from refold.columns.summary import N_QUANTILES
from refold.export._graph import Graph
from refold.export._models import EXPORTERS
from refold.models.creased import CreasedREF
from refold.models.ref import REF

if TYPE_CHECKING:
    from onnx import ModelProto

# Old enough for runtimes of 2022.
_OPSET, _IR_VERSION = 17, 8
_SAMPLED_ROWS = 4096


def to_onnx(
    model: REF | CreasedREF, *, dtype: Literal["float64", "float32"] = "float64"
) -> ModelProto:
    """Write a fitted model as an ONNX graph.

    The graph has one input ``X`` of shape (n, d) and three outputs: ``label`` (1 normal, -1 not),
    ``distance``, and ``contributions`` of shape (n, d). NaN is a missing value, as in Python. A row
    that Python refuses (nothing observed, or an infinite value) gets the label -1 and the distance
    and contributions NaN. CreasedREF has no ``contributions``, and a row with a missing value gets
    the distance NaN: no plain operator solves the equations that fill it.

    Read more in ``docs/export.md``.

    Parameters
    ----------
    model : REF or CreasedREF
        A fitted model; REF with a named fold and distance. For a pipeline use ``skl2onnx.to_onnx``:
        importing ``refold.export`` teaches it REF.
    dtype : {"float64", "float32"}, default="float64"
        The type of rows, distances and all arithmetic. ``"float64"`` gives Python's labels.
        ``"float32"`` is for devices without float64; how far it is from the model is measured and
        written into the metadata.

    Returns
    -------
    onnx.ModelProto
        Write it with ``onnx.save``, or run ``SerializeToString()`` in ONNX Runtime.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from refold import REF
    >>> from refold.export import to_onnx
    >>> model = REF().fit(np.random.default_rng(0).normal(size=(500, 3)))
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> new = np.array([[0.1, -0.4, 0.2], [0.1, 8.0, np.nan]])
    >>> label, distance, contributions = session.run(None, {"X": new})
    >>> label.tolist()
    [1, -1]
    """
    _check(model, dtype)
    proto = _proto(model, np.dtype(dtype))
    facts = {
        "refold_version": __version__,
        "dtype": dtype,
        "threshold": repr(model.threshold_),
        **_facts(model),
    }
    if hasattr(model, "feature_names_in_"):
        facts["feature_names"] = json.dumps(list(model.feature_names_in_), ensure_ascii=False)
    if dtype == "float32":
        facts |= _disagreement(model, proto)
    needs("onnx", "onnx").helper.set_model_props(proto, facts)
    return proto


def _facts(model: REF | CreasedREF) -> dict[str, str]:
    """Return what the metadata says of the kind of model."""
    if isinstance(model, CreasedREF):
        return {"missing_values": "a row with one has the distance NaN and the label -1"}
    return {
        "fold": str(model.chain_.fold),
        "distance": str(model.distance),
        "levels": model.levels_,
    }


def _check(model: REF | CreasedREF, dtype: str) -> None:
    if type(model) not in EXPORTERS:
        raise TypeError(
            f"to_onnx takes a fitted REF or CreasedREF, not {type(model).__name__}. A pipeline "
            "that ends in one is converted by skl2onnx.to_onnx(pipeline, X) once refold.export is "
            "imported."
        )
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype={dtype!r} is not possible: choose 'float64' or 'float32'.")
    EXPORTERS[type(model)].check(model)
    if dtype == "float32":
        _check_range(model)


def _check_range(model: REF | CreasedREF) -> None:
    """Refuse features whose values or scale float32 cannot hold."""
    summary = model.summary_
    if isinstance(model, CreasedREF):
        center, unit, scale = model.creases_.center, model.creases_.scale, model.creases_.scale
    else:
        chain = model.chain_
        center, unit, scale = chain.shifts[0] / chain.unit, chain.unit, chain.scales[0]
    limits = np.finfo(np.float32)
    sizes = np.abs([summary.low, summary.high, center])
    beyond = (sizes > limits.max).any(axis=0)
    beyond |= (unit > 1.0 / limits.tiny) | (unit < limits.tiny)
    if beyond.any():
        column = int(np.argmax(beyond))
        name = getattr(model, "feature_names_in_", range(model.n_features_in_))[column]
        raise ValueError(
            f"Column {name!r}, with values from {summary.low[column]:g} to "
            f"{summary.high[column]:g} and a scale of {scale[column]:g}, is "
            "outside the range of float32. Rescale it before learning, or use dtype='float64'."
        )


class _Nodes(Graph):
    """The nodes and constants of a graph of its own."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype)
        self.onnx = needs("onnx", "onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.named(f"v{len(self.nodes)}", operator, *inputs, **attributes)

    def named(self, output: str, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node whose output has a name of its own."""
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def store(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(value, name))
        return name


def _proto(model: REF | CreasedREF, dtype: np.dtype[Any]) -> ModelProto:
    nodes, exporter = _Nodes(dtype), EXPORTERS[type(model)]
    for name, result in zip(exporter.outputs, exporter.write(nodes, model, "X"), strict=True):
        nodes.named(name, "Identity", result)
    helper = nodes.onnx.helper
    number, integer = (helper.np_dtype_to_tensor_dtype(np.dtype(t)) for t in (dtype, np.int64))
    n_features = model.n_features_in_

    def value(name: str, kind: int, *shape: str | int) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    outputs = {
        "label": value("label", integer, "n"),
        "distance": value("distance", number, "n"),
        "contributions": value("contributions", number, "n", n_features),
    }
    graph = helper.make_graph(
        nodes.nodes,
        type(model).__name__,
        inputs=[value("X", number, "n", n_features)],
        outputs=[outputs[name] for name in exporter.outputs],
        initializer=nodes.constants,
        doc_string="One-class classification by Repeated Element-wise Folding.",
    )
    proto: ModelProto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="refold",
        producer_version=__version__,
    )
    return proto


def _disagreement(model: REF | CreasedREF, proto: ModelProto) -> dict[str, str]:
    """Measure how far a float32 graph is from its model, rounding of the rows included."""
    rows, said = _sample(model)
    runtime = needs("onnxruntime", "onnx")
    session = runtime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, distance = session.run(["label", "distance"], {"X": rows.astype(np.float32)})
    expected = _distances(model, rows)
    differ = (label == 1) != (expected <= model.threshold_)
    larger = np.maximum(expected, distance)
    relative = np.abs(expected - distance) / np.where(larger > 0.0, larger, 1.0)
    return {
        "float32_sample": f"{len(rows)} rows: {said}",
        "float32_labels_that_differ": repr(float(differ.mean())),
        "float32_largest_relative_difference": repr(float(relative.max())),
    }


def _distances(model: REF | CreasedREF, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    if isinstance(model, CreasedREF):
        return model.scoring_.distances(rows)
    return np.asarray(
        ENGINES[model.engine_].distances(
            model.chain_, rows, model.distance, path=model.levels_ == "all", n_jobs=model.n_jobs
        )
    )


def _sample(model: REF | CreasedREF) -> tuple[NDArray[np.float64], str]:
    """Return rows like those of training, and where they come from."""
    if isinstance(model, CreasedREF):  # what it has learned is how columns depend on each other
        rows = model.training_sample()
        whole = rows[~np.isnan(rows).any(axis=1)][:_SAMPLED_ROWS]
        if len(whole):
            return whole, "training rows without gaps that the model has kept"
    quantiles = model.summary_.quantiles
    shape = (_SAMPLED_ROWS, quantiles.shape[1])
    drawn = np.random.default_rng(0).integers(N_QUANTILES, size=shape)
    return np.take_along_axis(quantiles, drawn, axis=0), (
        f"each value one of the feature's {N_QUANTILES} training quantiles, drawn by "
        "numpy.random.default_rng(0).integers"
    )

"""A model as an ONNX graph of plain operators."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold import __version__
from refold.algorithm.engines import ENGINES
from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.summary import N_QUANTILES
from refold.export._creased_graph import EXPORTERS
from refold.export._exported_columns import (
    ExportedColumn,
    ExportedDate,
    ExportedNumber,
    ExportedText,
    check_missing,
    check_views,
    columns_of,
)
from refold.export._graph import Graph, Value
from refold.export._group_graph import GroupScores
from refold.export._groups import GroupConstants, check_context
from refold.export._sql_names import fresh_stem
from refold.export._table_graph import write_mixed_nodes, write_numeric_nodes
from refold.models.creased import CreasedREF
from refold.models.detector import Detector, refuse_rules
from refold.models.ref import REF

if TYPE_CHECKING:
    from onnx import ModelProto

# Old enough for runtimes of 2022.
_OPSETS, _IR_VERSION = {"": 17, "ai.onnx.ml": 3}, 8
_SAMPLED_ROWS = 4096


def to_onnx(
    model: REF | CreasedREF | Detector,
    *,
    dtype: Literal["float64", "float32"] = "float64",
    without: Collection[str] = (),
    prefix: str = "",
) -> ModelProto:
    """Write a fitted model as an ONNX graph.

    The graph has one input ``X`` of shape (n, d) and three outputs: ``label`` (1 normal, -1 not),
    ``distance``, and ``contributions`` of shape (n, d). NaN is a missing value, as in Python. A row
    that Python refuses (an infinite value or, but for a Detector, nothing observed) gets the label
    0 and the distance and contributions NaN. CreasedREF has no ``contributions``, and a row with a
    missing value gets the distance NaN: no plain operator solves the equations that fill it.

    A Detector of a mixed table has an input of shape (n, 1) for every column in use, by its name:
    strings for texts ("" is missing), float64 for numbers, and float64 for dates, in seconds since
    1970, or since midnight, by the clock on the wall (NaN is missing). Columns of `by` are inputs
    of strings too; beside "X" where all that is judged are numbers. What a text that was never
    seen looks like cannot be said in ONNX: a model whose labels depend on it is refused, unless
    such texts are to be judged by being new alone, which is another answer than Python's.

    Read more in ``docs/export.md``.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        A fitted model; REF with a named fold and distance. For a pipeline use ``skl2onnx.to_onnx``:
        importing ``refold.export`` teaches it REF.
    dtype : {"float64", "float32"}, default="float64"
        The type of rows, distances and all arithmetic. ``"float64"`` gives Python's labels.
        ``"float32"`` is for devices without float64; how far it is from the model is measured and
        written into the metadata. A Detector has float64 only.
    without : collection of {"shape", "character"}, default=()
        Of a Detector: what not to look at in texts that were never seen.
    prefix : str, default=""
        Beginning of the names of the outputs, where a column has one of these names.

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
    if isinstance(model, Detector):
        refuse_rules(model, "An ONNX graph")
        return _of_detector(model, dtype, without, prefix)
    if without:
        raise ValueError(f"without={without!r} is for a Detector; this is a {_kind(model)}.")
    _check(model, dtype)
    proto = _proto(model, np.dtype(dtype), prefix)
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
        return {"missing_values": "a row with one has the distance NaN and the label 0"}
    return {
        "fold": str(model.chain_.fold),
        "distance": str(model.distance),
        "levels": model.levels_,
    }


def _kind(model: object) -> str:
    return type(model).__name__


def _of_detector(model: Detector, dtype: str, without: Collection[str], prefix: str) -> ModelProto:
    check_is_fitted(model)
    if dtype != "float64":
        raise ValueError(f"A Detector is written in float64 only; dtype={dtype!r} is not possible.")
    columns = columns_of(model, without)
    check_views(columns.all, "ONNX")
    check_missing(columns.all, "ONNX")
    context = model.encoder_.context
    by = [] if context is None else list(context.given.by)
    plain = model.encoder_.counts.plan.plain
    names = ["X", *by] if plain else [*columns.names, *by]
    nodes = _Nodes(np.dtype(np.float64), fresh_stem([*names, prefix]))
    scores = None
    if context is not None:
        check_context(context, "An ONNX graph")
        places = {name: Value(nodes, name) for name in by}
        groups = GroupConstants(context, model.scorer().group_scales)
        scores = GroupScores(nodes, groups, model.encoder_.inputs, places)
    if plain:
        results = write_numeric_nodes(model, columns, Value(nodes, "X"), scores)
    else:
        cells = [Value(nodes, name) for name in columns.names]
        results = write_mixed_nodes(nodes, model, columns, cells, scores)
    outputs = {name: result for name, result in results._asdict().items() if result}
    _check_apart(names, [prefix + name for name in outputs])
    if plain:
        inputs = [nodes.value("X", np.float64, "n", len(columns.all))]
    else:
        inputs = [nodes.value(c.name, _type_of(c), "n", 1) for c in columns.all]
    inputs += [nodes.value(name, np.str_, "n", 1) for name in by]
    proto = _model(nodes, _kind(model), inputs, outputs, len(columns.all), prefix)
    facts = {
        "refold_version": __version__,
        "dtype": dtype,
        "threshold": repr(model.threshold_),
        "feature_names": json.dumps(columns.names, ensure_ascii=False),
        "kinds": json.dumps(
            {c.name: _KINDS[type(c)] for c in columns.all} | dict.fromkeys(by, "group"),
            ensure_ascii=False,
        ),
        "without": json.dumps(list(without)),
        **(_facts(model.model_) if isinstance(model.model_, CreasedREF) else {}),
    }
    nodes.onnx.helper.set_model_props(proto, facts)
    return proto


_KINDS = {ExportedText: "text", ExportedNumber: "number", ExportedDate: "seconds"}


def _type_of(column: ExportedColumn) -> type:
    return np.str_ if isinstance(column, ExportedText) else np.float64


def _check_apart(names: Sequence[str], outputs: Sequence[str]) -> None:
    clash = [name for name in outputs if name in names]
    if clash:
        raise UserError(
            f"The model has columns with the names {clash} of the graph's outputs.",
            advice=Advice("Give these another prefix", "prefix", value="refold_"),
        )


def _check(model: REF | CreasedREF, dtype: str) -> None:
    if type(model) not in EXPORTERS:
        raise TypeError(
            f"to_onnx takes a fitted Detector, REF or CreasedREF, not {_kind(model)}. A pipeline "
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
    """The nodes and constants of a graph of its own, by names that begin with a stem."""

    def __init__(self, dtype: np.dtype[Any], stem: str = "") -> None:
        super().__init__(dtype)
        self.onnx = needs("onnx", "onnx")
        self.stem = stem
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        output = f"{self.stem}v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def store(self, value: NDArray[Any]) -> str:
        name = f"{self.stem}c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(value, name))
        return name

    def value(self, name: str, dtype: type | np.dtype[Any], *shape: str | int) -> Any:
        """Declare an input or output."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)


def _proto(model: REF | CreasedREF, dtype: np.dtype[Any], prefix: str) -> ModelProto:
    nodes, exporter = _Nodes(dtype), EXPORTERS[type(model)]
    outputs = dict(zip(exporter.outputs, exporter.write(model, Value(nodes, "X")), strict=True))
    inputs = [nodes.value("X", dtype, "n", model.n_features_in_)]
    return _model(nodes, _kind(model), inputs, outputs, model.n_features_in_, prefix)


def _model(
    nodes: _Nodes,
    name: str,
    inputs: Sequence[Any],
    outputs: dict[str, Value],
    n_features: int,
    prefix: str,
) -> ModelProto:
    """Put a graph together."""
    helper = nodes.onnx.helper
    for output, result in outputs.items():
        nodes.nodes.append(helper.make_node("Identity", [result.name], [prefix + output]))
    shapes: dict[str, list[str | int]] = {"contributions": ["n", n_features]}
    declared = [
        nodes.value(
            prefix + output,
            np.int64 if output == "label" else nodes.dtype,
            *shapes.get(output, ["n"]),
        )
        for output in outputs
    ]
    domains = {node.domain for node in nodes.nodes}
    graph = helper.make_graph(
        nodes.nodes,
        name,
        inputs=inputs,
        outputs=declared,
        initializer=nodes.constants,
        doc_string="One-class classification by Repeated Element-wise Folding.",
    )
    proto: ModelProto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(d, _OPSETS[d]) for d in sorted(domains)],
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

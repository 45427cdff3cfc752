"""Teaches skl2onnx to convert REF and CreasedREF, so that whole pipelines can be exported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.base.needs import needs
from refold.export._creased_graph import EXPORTERS
from refold.export._graph import OLDEST_OPSET, Graph, Value

# What skl2onnx itself puts behind a model to rename its outputs or to change their types.
_RENAMING = {"SklearnIdentity", "SklearnCast"}


def register_if_installed() -> None:
    """Register the models with skl2onnx where there is one; to do so again changes nothing."""
    if find_spec("skl2onnx") is not None:
        for model in EXPORTERS:
            needs("skl2onnx", "onnx").update_registered_converter(
                model, _alias(model), _set_shapes, _convert, parser=_parse
            )


def _alias(model: type) -> str:
    return f"Refold{model.__name__}"


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare the outputs. `custom_parsers` belongs to skl2onnx's contract; nothing is nested."""
    types = needs("skl2onnx.common.data_types", "onnx")
    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    float32 = all(isinstance(x.type, types.FloatTensorType) for x in inputs)
    number = types.FloatTensorType if float32 else types.DoubleTensorType
    for name in EXPORTERS[type(model)].outputs:
        kind = types.Int64TensorType if name == "label" else number
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return list(operator.outputs)


def _set_shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    model = operator.raw_operator
    for name, output in zip(EXPORTERS[type(model)].outputs, operator.outputs, strict=True):
        output.type.shape = [rows, model.n_features_in_] if name == "contributions" else [rows]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Compute in float64 whatever comes in, as Python does, and answer in the declared types."""
    model = operator.raw_operator
    exporter = EXPORTERS[type(model)]
    exporter.check(model)
    _check_place(operator, container)
    nodes = _ContainerNodes(scope, container)
    double = nodes.onnx.TensorProto.DOUBLE
    inputs = [Value(nodes, x.full_name) for x in operator.inputs]
    columns = [nodes.node("Cast", x, to=double) for x in inputs]
    X = columns[0] if len(columns) == 1 else nodes.side_by_side(columns)
    for variable, value in zip(operator.outputs, exporter.write(model, X), strict=True):
        kind = variable.type.to_onnx_type().tensor_type.elem_type
        container.add_node("Cast", [value.name], [variable.full_name], to=kind)


def _check_place(operator: Any, container: Any) -> None:
    if container.target_opset_any_domain("") < OLDEST_OPSET:
        raise ValueError(f"REF needs target_opset={OLDEST_OPSET} or later.")
    users = {user.type for x in operator.outputs for user in x.operators_inputs_}
    if users - _RENAMING:
        raise ValueError(
            "REF can be converted as the last step of a pipeline, which judges rows, but not in "
            "front of another step: that would need its transform."
        )


class _ContainerNodes(Graph):
    """Nodes in the container of a conversion that is under way."""

    def __init__(self, scope: Any, container: Any) -> None:
        super().__init__(np.dtype(np.float64))
        self.scope, self.container = scope, container
        self.onnx = needs("onnx", "onnx")

    def add(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        output = str(self.scope.get_unique_variable_name("ref"))
        self.container.add_node(operator, list(inputs), [output], **attributes)
        return output

    def store(self, value: NDArray[Any]) -> str:
        name = str(self.scope.get_unique_variable_name("ref_constant"))
        self.container.add_initializer(
            name, None, None, self.onnx.numpy_helper.from_array(value, name)
        )
        return name

"""Numbers as scores beside their group, as nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from refold.columns.context.context import ContextModel
from refold.columns.encoding.plan import Plan
from refold.columns.parsing import TRUTHS
from refold.export._graph import Graph
from refold.export._groups import CONSTANTS, FARTHEST_T, SMALL, GroupConstants


class GroupScores:
    """Looks the group of each row up, by columns of texts of shape (n, 1), the `inputs`."""

    def __init__(
        self, graph: Graph, context: ContextModel, plan: Plan, inputs: Mapping[str, str]
    ) -> None:
        self._graph, self._columns = graph, context.columns
        groups = GroupConstants(context)
        truths = {column.name for column in plan.used if column.truth}
        depths = list(groups.keys)
        self._table = np.concatenate([groups.of(depth) for depth in depths])
        ends = np.cumsum([len(groups.keys[depth]) for depth in depths])
        # From all rows to the group itself: what is known best counts.
        self._place = _integer(graph, int(ends[-1]) - 1)
        above = ""
        paths: dict[tuple[str, ...], int] = {(): 0}
        for depth, name in enumerate(context.given.by, start=1):
            keys = groups.keys[depth]
            values = list(dict.fromkeys(key[-1] for key in keys))
            code = _looked_up(graph, inputs[name], _spelled(values, truth=name in truths))
            number = {value: k for k, value in enumerate(values)}
            known = {
                (paths[key[:-1]] + 1) * (len(values) + 1) + number[key[-1]] + 1: k
                for k, key in enumerate(keys)
            }
            paths = {key: k for k, key in enumerate(keys)}
            if depth > 1:  # 0 is a group that is not known
                one = _integer(graph, 1)
                pair = graph.node(
                    "Mul", graph.node("Add", above, one), _integer(graph, len(values) + 1)
                )
                pair = graph.node("Add", pair, graph.node("Add", code, one))
                code = graph.node(
                    "LabelEncoder",
                    pair,
                    domain="ai.onnx.ml",
                    keys_int64s=list(known),
                    values_int64s=list(known.values()),
                    default_int64=-1,
                )
            first = int(ends[depths.index(depth)]) - len(keys)
            there = graph.node("GreaterOrEqual", code, _integer(graph, 0))
            own = graph.node("Add", code, _integer(graph, first))
            self._place = graph.node("Where", there, own, self._place)
            above = code

    def of(self, name: str, cells: str) -> str:
        """Return the scores of a column of numbers, shape (n, 1); NaN and infinity stay."""
        graph, column = self._graph, self._columns[name]
        first = list(self._columns).index(name) * len(CONSTANTS)
        mu, sd, free, near = (
            graph.node("Gather", graph.numbers(self._table[:, first + k]), self._place, axis=0)
            for k in range(len(CONSTANTS))
        )
        value = cells
        if column.log:
            smallest = graph.number(float(np.finfo(np.float64).tiny))
            value = graph.node("Log", graph.node("Max", cells, smallest))
        off = graph.node("Sub", value, mu)
        size = graph.node("Abs", off)
        t = graph.node("Min", graph.node("Div", size, sd), graph.number(FARTHEST_T))
        zero, one = graph.number(0.0), graph.number(1.0)
        t = graph.node("Where", graph.node("Less", size, near), zero, t)
        square = graph.node("Div", graph.node("Mul", t, t), free)
        series = graph.number(-0.25)
        for factor in (1.0 / 3.0, -0.5, 1.0):
            product = graph.node("Mul", square, series)
            series = graph.node("Add", graph.number(factor), product)
        series = graph.node("Mul", square, series)
        exact = graph.node("Log", graph.node("Add", one, square))
        small = graph.node("Less", square, graph.number(SMALL))
        logs = graph.node("Where", small, series, exact)
        z = graph.node("Sqrt", graph.node("Mul", free, logs))
        eight = graph.node("Mul", graph.number(8.0), free)
        scale = graph.node(
            "Div", graph.node("Add", eight, one), graph.node("Add", eight, graph.number(3.0))
        )
        z = graph.node("Mul", graph.node("Mul", graph.node("Sign", off), scale), z)
        infinite = graph.node("IsInf", cells)
        return graph.node("Where", infinite, cells, z)


def _spelled(values: Sequence[str], *, truth: bool) -> dict[bytes, int]:
    """Return the number of each value; truth values may be written otherwise."""
    places = {value.encode("utf-8", "surrogatepass"): k for k, value in enumerate(values)}
    if truth:
        words = {word: name for word, name in TRUTHS.items() if name in values}
        for word, name in words.items():
            for spelled in (word, word.upper(), word.title()):
                places.setdefault(spelled.encode(), values.index(name))
    return places


def _looked_up(graph: Graph, cells: str, places: dict[bytes, int]) -> str:
    return graph.node(
        "LabelEncoder",
        cells,
        domain="ai.onnx.ml",
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=-1,
    )


def _integer(graph: Graph, value: int) -> str:
    return graph.constant(np.array(value, dtype=np.int64))

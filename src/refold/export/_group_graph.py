"""Numbers as scores beside their group, as nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from refold.columns.context.spread import FARTHEST_T
from refold.columns.encoding.plan import Plan
from refold.columns.parsing import TRUTHS
from refold.export._graph import Graph, Value, utf8
from refold.export._groups import CONSTANTS, SMALL, GroupConstants


class GroupScores:
    """Looks the group of each row up, by columns of texts of shape (n, 1), the `inputs`."""

    def __init__(
        self, graph: Graph, groups: GroupConstants, plan: Plan, inputs: Mapping[str, Value]
    ) -> None:
        context = groups.context
        self._columns = context.columns
        truths = {column.name for column in plan.used if column.truth}
        depths = list(groups.keys)
        self._table = np.concatenate([groups.of(depth) for depth in depths])
        ends = np.cumsum([len(groups.keys[depth]) for depth in depths])
        # From all rows to the group itself: what is known best counts.
        self._place = graph.of(int(ends[-1]) - 1)
        above = None
        paths: dict[tuple[str, ...], int] = {(): 0}
        for depth, name in enumerate(context.given.by, start=1):
            keys = groups.keys[depth]
            values = list(dict.fromkeys(key[-1] for key in keys))
            code = graph.codes(inputs[name], _spelled(values, truth=name in truths), -1)
            number = {value: k for k, value in enumerate(values)}
            known = {
                (paths[key[:-1]] + 1) * (len(values) + 1) + number[key[-1]] + 1: k
                for k, key in enumerate(keys)
            }
            paths = {key: k for k, key in enumerate(keys)}
            if above is not None:  # 0 is a group that is not known
                code = graph.codes((above + 1) * (len(values) + 1) + (code + 1), known, -1)
            first = int(ends[depths.index(depth)]) - len(keys)
            self._place = (code >= 0).where(code + first, self._place)
            above = code
        # By what the distance of each row is divided, shape (n, 1); None if that of none is.
        self.scales: Value | None = None
        if groups.scales is not None:
            self.scales = graph.look_up(self._table[:, -1], self._place)

    def of(self, name: str, cells: Value) -> Value:
        """Return the scores of a column of numbers, shape (n, 1); NaN and infinity stay."""
        graph, column = cells.graph, self._columns[name]
        first = list(self._columns).index(name) * len(CONSTANTS)
        mu, sd, free, near = (
            graph.look_up(self._table[:, first + k], self._place) for k in range(len(CONSTANTS))
        )
        value = cells
        if column.log:
            smallest = float(np.finfo(np.float64).tiny)
            value = graph.node("Log", graph.node("Max", cells, smallest))
        off = value - mu
        size = abs(off)
        t = (size < near).where(0.0, graph.node("Min", size / sd, FARTHEST_T))
        square = t * t / free
        series = square * (1.0 - square * (0.5 - square * (1.0 / 3.0 - square * 0.25)))
        logs = (square < SMALL).where(series, graph.node("Log", square + 1.0))
        scale = (free * 8.0 + 1.0) / (free * 8.0 + 3.0)
        z = graph.node("Sign", off) * scale * graph.node("Sqrt", free * logs)
        return graph.node("IsInf", cells).where(cells, z)


def _spelled(values: Sequence[str], *, truth: bool) -> dict[bytes, int]:
    """Return the number of each value; truth values may be written otherwise."""
    places = {utf8(value): k for k, value in enumerate(values)}
    if truth:
        words = {word: name for word, name in TRUTHS.items() if name in values}
        for word, name in words.items():
            for spelled in (word, word.upper(), word.title()):
                places.setdefault(spelled.encode(), values.index(name))
    return places

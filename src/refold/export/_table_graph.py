"""A Detector as a graph of plain ONNX operators: what each column says is looked up in tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.encoding.dates import DAYS, HOURS
from refold.columns.encoding.dependence import N_CODES, NONE
from refold.columns.encoding.numbers import GRID
from refold.columns.parsing import TRUTHS
from refold.export._creased_graph import write_creased_distance
from refold.export._exported_columns import (
    Columns,
    ExportedColumn,
    ExportedDate,
    ExportedNumber,
    ExportedText,
)
from refold.export._graph import Graph, write, write_shares
from refold.export._group_graph import GroupScores
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.detector.scorer import FARTHEST
from refold.models.scoring import FoldScorer

_DAY, _HOUR = 86_400.0, 3_600.0
_THURSDAY = 3.0  # 1 January 1970, counted from Monday
# Seconds far beyond any date that are whole numbers still.
_FAR = 1e15
_LONG = 8  # letters of a word whose spellings are all listed
_INT64 = 7  # onnx.TensorProto.INT64


class TableResults(NamedTuple):
    """The names of what is computed: shapes (n,), (n,) and, if it adds up, (n, d)."""

    label: str
    distance: str
    contributions: str | None


class _Cells(NamedTuple):
    """What a column's cells are, each of shape (n, 1).

    The magnitude of a number is what its state adds; `novel` is 1 or 0, `missing` a truth value.
    """

    magnitude: str
    novel: str
    missing: str
    code: str


def write_plain(
    graph: Graph, model: Detector, columns: Columns, X: str, scores: GroupScores | None
) -> TableResults:
    """Write a model of numbers alone, as nodes that take rows `X`."""
    if scores is not None:
        places = [graph.constant(np.array([k], dtype=np.int64)) for k in range(len(columns.all))]
        cells = [graph.node("Gather", X, place, axis=1) for place in places]
        X = _side_by_side(
            graph, [scores.of(*each) for each in zip(columns.names, cells, strict=True)]
        )
    missing = graph.node("IsNaN", X)
    novel, empty = np.array([column.novel[1] for column in columns.all]), _empty(graph, missing)
    gone = graph.node("Or", graph.node("And", missing, graph.constant(novel)), empty)
    certain = graph.node("Where", gone, graph.number(columns.certain), graph.number(0.0))
    if isinstance(model.model_, CreasedREF):
        inside = write_creased_distance(graph, model.model_, X)
        return _creased(graph, model, inside, certain, _refused(graph, X), empty)
    numbers = [column for column in columns.all if isinstance(column, ExportedNumber)]
    sides = [
        graph.node("And", graph.node(side, X, graph.number(0.0)), graph.constant(ends == 0.0))
        for side, ends in (
            ("Less", np.array([column.floor for column in numbers])),
            ("Greater", np.array([column.ceiling for column in numbers])),
        )
    ]
    beyond = graph.node("Or", *sides)
    certain = graph.node("Where", beyond, graph.number(columns.certain), certain)
    contributions = write(graph, model.model_, X).contributions
    contributions = graph.node("Where", empty, graph.number(0.0), contributions)
    return _added_up(graph, model, graph.node("Add", contributions, certain))


def write_table(
    graph: Graph,
    model: Detector,
    columns: Columns,
    inputs: Sequence[str],
    scores: GroupScores | None,
) -> TableResults:
    """Write a model of a mixed table, as nodes that take a column each, of shape (n, 1)."""
    if scores is not None:
        inputs = [
            scores.of(column.name, cells) if isinstance(column, ExportedNumber) else cells
            for column, cells in zip(columns.all, inputs, strict=True)
        ]
    cells = [_cells(graph, *each) for each in zip(columns.all, inputs, strict=True)]
    X = _side_by_side(graph, [inputs[k] for k in columns.numbers.tolist()])
    magnitudes, news = [each.magnitude for each in cells], [each.novel for each in cells]
    if X:
        _fold(graph, model, columns, X, magnitudes)
    for k, column in enumerate(columns.all):
        if isinstance(column, ExportedNumber) and 0.0 in (column.floor, column.ceiling):
            side = "Less" if column.floor == 0.0 else "Greater"
            beyond = graph.node(side, inputs[k], graph.number(0.0))
            news[k] = graph.node("Where", beyond, graph.number(1.0), news[k])
    for k, beside in columns.beside.items():
        pair = graph.node("Mul", cells[beside.partner].code, _integer(graph, N_CODES))
        pair = graph.node("Add", pair, cells[k].code)
        found = _look_up(graph, beside.surprise.ravel(), pair)
        magnitudes[k] = graph.node("Add", magnitudes[k], found)
        if beside.novel.any():
            news[k] = graph.node("Add", news[k], _look_up(graph, beside.novel.ravel(), pair))
    M = graph.node("Min", _side_by_side(graph, magnitudes), graph.number(FARTHEST))
    empty = _empty(graph, _side_by_side(graph, [each.missing for each in cells]))
    novel = _side_by_side(graph, news)
    novel = graph.node("Where", empty, graph.number(1.0), novel)
    certain = graph.node("Mul", novel, graph.number(columns.certain))
    refused = _refused(graph, X) if X else graph.number(0.0)
    if isinstance(model.model_, CreasedREF):
        shown = _indicators(graph, model, cells)
        features = _side_by_side(graph, [part for part in (X, shown, M) if part])
        inside = write_creased_distance(graph, model.model_, features)
        return _creased(graph, model, inside, certain, refused, empty)
    parts = graph.node("Div", M, graph.number(len(columns.all)))
    parts = graph.node("Where", empty, graph.number(0.0), parts)
    parts = graph.node("Add", graph.node("Add", parts, certain), refused)
    return _added_up(graph, model, parts)


def _indicators(graph: Graph, model: Detector, cells: Sequence[_Cells]) -> str:
    """Write which of the values of categories with few each row has; nothing if there are none."""
    shown = []
    for column, each in zip(model.encoder_.counts.plan.used, cells, strict=True):
        for code in range(len(column.indicators)):
            same = graph.node("Equal", each.code, _integer(graph, code))
            shown.append(graph.node("Where", same, graph.number(1.0), graph.number(0.0)))
    return _side_by_side(graph, shown)


def _added_up(graph: Graph, model: Detector, contributions: str) -> TableResults:
    distance = graph.row_sum(contributions, keepdims=0)
    return TableResults(graph.label(distance, model.threshold_), distance, contributions)


def _creased(
    graph: Graph, model: Detector, inside: str, certain: str, refused: str, empty: str
) -> TableResults:
    """Add what is novel; it is certain even of a row with a gap, which has no other distance."""
    certain = graph.row_sum(certain, keepdims=0)
    inside = graph.node("Where", _flat(graph, empty), graph.number(0.0), inside)
    some = graph.node("Greater", certain, graph.number(0.0))
    gap = graph.node("And", graph.node("IsNaN", inside), some)
    inside = graph.node("Where", gap, graph.number(0.0), inside)
    distance = graph.node("Add", inside, certain)
    distance = graph.node("Add", distance, _flat(graph, refused))
    return TableResults(graph.label(distance, model.threshold_), distance, None)


def _flat(graph: Graph, column: str) -> str:
    return graph.node("Reshape", column, graph.constant(np.array([-1], dtype=np.int64)))


def _empty(graph: Graph, missing: str) -> str:
    """Write whether rows have no value at all, shape (n, 1): then every column is novel."""
    there = graph.node("Where", missing, graph.number(0.0), graph.number(1.0))
    return graph.node("Equal", graph.row_sum(there), graph.number(0.0))


def _refused(graph: Graph, X: str) -> str:
    """Write NaN for rows that Python refuses because of infinity, shape (n, 1); 0 for others."""
    gaps = graph.node("Where", graph.node("IsInf", X), graph.number(np.nan), graph.number(0.0))
    return graph.row_sum(gaps)


def _fold(graph: Graph, model: Detector, columns: Columns, X: str, magnitudes: list[str]) -> None:
    """Put in how far out numbers are; one that is missing has the surprise of that alone."""
    counts = model.encoder_.counts.numbers
    assert counts is not None
    scorer = FoldScorer(counts.chain, "exact", "l1", path=True, n_jobs=None)
    folded = write_shares(graph, scorer, X, graph.node("IsNaN", X))
    folded = graph.node("Round", graph.node("Mul", folded, graph.number(GRID)))
    folded = graph.node("Div", folded, graph.number(GRID))
    for place, k in enumerate(columns.numbers.tolist()):
        at = graph.constant(np.array([place], dtype=np.int64))
        own = graph.node("Gather", folded, at, axis=1)
        magnitudes[k] = graph.node("Max", own, magnitudes[k])


def _cells(graph: Graph, column: ExportedColumn, cells: str) -> _Cells:
    if isinstance(column, ExportedText):
        return _texts(graph, column, cells)
    missing = graph.node("IsNaN", cells)
    state = graph.node("Cast", missing, to=_INT64)
    magnitude = _look_up(graph, column.magnitudes, state)
    novel = _look_up(graph, column.novel, state)
    if isinstance(column, ExportedNumber):
        return _Cells(magnitude, novel, missing, _bins(graph, column, cells, missing))
    return _dates(graph, column, cells, _Cells(magnitude, novel, missing, ""))


def _texts(graph: Graph, column: ExportedText, cells: str) -> _Cells:
    """Find the place of each text: its own, that of a new one, or that of none."""
    n = len(column.values)
    places = {_utf8(text): place for place, text in enumerate(column.values)}
    places |= dict.fromkeys(_cased(column.missing), n + 1)
    if column.truth:
        named = {
            word: places[_utf8(name)] for word, name in TRUTHS.items() if _utf8(name) in places
        }
        places |= {text: place for word, place in named.items() for text in _cased([word])}
    place = graph.node(
        "LabelEncoder",
        cells,
        domain="ai.onnx.ml",
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=n,
    )
    missing = graph.node("Equal", place, _integer(graph, n + 1))
    return _Cells(
        _look_up(graph, column.magnitudes, place),
        _look_up(graph, column.novel, place),
        missing,
        _look_up(graph, column.codes, place),
    )


def _utf8(text: str) -> bytes:
    """Return a text as a graph holds it; half a surrogate pair is in no string of a runtime's."""
    return text.encode("utf-8", "surrogatepass")


def _cased(words: Iterable[str]) -> list[bytes]:
    """Return all ways to write words in large and small letters; of a long one, three."""
    few = [word for word in sorted(words) if len(word) > _LONG]
    return [_utf8(each) for w in few for each in (w, w.upper(), w.title())] + [
        "".join(letters).encode()
        for word in sorted(words)
        if len(word) <= _LONG
        for letters in product(*({c, c.upper()} for c in word))
    ]


def _bins(graph: Graph, column: ExportedNumber, cells: str, missing: str) -> str:
    """Write how many edges a number has passed."""
    none, first = _integer(graph, NONE), _integer(graph, 0)
    if not column.edges:
        return graph.node("Where", missing, none, first)
    passed = graph.node("LessOrEqual", graph.numbers(np.array([column.edges])), cells)
    passed = graph.node("Cast", passed, to=_INT64)
    axes = graph.constant(np.array([1], dtype=np.int64))
    return graph.node("Where", missing, none, graph.node("ReduceSum", passed, axes, keepdims=1))


def _dates(graph: Graph, column: ExportedDate, cells: str, found: _Cells) -> _Cells:
    """Write hour, weekday and range of seconds since 1970, or since midnight."""
    seconds = graph.node("Where", found.missing, graph.number(0.0), cells)
    seconds = graph.node("Clip", seconds, graph.number(-_FAR), graph.number(_FAR))
    days, clock = _divided(graph, seconds, _DAY)
    hour, _ = _divided(graph, clock, _HOUR)
    _, weekday = _divided(graph, graph.node("Add", days, graph.number(_THURSDAY)), float(DAYS))
    hour = graph.node("Cast", hour, to=_INT64)
    hour = graph.node("Min", hour, _integer(graph, HOURS - 1))
    weekday = graph.node("Cast", weekday, to=_INT64)
    views = [_look_up(graph, column.hours, hour), _look_up(graph, column.weekdays, weekday)]
    if column.counts.has_range:
        beyond = [graph.node("Sub", graph.number(column.counts.low), seconds)]
        if column.ranged:
            beyond.append(graph.node("Sub", seconds, graph.number(column.counts.high)))
        farther = graph.node("Max", *beyond, graph.number(0.0))
        views.append(graph.node("Div", farther, graph.number(column.counts.span)))
    told = graph.node("Where", found.missing, graph.number(0.0), graph.node("Max", *views))
    code = hour if column.counts.has_clock else weekday
    code = graph.node("Where", found.missing, _integer(graph, NONE), code)
    return found._replace(magnitude=graph.node("Max", told, found.magnitude), code=code)


def _divided(graph: Graph, value: str, by: float) -> tuple[str, str]:
    """Return the whole quotient and the rest, which is never negative."""
    whole = graph.node("Floor", graph.node("Div", value, graph.number(by)))
    return whole, graph.node("Sub", value, graph.node("Mul", whole, graph.number(by)))


def _look_up(graph: Graph, table: Floats | Booleans | Integers, at: str) -> str:
    if table.dtype == np.int64:
        return graph.node("Gather", graph.constant(table), at, axis=0)
    return graph.node("Gather", graph.numbers(table.astype(np.float64)), at, axis=0)


def _integer(graph: Graph, value: int) -> str:
    return graph.constant(np.array(value, dtype=np.int64))


def _side_by_side(graph: Graph, columns: Sequence[str]) -> str:
    return graph.node("Concat", *columns, axis=1) if columns else ""

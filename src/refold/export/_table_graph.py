"""A Detector as a graph of plain ONNX operators: what each column says is looked up in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from refold.columns.encoding.dates import DAYS, HOURS
from refold.columns.encoding.dependence import N_CODES, NONE
from refold.columns.encoding.numbers import GRID
from refold.columns.parsing import TRUTHS, says_whole_number
from refold.export._creased_graph import write_creased_distance
from refold.export._exported_columns import (
    Columns,
    ExportedColumn,
    ExportedDate,
    ExportedNumber,
    ExportedText,
)
from refold.export._graph import Graph, Value, utf8, write, write_shares
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


class TableResults(NamedTuple):
    """What is computed: shapes (n,), (n,) and, if it adds up, (n, d)."""

    label: Value
    distance: Value
    contributions: Value | None


class _Cells(NamedTuple):
    """What a column's cells are, each of shape (n, 1).

    The magnitude of a number is what its state adds; `novel` is 1 or 0, `missing` a truth value.
    """

    magnitude: Value
    novel: Value
    missing: Value
    code: Value


def write_numeric_nodes(
    model: Detector, columns: Columns, X: Value, scores: GroupScores | None
) -> TableResults:
    """Write a model of numbers alone, as nodes that take rows `X`."""
    graph = X.graph
    if scores is not None:
        cells = [(name, X.column(k)) for k, name in enumerate(columns.names)]
        X = graph.side_by_side([scores.of(*each) for each in cells])
    missing = X.is_nan()
    novel, empty = np.array([column.novel[1] for column in columns.all]), _empty(missing)
    certain = ((missing & novel) | empty).where(columns.certain, 0.0)
    if isinstance(model.model_, CreasedREF):
        inside = _scaled(write_creased_distance(model.model_, X), scores, _flat)
        return _creased(model, inside, certain, _refused(X), empty)
    numbers = [column for column in columns.all if isinstance(column, ExportedNumber)]
    below = (X < 0.0) & np.array([column.floor == 0.0 for column in numbers])
    above = (X > 0.0) & np.array([column.ceiling == 0.0 for column in numbers])
    certain = (below | above).where(columns.certain, certain)
    contributions = empty.where(0.0, _scaled(write(model.model_, X).contributions, scores))
    return _added_up(model, contributions + certain)


def write_mixed_nodes(
    graph: Graph,
    model: Detector,
    columns: Columns,
    inputs: Sequence[Value],
    scores: GroupScores | None,
) -> TableResults:
    """Write a model of a mixed table, as nodes that take a column each, of shape (n, 1)."""
    if scores is not None:
        inputs = [
            scores.of(column.name, cells) if isinstance(column, ExportedNumber) else cells
            for column, cells in zip(columns.all, inputs, strict=True)
        ]
    cells = [_cells(*each) for each in zip(columns.all, inputs, strict=True)]
    numbers = [inputs[k] for k in columns.numbers.tolist()]
    X = graph.side_by_side(numbers) if numbers else None
    magnitudes, news = [each.magnitude for each in cells], [each.novel for each in cells]
    if X is not None:
        _fold(model, columns, X, magnitudes)
    for k, column in enumerate(columns.all):
        if isinstance(column, ExportedNumber) and 0.0 in (column.floor, column.ceiling):
            beyond = inputs[k] < 0.0 if column.floor == 0.0 else inputs[k] > 0.0
            news[k] = beyond.where(1.0, news[k])
    for k, beside in columns.beside.items():
        pair = cells[beside.partner].code * N_CODES + cells[k].code
        magnitudes[k] += graph.look_up(beside.surprise.ravel(), pair)
        if beside.novel.any():
            news[k] += graph.look_up(beside.novel.ravel(), pair)
    M = graph.node("Min", graph.side_by_side(magnitudes), FARTHEST)
    empty = _empty(graph.side_by_side([each.missing for each in cells]))
    certain = empty.where(1.0, graph.side_by_side(news)) * columns.certain
    refused = graph.of(0.0) if X is None else _refused(X)
    if isinstance(model.model_, CreasedREF):
        features = [*([] if X is None else [X]), *_indicators(model, cells), M]
        inside = write_creased_distance(model.model_, graph.side_by_side(features))
        inside = _scaled(inside, scores, _flat)
        return _creased(model, inside, certain, refused, empty)
    parts = empty.where(0.0, _scaled(M / float(len(columns.all)), scores))
    return _added_up(model, parts + certain + refused)


def _indicators(model: Detector, cells: Sequence[_Cells]) -> Iterator[Value]:
    """Write which of the values of categories with few each row has."""
    for column, each in zip(model.encoder_.counts.plan.used, cells, strict=True):
        for code in range(len(column.indicators)):
            yield each.code.equals(code).where(1.0, 0.0)


def _scaled(
    inside: Value, scores: GroupScores | None, shaped: Callable[[Value], Value] = lambda each: each
) -> Value:
    """Divide distances, or their parts, by what they are divided by in the group of their row."""
    if scores is None or scores.scales is None:
        return inside
    return inside / shaped(scores.scales)


def _added_up(model: Detector, contributions: Value) -> TableResults:
    distance = contributions.sum(keepdims=0)
    label = distance.graph.label(distance, model.threshold_)
    return TableResults(label, distance, contributions)


def _creased(
    model: Detector, inside: Value, certain: Value, refused: Value, empty: Value
) -> TableResults:
    """Add what is novel; it is certain even of a row with a gap, which has no other distance."""
    certain = certain.sum(keepdims=0)
    inside = _flat(empty).where(0.0, inside)
    inside = (inside.is_nan() & (certain > 0.0)).where(0.0, inside)
    distance = inside + certain + _flat(refused)
    return TableResults(distance.graph.label(distance, model.threshold_), distance, None)


def _flat(column: Value) -> Value:
    return column.graph.node("Reshape", column, np.array([-1]))


def _empty(missing: Value) -> Value:
    """Write whether rows have no value at all, shape (n, 1): then every column is novel."""
    return missing.where(0.0, 1.0).sum().equals(0.0)


def _refused(X: Value) -> Value:
    """Write NaN for rows that Python refuses because of infinity, shape (n, 1); 0 for others."""
    return X.graph.node("IsInf", X).where(np.nan, 0.0).sum()


def _fold(model: Detector, columns: Columns, X: Value, magnitudes: list[Value]) -> None:
    """Put in how far out numbers are; one that is missing has the surprise of that alone."""
    counts = model.encoder_.counts.numbers
    assert counts is not None
    scorer = FoldScorer(counts.chain, "exact", "l1", path=True, n_jobs=None)
    folded = write_shares(scorer, X, X.is_nan())
    folded = X.graph.node("Round", folded * float(GRID)) / float(GRID)
    for place, k in enumerate(columns.numbers.tolist()):
        magnitudes[k] = X.graph.node("Max", folded.column(place), magnitudes[k])


def _cells(column: ExportedColumn, cells: Value) -> _Cells:
    if isinstance(column, ExportedText):
        return _texts(column, cells)
    missing = cells.is_nan()
    state = missing.to_integer()
    magnitude = cells.graph.look_up(column.magnitudes, state)
    novel = cells.graph.look_up(column.novel.astype(np.float64), state)
    if isinstance(column, ExportedNumber):
        return _Cells(magnitude, novel, missing, _bins(column, cells, missing))
    views, code = _dates(column, missing.where(0.0, cells))
    told = missing.where(0.0, cells.graph.node("Max", *views))
    magnitude = cells.graph.node("Max", told, magnitude)
    return _Cells(magnitude, novel, missing, missing.where(NONE, code))


def _texts(column: ExportedText, cells: Value) -> _Cells:
    """Find the place of each text: its own, that of a new one, or that of none."""
    n, graph = len(column.values), cells.graph
    places = {utf8(text): place for place, text in enumerate(column.values)}
    places |= dict.fromkeys(_cased(column.missing), n + 1)
    if column.whole:
        whole = [text for text in column.values if says_whole_number(text)]
        places |= {utf8(f"{text}.0"): places[utf8(text)] for text in whole}
    if column.truth:
        named = {word: places[utf8(name)] for word, name in TRUTHS.items() if utf8(name) in places}
        places |= {text: place for word, place in named.items() for text in _cased([word])}
    place = graph.codes(cells, places, n)
    return _Cells(
        graph.look_up(column.magnitudes, place),
        graph.look_up(column.novel.astype(np.float64), place),
        place.equals(n + 1),
        graph.look_up(column.codes, place),
    )


def _cased(words: Iterable[str]) -> list[bytes]:
    """Return all ways to write words in large and small letters; of a long one, three."""
    few = [word for word in sorted(words) if len(word) > _LONG]
    return [utf8(each) for w in few for each in (w, w.upper(), w.title())] + [
        "".join(letters).encode()
        for word in sorted(words)
        if len(word) <= _LONG
        for letters in product(*({c, c.upper()} for c in word))
    ]


def _bins(column: ExportedNumber, cells: Value, missing: Value) -> Value:
    """Write how many edges a number has passed."""
    if not column.edges:
        return missing.where(NONE, 0)
    passed = cells.graph.of(np.array([column.edges])) <= cells
    return missing.where(NONE, passed.to_integer().sum())


def _dates(column: ExportedDate, seconds: Value) -> tuple[list[Value], Value]:
    """Write hour, weekday and range of seconds since 1970, or since midnight; and their code."""
    graph = seconds.graph
    seconds = seconds.clip(-_FAR, _FAR)
    days, clock = _divided(seconds, _DAY)
    hour, _ = _divided(clock, _HOUR)
    _, weekday = _divided(days + _THURSDAY, float(DAYS))
    hour, weekday = graph.node("Min", hour.to_integer(), HOURS - 1), weekday.to_integer()
    views = [graph.look_up(column.hours, hour), graph.look_up(column.weekdays, weekday)]
    if column.counts.has_range:
        beyond = [column.counts.low - seconds]
        if column.ranged:
            beyond.append(seconds - column.counts.high)
        views.append(graph.node("Max", *beyond, 0.0) / column.counts.span)
    return views, hour if column.counts.has_clock else weekday


def _divided(value: Value, by: float) -> tuple[Value, Value]:
    """Return the whole quotient and the rest, which is never negative."""
    whole = value.graph.node("Floor", value / by)
    return whole, value - whole * by

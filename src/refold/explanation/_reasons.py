"""From what a model says of rows to reasons, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.explanation._beside import beside
from refold.explanation._changes import different, smallest_changes
from refold.explanation._nearest import is_exact, nearest_accepted
from refold.explanation._ranges import Normal, normal_of
from refold.explanation._results import Cell, Reason
from refold.explanation._search import search, stated
from refold.explanation._tables import of_table, shares
from refold.judgement import Judgement
from refold.models.creased import CreasedREF
from refold.models.detector.scorer import inside as scorer_inside
from refold.models.scoring import FoldScorer

_AT_ONCE = 1024
# Training rows that a rejected one is compared with if nothing else is accepted.
_LEARNED = 1000


def explained_rows(
    model: Any, found: Judgement, most: int | None, nearest: bool
) -> Iterator[dict[str, Any]]:
    """Give the reasons and changes of the rows that were judged."""
    judged = np.flatnonzero(found.judged)
    for begin in range(0, len(judged), _AT_ONCE):
        part = found.take(judged[begin : begin + _AT_ONCE])
        by_cell = _need_words(part)
        in_numbers, in_words = np.flatnonzero(~by_cell), np.flatnonzero(by_cell)
        numbers: Iterator[dict[str, Any]] = iter(())
        tables: Iterator[dict[str, Any]] = iter(())
        if len(in_numbers):
            numbers = _of_numbers(model, part.take(in_numbers), most, nearest)
        if len(in_words):
            tables = of_table(model, part.take(in_words), most, nearest)
        yield from (next(tables if words else numbers) for words in by_cell.tolist())


def _need_words(found: Judgement) -> Booleans:
    """Say which rows hold something else than numbers, or none where there always was one."""
    if found.judge.encoder is None:
        return np.zeros(len(found), dtype=np.bool_)
    plain = found.judge.encoder.counts.plan.plain
    return np.asarray(np.isinf(found.rows).any(axis=1) | (not plain))


def _of_numbers(
    model: Any, found: Judgement, most: int | None, nearest: bool
) -> Iterator[dict[str, Any]]:
    estimator = model if found.judge.encoder is None else model.model_
    keeps = nearest and isinstance(estimator, CreasedREF)
    learned = estimator.training_sample()[:_LEARNED] if keeps else None
    yield from _of_block(found, normal_of(model.summary_), learned, most, nearest)


def _of_block(
    found: Judgement, normal: Normal, learned: Floats | None, most: int | None, nearest: bool
) -> Iterator[dict[str, Any]]:
    X, (_, parts, expected, _) = found.rows.astype(np.float64, copy=False), found.attribution()
    inside = normal.inside(X)
    wanted = found.by_blame[:, :most]
    names, ranges = found.names, normal.ranges
    nowhere = np.full(wanted.shape, np.nan)
    accepted, said = _ways_out(found, normal, wanted) if nearest else (nowhere, nowhere)
    columns = {
        "value": X,
        "contribution": parts,
        "share": shares(found),
        "inside": inside,
        "as_far": normal.as_far(X),
        "expected": None if expected is None else normal.nearest(expected),
    }
    fields = {
        name: np.take_along_axis(values, wanted, axis=1).tolist()
        for name, values in columns.items()
        if values is not None
    }
    if nearest:
        fields |= {"accepted_at": _or_none(accepted), "stated": _or_none(said)}
    exact = is_exact(scorer_inside(found.judge.scorer))
    partners = beside(found, inside)
    changes = _changes(found, normal, learned, wanted, said) if nearest else [[]] * len(found)
    own = X.tolist()
    for i, features in enumerate(wanted.tolist()):
        yield {
            "reasons": tuple(
                Reason(
                    feature=names[j],
                    normal=ranges[j],
                    beside=tuple(Cell(names[k], own[i][k]) for k in partners[i].get(j, ())),
                    exact=exact,
                    **{name: values[i][at] for name, values in fields.items()},
                )
                for at, j in enumerate(features)
            ),
            "changes": tuple(Cell(names[j], value) for j, value in changes[i]),
        }


def _ways_out(found: Judgement, normal: Normal, wanted: Integers) -> tuple[Floats, Floats]:
    """Return the nearest accepted values, and as they are named."""
    if isinstance(scorer_inside(found.judge.scorer), FoldScorer):
        accepted = nearest_accepted(found, normal, wanted)
    else:
        accepted = search(found, normal, wanted)
    return accepted, stated(found, wanted, accepted)


def _changes(
    found: Judgement, normal: Normal, learned: Floats | None, wanted: Integers, said: Floats
) -> list[list[tuple[int, float]]]:
    """Return what would have to change in each row: one feature if that will do, else several."""
    out: list[list[tuple[int, float]]] = [[] for _ in range(len(found))]
    single = ~np.isnan(said)
    for i in np.flatnonzero(single.any(axis=1)).tolist():
        at = int(single[i].argmax())
        out[i] = [(int(wanted[i, at]), float(said[i, at]))]
    open_ = np.flatnonzero(found.outlier & ~single.any(axis=1))
    if len(open_):
        rows = found.take(open_)
        largest = np.argsort(-rows.attribution().parts, axis=1, kind="stable")
        instead = smallest_changes(rows, normal, learned)
        changed = different(instead, rows.rows)
        for at, i in enumerate(open_.tolist()):
            features = [j for j in largest[at].tolist() if changed[at, j]]
            out[i] = [(j, float(instead[at, j])) for j in features]
    return out


def _or_none(values: Floats) -> list[list[float | None]]:
    return [[None if v != v else v for v in row] for row in values.tolist()]

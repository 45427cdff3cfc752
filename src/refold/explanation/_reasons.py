"""From what a model says of rows to reasons, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.explanation._beside import beside
from refold.explanation._changes import different, names_rows, smallest_changes, stated
from refold.explanation._context import in_column_units
from refold.explanation._nearest import is_exact, nearest_accepted
from refold.explanation._reason import Cell, Reason
from refold.explanation._tables import column_form, of_table
from refold.judgement import Judgement
from refold.judgement.normal import Normal, normal_of
from refold.models.creased import CreasedREF
from refold.models.detector.scorer import inside as scorer_inside
from refold.models.scoring import FoldScorer

_AT_ONCE = 1024
# Training rows that an outlier is compared with if nothing else is normal.
_LEARNED = 1000
_TRIED = 3  # columns that are tried one by one


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
        each = (next(tables if words else numbers) for words in by_cell.tolist())
        yield from in_column_units(part, each)


def _need_words(found: Judgement) -> Booleans:
    """Say which rows hold something else than numbers, none where there always was one, or none."""
    if found.judge.encoder is None:
        return np.zeros(len(found), dtype=np.bool_)
    plain = found.judge.encoder.counts.plan.plain
    marked = np.isinf(found.rows).any(axis=1) | np.isnan(found.rows).all(axis=1)
    return np.asarray(marked | (not plain) | bool(found.judge.rules))


def _of_numbers(
    model: Any, found: Judgement, most: int | None, nearest: bool
) -> Iterator[dict[str, Any]]:
    """Give the reasons and changes of rows of numbers."""
    normal, X = normal_of(model.summary_), found.numbers.astype(np.float64, copy=False)
    wanted = found.by_blame[:, :most]
    nothing: list[list[tuple[int, float]]] = [[] for _ in range(len(found))]
    accepted, said, changes = np.full((2, *wanted.shape), np.nan), None, nothing
    if nearest:
        accepted, said = _alone(found, normal, wanted)
        said[np.isin(wanted, [j for j, name in enumerate(found.names) if names_rows(name)])] = (
            np.nan
        )
        changes = _changes(model, found, normal, wanted, said)
    inside, expected = normal.inside(X), found.told_expected
    partners, far = beside(found, inside), normal.as_far(X)
    exact = is_exact(scorer_inside(found.judge.scorer))
    forms = [column_form(found.judge, j) for j in range(X.shape[1])]
    for i, columns in enumerate(wanted.tolist()):
        instead = dict(changes[i])
        yield {
            "reasons": tuple(
                Reason(
                    feature=found.names[j],
                    value=float(X[i, j]),
                    contribution=float(found.attribution().parts[i, j]),
                    share=float(found.shares[i, j]),
                    normal=normal.ranges[j],
                    inside=bool(inside[i, j]),
                    as_far=float(far[i, j]),
                    beside=tuple(
                        Cell(found.names[k], float(X[i, k]), *forms[k])
                        for k in partners[i].get(j, ())
                    ),
                    accepted_at=_or_none(accepted[i, at]) if nearest else None,
                    stated=None if said is None else _or_none(said[i, at]),
                    exact=exact,
                    expected=_expected(expected, i, j, instead),
                    decimals=forms[j][1],
                    unit=forms[j][0],
                )
                for at, j in enumerate(columns)
            ),
            "changes": tuple(Cell(found.names[j], value, *forms[j]) for j, value in changes[i]),
        }


def _alone(found: Judgement, normal: Normal, wanted: Integers) -> tuple[Floats, Floats]:
    """Return values of one column with which a row would be normal, and as they are told.

    Where nothing is expected these are the nearest, of the wanted columns; else what is expected of
    the first ones.
    """
    if isinstance(scorer_inside(found.judge.scorer), FoldScorer):
        accepted = nearest_accepted(found, normal, wanted)
        return accepted, stated(found, wanted, accepted)
    X, expected = found.numbers.astype(np.float64, copy=False), found.expected
    own = np.take_along_axis(X, wanted, axis=1)
    accepted = np.where(found.outlier[:, None], np.nan, own)
    rows = np.flatnonzero(found.outlier)
    for place in range(min(_TRIED, wanted.shape[1]) if expected is not None else 0):
        assert expected is not None
        columns = wanted[rows, place]
        tried = X[rows]
        tried[np.arange(len(rows)), columns] = expected[rows, columns]
        fine = ~found.with_numbers(tried, rows).outlier & ~np.isnan(own[rows, place])
        accepted[rows[fine], place] = expected[rows[fine], columns[fine]]
    return accepted, np.where(found.outlier[:, None], accepted, np.nan)


def _changes(
    model: Any, found: Judgement, normal: Normal, wanted: Integers, said: Floats
) -> list[list[tuple[int, float]]]:
    """Return what would have to change in each row: one column if that will do, else several."""
    out: list[list[tuple[int, float]]] = [[] for _ in range(len(found))]
    single = ~np.isnan(said)
    for i in np.flatnonzero(single.any(axis=1)).tolist():
        at = int(single[i].argmax())
        out[i] = [(int(wanted[i, at]), float(said[i, at]))]
    open_ = np.flatnonzero(found.outlier & ~single.any(axis=1))
    if len(open_):
        rows = found.take(open_)
        estimator = model if found.judge.encoder is None else model.model_
        keeps = isinstance(estimator, CreasedREF)
        learned = estimator.training_sample()[:_LEARNED] if keeps else None
        instead = smallest_changes(rows, normal, learned)
        changed = different(instead, rows.numbers)
        for at, i in enumerate(open_.tolist()):
            columns = [j for j in rows.by_blame[at].tolist() if changed[at, j]]
            out[i] = [(j, float(instead[at, j])) for j in columns]
    named = {j for j, name in enumerate(found.names) if names_rows(name)}
    return [[] if any(j in named for j, _ in each) else each for each in out]


def _expected(
    expected: Floats | None, row: int, column: int, instead: dict[int, float]
) -> float | None:
    """Return what is expected of a number: if it is to change, that is what it changes to."""
    if expected is None:
        return None
    return instead[column] if column in instead else _or_none(expected[row, column])


def _or_none(value: float) -> float | None:
    return None if value != value else float(value)

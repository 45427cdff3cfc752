"""How often a wrong cell is noticed in columns that are not numbers: typos, other values, gaps."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from refold._typing import Booleans, Integers
from refold.base.words import quoted
from refold.checks._normal_rows import NormalRows
from refold.columns.table import Column, DateColumn, TextColumn
from refold.judgement import Judge

_MOST, _FEWEST, _ALL = 200, 50, 2_000  # rows: per column at most and at least, and of all columns
_SEED = 512_908_337
_DAY = 86_400.0
_TRIES = 20


@dataclass(frozen=True)
class CellChange:
    """How often one kind of wrong cell makes an outlier of a normal row."""

    #: feature, role: the column, and what it is: "category", "text", "identifier" or "date"
    feature: str
    role: str
    change: str  #: what was done to the cell, such as "a typo"
    example: str  #: one of the changes: "'Frod' for 'Ford'"
    noticed: float  #: the share of the rows that are outliers then
    rows: int  #: how many normal rows were changed


class _Wrong(NamedTuple):
    change: str
    column: Column
    example: str = ""
    changed: Booleans | slice = slice(None)  # which rows have another cell than before


def cell_changes(judge: Judge, rows: NormalRows) -> tuple[CellChange, ...]:
    """Change one cell of normal rows, and say how many are noticed."""
    if rows.cells is None or judge.encoder is None:
        return ()
    roles = {column.name: column.role for column in judge.encoder.columns_}
    others = {
        place: column
        for place, column in enumerate(rows.cells.columns)
        if isinstance(column, TextColumn | DateColumn)
    }
    most = min(_MOST, max(_FEWEST, _ALL // max(len(others), 1)))
    found = []
    for place, column in others.items():
        name = judge.names[place]
        there = np.flatnonzero(column.state == 0)[:most]
        # A date loses how it was written: what is odd for that alone is no wrong date.
        there = there[_noticed(judge, rows, there, place, _plain(column.take(there))) == 0]
        for wrong in _wrong(column.take(there)) if len(there) else ():
            noticed = _noticed(judge, rows, there, place, wrong.column)[wrong.changed]
            share, rows_changed = float(noticed.mean()), len(noticed)
            found.append(
                CellChange(name, roles[name], wrong.change, wrong.example, share, rows_changed)
            )
    return tuple(found)


def _noticed(
    judge: Judge, rows: NormalRows, which: Integers, place: int, column: Column
) -> Integers:
    """Return 1 for each of the rows that is an outlier with other cells in a column."""
    assert rows.cells is not None
    if len(which) == 0:
        return np.zeros(0, dtype=np.int64)
    table = rows.cells.take(which).with_columns({place: column})
    return np.asarray(judge.table(table).labels == -1, dtype=np.int64)


def _plain(column: Column) -> Column:
    return replace(column, source=None, form=None) if isinstance(column, DateColumn) else column


def _wrong(column: Column) -> Iterator[_Wrong]:
    """Give the wrong cells that are tried in a column."""
    if isinstance(column, DateColumn):
        yield from _wrong_dates(replace(column, source=None, form=None))
        return
    assert isinstance(column, TextColumn)
    rng, values = np.random.default_rng(_SEED), list(column.values)
    typos = [_typo(text, frozenset(values), rng) for text in values]
    column = replace(column, source=None)
    yield _Wrong("a typo", column.renamed(typos), _instead(typos[0], values[0]))
    other = _exchanged(column.codes, rng)
    changed = other != column.codes
    if changed.any():
        first = int(changed.argmax())
        example = _instead(values[other[first]], values[column.codes[first]])
        yield _Wrong("another of its values", replace(column, codes=other), example, changed)
    yield _Wrong("a missing value", column.renamed([None] * len(values)))


def _wrong_dates(column: DateColumn) -> Iterator[_Wrong]:
    days, how = (365.0, "a year") if column.has_date else (0.5, "12 hours")
    signs = {"later": 1.0, "earlier": -1.0} if column.has_date else {"later": 1.0}
    for side, sign in signs.items():
        moved = column.seconds + sign * days * _DAY
        moved = moved if column.has_date else np.mod(moved, _DAY)
        yield _Wrong(f"{how} {side}", replace(column, seconds=moved))
    none = replace(column, seconds=np.full(len(column), np.nan))
    yield _Wrong("a missing value", none)


def _exchanged(codes: Integers, rng: np.random.Generator) -> Integers:
    """Return other codes, as frequent as they are; some stay where nearly all rows have one."""
    other = rng.permutation(codes)
    for _ in range(_TRIES):
        same = other == codes
        other[same] = rng.choice(codes, np.count_nonzero(same))
    return other


def _typo(text: str, known: frozenset[str], rng: np.random.Generator) -> str:
    """Change, double, leave out or transpose a character; no known value comes of it."""
    letters = string.digits if text.isdigit() else string.ascii_lowercase
    for _ in range(_TRIES):
        at = int(rng.integers(len(text)))
        wrong = (
            text[:at] + letters[rng.integers(len(letters))] + text[at + 1 :],
            text[: at + 1] + text[at:],
            text[:at] + text[at + 1 :],
            text[:at] + text[at : at + 2][::-1] + text[at + 2 :],
        )[rng.integers(4)]
        if wrong.strip() and wrong not in known:
            return wrong
    return text + text[-1]


def _instead(wrong: str, right: str) -> str:
    return f"{quoted(wrong)} for {quoted(right)}"

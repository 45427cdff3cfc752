"""Reasons of rows that hold more than numbers: per column, each in the words of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np

from refold.columns.encoding.descriptions import CellDescriber
from refold.columns.number_form import NumberForm
from refold.explanation._beside import beside
from refold.explanation._changes import table_changes
from refold.explanation._reason import Cell, Reason, called
from refold.judgement import LEAST_SHARE, Judge, Judgement
from refold.judgement.normal import normal_of
from refold.judgement.number_text import in_data_digits
from refold.models.detector.scorer import TableScorer


def column_form(judge: Judge, column: int) -> tuple[str, int | None]:
    """Return the unit that the cells of a column have, and how many digits behind the point."""
    unit, numeric = "", judge.numeric
    if judge.encoder is not None:
        form = judge.encoder.counts.plan.used[column].form
        if isinstance(form, NumberForm) and form.kind == "number":
            unit = form.suffix or form.prefix
    if judge.summary is None or column not in numeric:
        return unit, None
    return unit, normal_of(judge.summary).decimals[numeric.index(column)]


def of_table(
    model: Any, found: Judgement, most: int | None, nearest: bool
) -> Iterator[dict[str, Any]]:
    """Give the reasons and changes of rows that all have a value."""
    changes = table_changes(found) if nearest else [{}] * len(found)
    block = _Block(found, changes)
    for row in range(len(found)):
        columns = block.columns(row, most)
        reasons = tuple(block.reason(row, column) for column in columns)
        yield {"reasons": reasons, "changes": block.changes(row)}


class _Block:
    """Rows that are explained together."""

    def __init__(self, found: Judgement, changes: Sequence[Mapping[int, float | str]]) -> None:
        judge = found.judge
        assert judge.encoder is not None
        assert found.cells is not None
        assert isinstance(judge.scorer, TableScorer)
        rows, self._novel = judge.scorer.unpack(found.rows)
        counts = judge.encoder.counts
        magnitudes = rows[:, len(judge.scorer.leading) :]
        self._normal = None if judge.summary is None else normal_of(judge.summary)
        known = zip(
            judge.numeric, () if self._normal is None else self._normal.levels, strict=False
        )
        levels = {column: values for column, values in known if values is not None}
        self._words = CellDescriber(
            counts, found.cells, magnitudes, self._novel, judge.encoder.context, levels
        )
        self._unblamed = {k for k, n in enumerate(found.names) if n in judge.rules.unblamed}
        self._roles = [column.role for column in counts.plan.used]
        self._forms = [column_form(judge, k) for k in range(len(found.names))]
        self._place = {column: place for place, column in enumerate(judge.numeric)}
        self._found, self._changes = found, changes
        self._empty = np.isnan(found.rows).all(axis=1)
        X, normal = found.numbers, self._normal
        self._inside = np.zeros(X.shape, bool) if normal is None else normal.inside(X)
        self._as_far = np.zeros(X.shape) if normal is None else normal.as_far(X)
        inside = np.zeros(self._novel.shape, dtype=np.bool_)
        inside[:, judge.numeric] = self._inside
        self._partners = beside(found, inside)
        self._expected = found.told_expected

    def columns(self, row: int, most: int | None) -> list[int]:
        """Return the columns to name: those that matter most, and all that are novel."""
        order = self._found.by_blame[row].tolist()
        return [
            c
            for rank, c in enumerate(order)
            if (most is None or rank < most or self._is_novel(row, c)) and c not in self._unblamed
        ]

    def _is_novel(self, row: int, column: int) -> bool:
        """Whether a cell is novel; of two that contradict each other, the one that is to blame."""
        if self._found.violated[row, column]:
            return True
        if not self._novel[row, column]:
            return False
        blamed = float(self._found.shares[row, column]) >= LEAST_SHARE
        return blamed or not self._words.contradicts(row, column)

    def changes(self, row: int) -> tuple[Cell, ...]:
        """Return what would have to change in a row."""
        names, forms = self._found.names, self._forms
        return tuple(Cell(names[k], value, *forms[k]) for k, value in self._changes[row].items())

    def reason(self, row: int, column: int) -> Reason:
        """Return what is said of a cell."""
        said = self._words.describe(row, column)
        count = len(self._roles)
        words = f"no value in {count:,} of {count:,} columns" if self._empty[row] else said.words
        fields = self._of_number(row, column) or {
            "normal": (),
            "inside": not said.view,
            "as_far": exp(-said.surprise),
        }
        others = self._partners[row].get(column, ()) if said.beside is None else (said.beside,)
        return Reason(
            feature=self._found.names[column],
            value=self._words.value(row, column),
            contribution=float(self._found.attribution().parts[row, column]),
            share=float(self._found.shares[row, column]),
            beside=tuple(self._cell(row, other) for other in others),
            role=self._roles[column],
            view="empty" if self._empty[row] else said.view,
            words=words,
            novel=self._is_novel(row, column),
            unit=self._forms[column][0],
            decimals=self._forms[column][1],
            rule=self._rule(row, column),
            **fields,
        )

    def _rule(self, row: int, column: int) -> str:
        """Say which limit of the user's a cell violates."""
        cells, judge = self._found.cells, self._found.judge
        if not self._found.violated[row, column] or cells is None:
            return ""
        own = cells.as_read.take(np.array([row]))
        name, (unit, decimals) = self._found.names[column], self._forms[column]
        return judge.rules.words(
            name, own, lambda end: in_data_digits(end, decimals), called(name, unit)[1]
        )

    def _of_number(self, row: int, column: int) -> dict[str, Any]:
        """Return what is known of a number; nothing of others."""
        if column not in self._place or self._normal is None:
            return {}
        place, expected = self._place[column], None
        if self._expected is not None:  # if it is to change, that is what it changes to
            value = float(self._changes[row].get(column, self._expected[row, place]))
            expected = None if np.isnan(value) else value
        return {
            "normal": self._normal.ranges[place],
            "inside": bool(self._inside[row, place]),
            "as_far": float(self._as_far[row, place]),
            "expected": expected,
        }

    def _cell(self, row: int, column: int) -> Cell:
        return Cell(self._found.names[column], self._words.value(row, column), *self._forms[column])

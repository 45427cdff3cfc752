"""Reasons of rows that hold more than numbers: per column, each in the words of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.columns.encoding.words import CellWords
from refold.explanation._beside import beside
from refold.explanation._expected import Relations
from refold.explanation._ranges import normal_of
from refold.explanation._results import Cell, Reason
from refold.explanation._table_changes import table_changes
from refold.judgement import Judgement
from refold.models.detector.scorer import TableScorer


def shares(found: Judgement) -> Floats:
    """Return each column's part as a share of the distance."""
    parts = found.attribution().parts
    total = parts.sum(axis=1) if found.judge.scorer.additive else found.distances
    return np.divide(parts, total[:, None], out=np.zeros_like(parts), where=total[:, None] > 0.0)


def of_table(
    model: Any, found: Judgement, most: int | None, nearest: bool
) -> Iterator[dict[str, Any]]:
    """Give the reasons and changes of rows that all have a value."""
    block = _Block(model, found)
    changes = table_changes(found, block.normal, block.expected) if nearest else [()] * len(found)
    for row in range(len(found)):
        columns = block.columns(row, most)
        reasons = tuple(block.reason(row, column) for column in columns)
        yield {"reasons": reasons, "changes": changes[row]}


class _Block:
    """Rows that are explained together.

    Parameters
    ----------
    model : Detector
        Fitted.
    found : Judgement
        What it says of the rows.
    """

    def __init__(self, model: Any, found: Judgement) -> None:
        judge = found.judge
        assert judge.encoder is not None
        assert found.cells is not None
        assert isinstance(judge.scorer, TableScorer)
        rows, self._novel = judge.scorer.unpack(found.rows)
        counts = judge.encoder.counts
        magnitudes = rows[:, len(judge.scorer.leading) :]
        self._words = CellWords(counts, found.cells, magnitudes, self._novel)
        self._roles = [column.role for column in counts.plan.used]
        self._place = {column: place for place, column in enumerate(judge.numeric)}
        self._found, self._shares = found, shares(found)
        self.normal = None if model.summary_ is None else normal_of(model.summary_)
        X = found.numbers
        self._inside = np.zeros(X.shape, bool) if self.normal is None else self.normal.inside(X)
        self._as_far = np.zeros(X.shape) if self.normal is None else self.normal.as_far(X)
        inside = np.zeros(self._novel.shape, dtype=np.bool_)
        inside[:, judge.numeric] = self._inside
        self._partners = beside(found, inside)
        self.expected = self._expect(found)

    def _expect(self, found: Judgement) -> Floats | None:
        """Return what the numbers of each row lead to expect of each other, if that was learned."""
        relations = None if self.normal is None else Relations.of(found)
        return (
            None
            if relations is None or self.normal is None
            else self.normal.nearest(relations.expected)
        )

    def columns(self, row: int, most: int | None) -> list[int]:
        """Return the columns to name: those that matter most, and all that are novel."""
        order = self._found.by_blame[row].tolist()
        return [
            c for rank, c in enumerate(order) if most is None or rank < most or self._novel[row, c]
        ]

    def reason(self, row: int, column: int) -> Reason:
        """Return what is said of a cell."""
        said = self._words.said(row, column)
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
            share=float(self._shares[row, column]),
            beside=tuple(self._cell(row, other) for other in others),
            role=self._roles[column],
            view=said.view,
            words=said.words,
            novel=bool(self._novel[row, column]),
            **fields,
        )

    def _of_number(self, row: int, column: int) -> dict[str, Any]:
        """Return what is known of a number; nothing of others."""
        if column not in self._place or self.normal is None:
            return {}
        place, expected = self._place[column], self.expected
        return {
            "normal": self.normal.ranges[place],
            "inside": bool(self._inside[row, place]),
            "as_far": float(self._as_far[row, place]),
            "expected": None if expected is None else float(expected[row, place]),
        }

    def _cell(self, row: int, column: int) -> Cell:
        return Cell(self._found.names[column], self._words.value(row, column))

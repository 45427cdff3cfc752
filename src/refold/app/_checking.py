"""New rows: which are not normal, why, and page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from refold._typing import Integers
from refold.app._learning import Lesson
from refold.app._rates import RateChoice, rate_choices
from refold.app._tables import KeptTable
from refold.base.errors import UserError
from refold.explain import Explanation, explain
from refold.judgement import Judgement
from refold.judgement.reading import saying_where
from refold.report.parts import (
    AlarmGroup,
    ColumnShares,
    Marked,
    grouped,
    groups_of,
    that_matter,
)
from refold.tabular.errors import listed

_REASONS = 3
_BLAMED = 1000  # reasons cost more than distances: groups are made of so many rows, the worst
_PER_PAGE = 25
_AT_ONCE = 5000  # rows that are judged before it is said how far it has come
_KEPT = 10_000  # rows of which it is kept what was said


@dataclass(frozen=True)
class RowQuery:
    """Which rows somebody wants to see.

    Parameters
    ----------
    show : {"odd", "normal", "all"}
        Which of them.
    text : str
        What one of their cells contains.
    sort : str
        "distance" or "row".
    down : bool
        Whether the largest come first.
    group : int or None
        One of the groups by reason, from 0.
    page : int
        From 1.
    """

    show: str = "odd"
    text: str = ""
    sort: str = "distance"
    down: bool = True
    group: int | None = None
    page: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str]) -> RowQuery:
        """Read the parameters of an address; what makes no sense is left aside."""
        show, group = given.get("show", "odd"), given.get("group", "")
        return cls(
            show=show if show in ("odd", "normal", "all") else "odd",
            text=given.get("text", "")[:200],
            sort=given.get("sort", "distance"),
            down=given.get("down", "1") == "1",
            group=_whole(group),
            page=max(_whole(given.get("page", "")) or 1, 1),
        )


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@dataclass(frozen=True)
class RowPage:
    """Some of the rows that were asked for.

    Parameters
    ----------
    rows : list of Explanation
        In their order; ``row`` is the place in the table, from 0.
    found : int
        How many there are on all pages.
    page, pages : int
        Which page it is, from 1, and of how many.
    """

    rows: list[Explanation]
    found: int
    page: int
    pages: int


class CheckedRows:
    """What a model says of new rows.

    Parameters
    ----------
    lesson : Lesson
        The model.
    table : KeptTable
        The rows.
    found : Judgement
        What it says of them.
    """

    def __init__(self, lesson: Lesson, table: KeptTable, found: Judgement) -> None:
        self.lesson, self.table, self.found = lesson, table, found
        self.judged = int(np.count_nonzero(found.judged))
        self.rejected = int(np.count_nonzero(found.outlier))
        self.rates: list[RateChoice] = rate_choices(found)
        self._said: dict[int, Explanation] = {}
        worst = found.worst_first[:_BLAMED]
        because = [that_matter(row) for row in self._explained(worst)]
        self.blamed = len(worst)
        self.groups: tuple[AlarmGroup, ...] = groups_of(because, [str(row) for row in worst])
        self._members = [worst[rows] for rows in grouped(because).values()]

    @classmethod
    def of(cls, lesson: Lesson, table: KeptTable, count: Callable[[int], None]) -> CheckedRows:
        """Judge the rows of a table; `count` is told how many have been judged."""
        absent = [name for name in lesson.judge.names if name not in table.columns]
        if absent:
            raise UserError(
                f"{table.name}: there is no column {listed(absent)}, which was learned. The table "
                f"has {listed(table.columns)}."
            )
        parts = []
        for begin in range(0, table.rows, _AT_ONCE):
            part = _judged(lesson, table, begin)
            parts.append(part)
            count(len(part))
        return cls(lesson, table, Judgement.joined(parts))

    def at(self, lesson: Lesson) -> CheckedRows:
        """Return the same by a model that differs in its rate alone: distances stay."""
        found = Judgement(lesson.judge, self.found.rows, cells=self.found.cells)
        found.distances = self.found.distances
        return CheckedRows(lesson, self.table, found)

    @property
    def choice(self) -> int:
        """Which of the rates is in use."""
        rates = [each.rate for each in self.rates]
        alpha = self.found.judge.alpha
        return rates.index(alpha) if alpha in rates else 0

    def number(self, row: int) -> int:
        """Return which row of the file one is, from 1."""
        return int(self.table.training.numbers[row])

    @cached_property
    def least_p(self) -> float:
        """The smallest p-value that there can be."""
        calibration = self.found.judge.calibration
        return 0.0 if calibration is None else 1.0 / (1.0 + calibration.total)

    def page(self, query: RowQuery) -> RowPage:
        """Return a page of rows with their first reasons."""
        rows = self._rows(query)
        pages = max(-(-len(rows) // _PER_PAGE), 1)
        page = min(query.page, pages)
        shown = rows[(page - 1) * _PER_PAGE : page * _PER_PAGE]
        return RowPage(self._explained(shown), len(rows), page, pages)

    def _rows(self, query: RowQuery) -> Integers:
        """Return the places of all rows that were asked for, in their order."""
        found = self.found
        if query.group is not None and query.group < len(self._members):
            rows = np.sort(self._members[query.group])
        elif query.show == "all":
            rows = np.arange(len(found))
        else:
            rows = np.flatnonzero(found.labels == (-1 if query.show == "odd" else 1))
        if query.text:
            rows = rows[self.table.containing(query.text)[rows]]
        return rows[self._order(rows, query)]

    def _order(self, rows: Integers, query: RowQuery) -> Integers:
        if query.sort == "row":
            order = np.arange(len(rows))
            return order[::-1] if query.down else order
        distances = self.found.distances[rows]  # NaN, which is not judged, comes last
        return np.argsort(-distances if query.down else distances, kind="stable")

    def _explained(self, rows: Integers) -> list[Explanation]:
        """Return the first reasons of rows; of many of them what was said is kept."""
        new = np.array([row for row in rows.tolist() if row not in self._said], dtype=np.int64)
        said = dict[int, Explanation]()
        if len(new):
            model, rows_here = self.lesson.in_use, self.found.take(new)
            found = explain(model, rows_here, reasons=_REASONS, nearest=False)
            said = {int(row): _at(one, int(row)) for one, row in zip(found, new, strict=True)}
        shown = [said.get(row) or self._said[row] for row in rows.tolist()]
        if len(self._said) < _KEPT:
            self._said |= said
        return shown

    def explained(self, row: int) -> tuple[Explanation, list[Marked | None]]:
        """Return all that is said of a row, and where texts and dates are among normal ones."""
        found = self.found.take(np.array([row]))
        (said,) = explain(self.lesson.in_use, found, nearest=bool(self.found.outlier[row]))
        if found.judge.encoder is None or found.cells is None:
            return _at(said, row), [None] * len(said.reasons)
        shares = ColumnShares(found)
        marks = [
            None
            if reason.normal
            else shares.marked(0, found.names.index(reason.feature), reason.view)
            for reason in said.reasons
        ]
        return _at(said, row), marks


def _judged(lesson: Lesson, table: KeptTable, begin: int) -> Judgement:
    """Judge some of the rows; an error says where in the file it is."""

    def where(row: int) -> str:
        return table.training.where(begin + row)

    with saying_where(where, table.name):
        found = lesson.judge.table(table.training.table.slice(begin, _AT_ONCE))
        found.distances  # noqa: B018  # now: it is this that takes the time
    return found


def _at(said: Explanation, row: int) -> Explanation:
    return replace(said, row=row)

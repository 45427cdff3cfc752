"""New rows: which are not normal at which rate, why, and page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from refold._typing import Integers
from refold.app.jobs import Job
from refold.app.learning import TrainedModel
from refold.app.pairs import PairPicture, odd_pair, pair_picture
from refold.app.run_chart import RunOfRows
from refold.app.tables import KeptTable, SortKey, SortKeys, key_of
from refold.base.errors import UserError
from refold.columns.missing import SourceFormat
from refold.columns.roles import guess
from refold.explanation import Explanation, Reason, explain
from refold.judgement import Judge, Judgement
from refold.report.parts import (
    AlarmGroup,
    ColumnShares,
    DistancePicture,
    ExpectedRejections,
    MarkedShares,
    distances_of,
    drawing,
    expected_of,
    groups_of,
    plural,
    rows_by_first_reason,
    that_matter,
)
from refold.tabular.errors import listed, located

_ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_LEAST, _MOST = -4, 0.2  # a power of ten, and a rate


@dataclass(frozen=True)
class RateChoice:
    """A rate of false alarms."""

    rate: float  # the share of normal rows that may be called not normal
    threshold: float  # rows up to this distance are normal then
    rejected: int  # how many of the new rows would not be
    expected: ExpectedRejections  # how many would be if all of them were normal


def rate_choices(found: Judgement) -> list[RateChoice]:
    """Return what each rate would come to that the calibration supports, and the one in use."""
    calibration, judge = found.judge.calibration, found.judge
    if calibration is None:
        return []
    distances = found.distances[found.judged]
    choices = []
    for rate in sorted({*_rates(calibration.total), *([judge.alpha] if judge.alpha else [])}):
        at = judge_at(judge, rate)
        expected = expected_of(at, len(distances))
        assert expected is not None
        rejected = int(np.count_nonzero(distances > at.threshold))
        choices.append(RateChoice(rate, at.threshold, rejected, expected))
    return choices


def judge_at(judge: Judge, rate: float) -> Judge:
    """Return a judge that keeps another rate."""
    if rate == judge.alpha:
        return judge
    assert judge.calibration is not None
    return replace(judge, threshold=judge.calibration.threshold(rate), alpha=rate)


def _rates(rows: float) -> Iterator[float]:
    """Give round rates; so few rows may not tell the smallest from nothing."""
    for power in range(_LEAST, 0):
        for digit in _ROUND:
            rate = float(f"{digit:g}e{power}")
            if 1.0 / (rows + 1.0) * (1.0 + 1e-9) <= rate <= _MOST:
                yield rate


_REASONS = 3
_BLAMED = 10_000  # reasons cost more than distances: groups are made of so many rows, the worst
_PER_PAGE = 25
_AT_ONCE = 5000  # rows that are judged before it is said how far it has come
_EXPLAINED = 500  # rows that are explained before it is said how far it has come
_FARTHEST = 1000.0  # times the limit: what is beyond stands at the edge
_KEPT = 10_000  # rows of which it is kept what was said
_BESIDE = 40  # columns that are shown beside the verdicts, if somebody wants them
_NARROW = 5  # columns that are always shown
OWN_SORTS = {"row": "Row", "verdict": "Verdict", "distance": "× the limit", "p": "P-value"}
_COLUMN = "column-"


@dataclass(frozen=True)
class RowQuery:
    """Which rows somebody wants to see."""

    show: str = "odd"  # which of them
    text: str = ""  # what one of their cells contains
    sort: str = "distance"  # one of `OWN_SORTS`, or "column-3": the column at that place, from 0
    down: bool = True  # whether the largest come first
    cells: bool = False  # whether the cells of the table are shown too
    group: int | None = None  # one of the groups by reason, from 0
    page: int = 1  # from 1

    @classmethod
    def of(cls, given: Mapping[str, str], columns: int) -> RowQuery:
        """Read the parameters of an address; what makes no sense is left aside."""
        show, sort = given.get("show", "odd"), given.get("sort", "distance")
        show = show if show in ("odd", "normal", "all") else "odd"
        place = _whole(sort.removeprefix(_COLUMN)) if sort.startswith(_COLUMN) else None
        known = sort in OWN_SORTS or (place is not None and place < columns)
        return cls(
            show=show,
            text=given.get("text", "")[:200],
            sort=sort if known else "distance",
            down=given.get("down", "1") == "1",
            cells=given.get("cells") == "1",
            group=_whole(given.get("group", "")) if show == "odd" else None,
            page=max(_whole(given.get("page", "")) or 1, 1),
        )

    @property
    def column(self) -> int | None:
        """The column by whose cells rows are sorted."""
        return None if self.sort in OWN_SORTS else int(self.sort.removeprefix(_COLUMN))


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@dataclass(frozen=True)
class RowPage:
    """Some of the rows that were asked for."""

    rows: list[Explanation]  # in their order; ``row`` is the place in the table, from 0
    names: list[str]  # what they are called
    columns: list[int]  # the columns that are shown, by their places
    cells: list[list[str]]  # what each row has in these
    found: int  # how many there are on all pages
    # page, pages: Which page it is, from 1, and of how many.
    page: int
    pages: int


class CheckedRows:
    """What a model says of new rows.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    table : KeptTable
        The rows.
    found : Judgement
        What it says of them.
    job : Job
        Is told how far it has come.
    first : mapping of int to tuple of Reason, default={}
        The first reasons of some rows, as far as they are known.
    """

    def __init__(
        self,
        trained: TrainedModel,
        table: KeptTable,
        found: Judgement,
        job: Job,
        first: Mapping[int, tuple[Reason, ...]] = MappingProxyType({}),
    ) -> None:
        self.trained, self.table, self.found = trained, table, found
        self.judged = int(np.count_nonzero(found.judged))
        self.rejected = int(np.count_nonzero(found.outlier))
        self.rates: list[RateChoice] = rate_choices(found)
        self._said: dict[int, Explanation] = {}
        worst = found.worst_first[:_BLAMED]
        self._first = self._blamed(worst, first, job)
        because = [self._first[row] for row in worst.tolist()]
        self.blamed = len(worst)
        self.groups: tuple[AlarmGroup, ...] = groups_of(because, [str(row) for row in worst])
        self._members = [worst[rows] for rows in rows_by_first_reason(because).values()]
        self.grouped = sum(group.rows for group in self.groups)
        self._keys = SortKeys()
        job.says("Finding incidents")
        self.run = RunOfRows.of(trained, found, self.names(np.arange(len(found))))

    @classmethod
    def of(cls, trained: TrainedModel, table: KeptTable, job: Job) -> CheckedRows:
        """Judge the rows of a table."""
        absent = [name for name in trained.judge.inputs if name not in table.columns]
        if absent:
            raise UserError(
                f"{table.name}: there is no column {listed(absent)}, which was learned. The table "
                f"has {listed(table.columns)}."
            )
        parts = []
        for begin in range(0, table.rows, _AT_ONCE):
            part = _judged(trained, table, begin)
            parts.append(part)
            job.count(len(part))
        return cls(trained, table, Judgement.joined(parts), job)

    def at(self, trained: TrainedModel, job: Job) -> CheckedRows:
        """Return the same by a model that differs in its rate alone.

        Distances stay, and what comes first among the reasons of a row.
        """
        found = Judgement(trained.judge, self.found.rows, cells=self.found.cells)
        found.distances = self.found.distances
        return CheckedRows(trained, self.table, found, job, self._first)

    @property
    def choice(self) -> int:
        """Which of the rates is in use."""
        rates = [each.rate for each in self.rates]
        alpha = self.found.judge.alpha
        return rates.index(alpha) if alpha in rates else 0

    def number(self, row: int) -> int:
        """Return which row of the file one is, from 1."""
        return int(self.table.training.numbers[row])

    @property
    def id_column(self) -> str:
        """The column that names rows; empty if their number does."""
        name = self.trained.choice.id_column
        return name if name in self.table.columns else ""

    def names(self, rows: Integers) -> list[str]:
        """Return what rows are called."""
        return self.table.names_of(self.id_column, rows)

    def full_name(self, row: int) -> str:
        """Return what a row is called, and where it is."""
        (name,), number = self.names(np.array([row])), f"{self.number(row):,}"
        return f"Row {number}" if name == number else f"{name} (row {number})"

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
        columns = self._beside(query)
        cells = self.table.written(shown, columns)
        names = self.names(shown)
        return RowPage(self._explained(shown), names, columns, cells, len(rows), page, pages)

    @property
    def is_narrow(self) -> bool:
        """Whether there is room for all cells beside the verdicts."""
        return len(self.table.columns) <= _NARROW

    def _beside(self, query: RowQuery) -> list[int]:
        """Return the columns to show: the first ones if asked for, and that of the order."""
        sorted_by = [] if query.column is None else [query.column]
        if not query.cells and not self.is_narrow:
            return sorted_by
        columns = [k for k, name in enumerate(self.table.columns) if name != self.id_column]
        columns = columns[:_BESIDE]
        return columns if set(sorted_by) <= set(columns) else [*sorted_by, *columns]

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
        place = query.column
        key = self._own_key(query.sort) if place is None else self._keys.get(place, self._key)
        return key.order(rows, down=query.down)

    def _own_key(self, sort: str) -> SortKey:
        """Return by what verdicts are sorted; rows that are not judged come last."""
        found = self.found
        if sort == "row":
            return SortKey.of(np.arange(len(found), dtype=np.float64))
        if sort == "p" and found.p_values is not None:
            return SortKey.of(found.p_values)
        if sort == "verdict":
            return SortKey.of(np.where(found.judged, found.outlier, np.nan))
        return SortKey.of(found.distances)

    def _key(self, place: int) -> SortKey:
        """Return by what the cells of a column are sorted."""
        name, cells = self.table.columns[place], self.found.cells
        if cells is not None and name in cells.as_read.names:
            return key_of(cells.as_read[name])
        column = self.table.table[name]
        return key_of(guess(name, column).parse(column, SourceFormat(by_people=True)))

    def _blamed(
        self, rows: Integers, known: Mapping[int, tuple[Reason, ...]], job: Job
    ) -> dict[int, tuple[Reason, ...]]:
        """Return the first reason of rows, beside what is known of others."""
        first = dict(known)
        new = np.array([row for row in rows.tolist() if row not in first], dtype=np.int64)
        if len(new):
            job.says(f"Finding the reasons of {plural(len(new), 'row')}", len(new))
        for begin in range(0, len(new), _EXPLAINED):
            part = self._explained(new[begin : begin + _EXPLAINED])
            first |= {said.row: that_matter(said)[:1] for said in part}
            job.count(len(part))
        return first

    def _explained(self, rows: Integers) -> list[Explanation]:
        """Return the first reasons of rows; of many of them what was said is kept."""
        new = np.array([row for row in rows.tolist() if row not in self._said], dtype=np.int64)
        said = dict[int, Explanation]()
        if len(new):
            model, rows_here = self.trained.in_use, self.found.take(new)
            found = explain(model, rows_here, reasons=_REASONS, nearest=False)
            said = {int(row): _at(one, int(row)) for one, row in zip(found, new, strict=True)}
        shown = [said.get(row) or self._said[row] for row in rows.tolist()]
        if len(self._said) < _KEPT:
            self._said |= said
        return shown

    @cached_property
    def distribution(self) -> tuple[DistancePicture, int]:
        """How many rows are how many times the limit away, and how many bars there may be."""
        unit = self.found.judge.threshold or 1.0
        limit = self.found.judge.threshold / unit
        multiples = np.minimum(self.found.distances[self.found.judged] / unit, _FARTHEST)
        counted = distances_of(multiples, limit)
        return drawing.distance_picture(counted, limit), len(counted.counts)

    def pair(self, said: Explanation) -> PairPicture | None:
        """Draw the two columns whose combination is unusual in a row, if that is a reason."""
        learned = self.trained.cells
        if learned is None or self.found.cells is None:
            return None
        row = self.found.cells.as_read.take(np.array([said.row]))
        pair = odd_pair(said, learned, row)
        return None if pair is None else pair_picture(learned, row, pair)

    def explained(self, row: int) -> tuple[Explanation, list[MarkedShares | None]]:
        """Return all that is said of a row, and where texts and dates are among normal ones."""
        found = self.found.take(np.array([row]))
        (said,) = explain(self.trained.in_use, found, nearest=bool(self.found.outlier[row]))
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


def _judged(trained: TrainedModel, table: KeptTable, begin: int) -> Judgement:
    """Judge some of the rows; an error says where in the file it is."""

    def where(row: int) -> str:
        return table.training.where(begin + row)

    with located(table.name, where):
        rows = table.training.table.select(list(trained.judge.inputs))  # others may hold anything
        found = trained.judge.table(rows.slice(begin, _AT_ONCE))
        found.distances  # noqa: B018  # now: it is this that takes the time
    return found


def _at(said: Explanation, row: int) -> Explanation:
    return replace(said, row=row)

"""Rows by the group they are of, and each column beside what was expected of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.columns.context.context import ContextModel
from refold.columns.context.context_rows import ContextUnits
from refold.columns.context.design import GroupIndex
from refold.columns.table import Column, DateColumn, NumberColumn, Table, as_texts
from refold.decisions.intervals import interval_of_rate
from refold.judgement import Judgement
from refold.judgement.normal import normal_ranges

_GROUPS = 10  # the worst that are listed
_BANDS = 8  # columns that are drawn
_POINTS = 240  # rows that a picture shows
_BESIDE = 24  # groups that one shows


@dataclass(frozen=True)
class GroupRate:
    """How many rows of a group are outliers."""

    name: str  #: the group, such as "machine M17"
    known: bool  #: whether training had rows of it; else they are judged as those of all groups
    rows: int  #: rows, rejected: how many rows it has, and how many of them are outliers
    rejected: int

    @property
    def rate(self) -> float:
        """The share of its rows that are outliers."""
        return self.rejected / self.rows


@dataclass(frozen=True, eq=False)
class ExpectedBand:
    """A column of some rows beside what their context lets expect."""

    name: str  #: the column
    about: str  #: whose rows they are
    #: The time of each row, in seconds since 1970 if it is a date; else the number of its group, or
    #: the first number of its context
    at: Floats
    labels: tuple[str, ...]  #: the first and the last time, or the groups
    values: Floats  #: values, low, high: the value of each row, and between what it should lie
    low: Floats
    high: Floats
    outlier: NDArray[np.bool_]  #: which rows are outliers
    by_group: bool  #: whether rows stand by their group, not by their time


@dataclass(frozen=True, eq=False)
class InContext:
    """What a report says where rows are judged by their group, time or other columns."""

    given: str  #: what rows are judged by, such as "machine, time"
    groups: int  #: how many groups the rows are of
    unknown: int  #: how many rows are of a group that training did not have, or of none
    learned_until: str  #: until when was learned and how far ahead was tried; empty without a time
    #: How many rows have no group or time that was learned, and how they are judged
    gaps: tuple[str, ...]
    #: The groups with the highest rates, as far as their rows prove it, the worst first
    worst: tuple[GroupRate, ...]
    #: Columns beside what was expected, those that are a reason most often first
    bands: tuple[ExpectedBand, ...]


def in_context(found: Judgement, leads: dict[str, int]) -> InContext | None:
    """Describe rows by their context; None where they are judged without one.

    `leads` says in how many rows a column is a strong reason.
    """
    encoder, cells = found.judge.encoder, found.cells
    if encoder is None or encoder.context is None or cells is None or cells.inputs is None:
        return None
    context, inputs = encoder.context, cells.inputs
    index = GroupIndex.learn(inputs, context.given.by) if context.given.by else GroupIndex((), {})
    codes = index.codes(inputs) if index.keys else np.full(len(found), -1)
    rates = _rates(context, index, codes, found.outlier)
    known = context.groups.codes(inputs) >= 0 if context.given.by else np.ones(len(found), bool)
    return InContext(
        given=", ".join(context.given.names),
        groups=len(index.keys),
        unknown=int(np.count_nonzero(~known)),
        learned_until=context.learned_until,
        gaps=tuple(found.context_gaps.sentences(context)),
        worst=tuple(rates[k] for k in _worst(rates)[:_GROUPS] if rates[k].rejected),
        bands=_Bands(found, context, inputs, codes, rates, list(index.keys)).drawn(leads),
    )


def _rates(
    context: ContextModel, index: GroupIndex, codes: Integers, outlier: Booleans
) -> list[GroupRate]:
    n, inside = len(index.keys), codes >= 0
    rows = np.bincount(codes[inside], minlength=n).tolist()
    rejected = np.bincount(codes[inside & outlier], minlength=n).tolist()
    return [
        GroupRate(" ".join((index.columns[-1], *key)), key in context.groups.keys, *counts)
        for key, counts in zip(index.keys, zip(rows, rejected, strict=True), strict=True)
    ]


def _worst(rates: list[GroupRate]) -> list[int]:
    """Return the groups by the rate that their rows prove, the highest first."""
    proven = [interval_of_rate(group.rejected, group.rows)[0] for group in rates]
    return sorted(range(len(rates)), key=lambda k: (-proven[k], -rates[k].rejected))


class _Bands:
    """Draws columns of some rows: over time those of the worst group, else those of all groups."""

    def __init__(
        self,
        found: Judgement,
        context: ContextModel,
        inputs: Table,
        codes: Integers,
        rates: list[GroupRate],
        keys: list[tuple[str, ...]],
    ) -> None:
        self._found = found
        self._over = _along(context, inputs)
        worst = _worst(rates)
        if self._over is not None:
            self._about = rates[worst[0]].name if rates else "all rows"
            shown = np.flatnonzero(~self._over.is_null & ((codes == worst[0]) if rates else True))
            shown = shown[np.argsort(row_seconds(self._over)[shown], kind="stable")]
            self._at = row_seconds(self._over)[shown]
            self._labels = _ends(self._over, shown)
        elif not rates:
            self._rows, self._units = np.empty(0, dtype=np.int64), {}
            return
        else:
            self._about = f"each {context.given.by[-1]}, those with most outliers first"
            names = {code: place for place, code in enumerate(worst[:_BESIDE])}
            place = np.array([names.get(code, -1) for code in codes.tolist()], dtype=np.int64)
            shown = np.flatnonzero(place >= 0)
            self._at = place[shown].astype(np.float64)
            self._labels = tuple(" ".join(keys[code]) for code in names)
        kept = _thinned(found.outlier[shown], _POINTS)
        self._rows, self._at = shown[kept], self._at[kept]
        self._units = context.units(inputs.take(self._rows))

    def drawn(self, leads: dict[str, int]) -> tuple[ExpectedBand, ...]:
        """Return the columns that are a reason most often."""
        if len(self._rows) == 0:
            return ()
        judge = self._found.judge
        assert judge.summary is not None
        ranges = dict(
            zip([judge.names[k] for k in judge.numeric], normal_ranges(judge.summary), strict=True)
        )
        order = sorted(self._units, key=lambda name: -leads.get(name, 0))
        return tuple(
            self._band(name, self._units[name], (ranges[name][0][0], ranges[name][-1][1]))
            for name in order[:_BANDS]
        )

    def _band(self, name: str, units: ContextUnits, normal: tuple[float, float]) -> ExpectedBand:
        rows = np.arange(len(self._rows))
        low, high = (units.numbers(rows, np.full(len(rows), z)) for z in normal)
        return ExpectedBand(
            name,
            self._about,
            self._at,
            self._labels,
            units.values,
            low,
            high,
            self._found.outlier[self._rows],
            self._over is None,
        )


def _along(context: ContextModel, inputs: Table) -> Column | None:
    """Return what columns are drawn along: the time, or else, without groups, a number."""
    given = context.given
    numbers = [name for name in given.context if isinstance(inputs[name], NumberColumn)]
    names = given.over or ([] if given.by else numbers)
    return inputs[names[0]] if names else None


def row_seconds(cells: Column) -> Floats:
    """Return when rows were, as numbers."""
    if isinstance(cells, DateColumn):
        return cells.seconds
    assert isinstance(cells, NumberColumn)
    return cells.values


def _ends(cells: Column, rows: Integers) -> tuple[str, ...]:
    texts = as_texts(cells)
    return tuple(str(texts.text(int(rows[k]))) for k in ((0, -1) if len(rows) else ()))


def _thinned(outlier: Booleans, most: int) -> Integers:
    """Return so many rows in their order: outliers first, then others evenly."""
    n = len(outlier)
    if n <= most:
        return np.arange(n)
    odd, usual = np.flatnonzero(outlier), np.flatnonzero(~outlier)
    odd = odd[np.linspace(0, len(odd) - 1, min(len(odd), most // 2)).astype(np.int64)]
    left = np.linspace(0, len(usual) - 1, min(len(usual), most - len(odd))).astype(np.int64)
    return np.sort(np.concatenate([odd, usual[left]]))

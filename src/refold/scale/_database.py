"""REF's histograms counted by the database itself: of its rows only a sample leaves it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.algorithm import kernels
from refold.algorithm.engines.sketch import Histogram, Sketch
from refold.base.needs import needs
from refold.columns.frames import float_values, is_number, type_text
from refold.columns.table import Table
from refold.models.parts import DrawnRows, FirstPass, PassResult, Work, number_columns
from refold.scale._query import QueryTable, sql_name
from refold.tabular import InputError

# Places within a bin are added up in units of its width over this: whole numbers, whose sum no
# order changes.
_UNITS = 2.0**39
_DRAWN, _PLACE = "refold_drawn_rows", "refold place of the row"


@dataclass(frozen=True)
class _Range:
    """What is known of a column before its bins are: without the rows that are drawn."""

    low: float
    high: float
    observed: int
    missing: int

    def exponent(self, n_bins: int) -> int:
        """Return how wide the bins are; see :mod:`refold.algorithm.engines.sketch`."""
        most = n_bins if self.observed > n_bins else kernels.ANY_NUMBER_OF_BINS
        return kernels.least_exponent(self.low, self.high, most)


class DatabaseParts:
    """What a query gives in columns of numbers, counted where it is, for a model of one pass."""

    def __init__(self, table: QueryTable, names: Sequence[str]) -> None:
        self._table, self._names = table, names
        for name in names:
            if not is_number(kind := table.kinds[name]):
                raise InputError(
                    f"{table.name}: column {name!r} holds {type_text(kind)}. Within the database "
                    "only columns of a numeric type are counted: cast it in the query."
                )

    def added_up(self, work: Work) -> Any:
        """Let the database count; return what it found."""
        assert isinstance(work, FirstPass)
        assert work.n_bins is not None
        rows = self._table.rows
        if not rows:
            return None
        # Up to so many rows are learned as they are.
        wanted = work.among(rows) if rows > work.size else work
        drawn = self._drawn(wanted, rows)
        ranges = list(self._ranges(drawn.places if wanted.apart else drawn.places[:0]))
        left_out = number_columns(drawn.chunks[0]) if wanted.apart else [np.empty(0)] * len(ranges)
        histograms = [
            _histogram(known, cells, values, work.n_bins)
            for known, cells, values in zip(
                ranges, self._counted(ranges, work.n_bins), left_out, strict=True
            )
        ]
        left = rows - (len(drawn.places) if wanted.apart else 0)
        return PassResult(rows, drawn, Sketch(work.n_bins, histograms, left, left), wanted.apart)

    def _drawn(self, wanted: FirstPass, rows: int) -> DrawnRows:
        """Let the rows that are drawn out of the database."""
        keys, places = wanted.chosen(rows)
        columns = [np.empty(0) for _ in self._names]
        if len(places):
            found = self._table.ask(
                f"select * from ({self._placed()}) semi join {_DRAWN} using ({sql_name(_PLACE)}) "
                f"order by {sql_name(_PLACE)}",
                **_drawn(places),
            )
            columns = [float_values(column.combine_chunks()) for column in found.columns[1:]]
            self._check_same(len(found), len(places))
        some = Table.of_numbers(self._names, columns)
        return DrawnRows(wanted.size, wanted.limit, keys, places, (some,))

    def _placed(self) -> str:
        """Return a query of the columns as numbers, after the place of each row."""
        return self._numbers(f"row_number() over () - 1 as {sql_name(_PLACE)}")

    def _numbers(self, *first: str) -> str:
        columns = (f"{_number(name)} as {sql_name(name)}" for name in self._names)
        return f"select {', '.join([*first, *columns])} from {self._table.origin}"

    def _ranges(self, without: Integers) -> Iterator[_Range]:
        """Ask for the smallest and largest value of each column, but for some of the rows."""
        facts = ", ".join(
            f"min({x}), max({x}), count({x}), count_if(isinf({x}))"
            for x in map(sql_name, self._names)
        )
        source, tables = f"({self._numbers()})", {}
        if len(without):
            source = f"({self._placed()}) anti join {_DRAWN} using ({sql_name(_PLACE)})"
            tables = _drawn(without)
        found = self._table.ask(f"select count(*), {facts} from {source}", **tables)
        rows, *of_columns = (column[0].as_py() for column in found.columns)
        self._check_same(rows + len(without), self._table.rows or 0)
        for name, (low, high, observed, infinite) in zip(
            self._names, zip(*[iter(of_columns)] * 4, strict=True), strict=True
        ):
            if infinite:
                raise InputError(
                    f"{self._table.name}: column {name!r} has infinity in {infinite:,} "
                    f"row{'' if infinite == 1 else 's'}. Leave these out in the query."
                )
            yield _Range(low or 0.0, high or 0.0, observed, rows - observed)

    def _counted(self, ranges: Sequence[_Range], n_bins: int) -> list[Floats]:
        """Ask how many rows are in each bin, and where within it: one statement for all columns."""
        statements = [
            f"select {number} as c, bin, count(*)::double as n, sum(part)::double as s from "
            f"({_binned(self._table.origin, name, known, n_bins)}) group by bin"
            for number, (name, known) in enumerate(zip(self._names, ranges, strict=True))
        ]
        found = self._table.ask(f"{' union all '.join(statements)} order by c, bin")
        column, *cells = (each.to_numpy() for each in found.columns)
        ends = np.searchsorted(column, np.arange(len(self._names) + 1))
        table = np.array(cells, dtype=np.float64)
        return [table[:, a:b] for a, b in pairwise(ends)]

    def _check_same(self, rows: int, before: int) -> None:
        if rows != before:
            raise InputError(
                f"{self._table.name} gave {before:,} rows at first and then {rows:,}: it must give "
                "the same rows each time."
            )


def _number(name: str) -> str:
    """Return SQL of a column as a number, null where there is none."""
    return f"case when isnan({sql_name(name)}::double) then null else {sql_name(name)}::double end"


def _binned(source: str, name: str, known: _Range, n_bins: int) -> str:
    """Return SQL of the bin of each value in a range, and of its place there, a whole number."""
    scaled = f"x * {math.ldexp(1.0, -known.exponent(n_bins))!r}::double"
    # A negative value so small that it becomes 0 in these units is still left of 0.
    inner = (
        f"select case when x < 0 and {scaled} = 0 then -1 else floor({scaled}) end as bin, "
        f"{scaled} as v from (select {_number(name)} as x from {source}) "
        f"where x between {known.low!r}::double and {known.high!r}::double"
    )
    part = f"least(floor((v - bin) * {_UNITS!r}::double), {_UNITS - 1.0!r}::double)"
    return f"select bin::bigint as bin, {part}::bigint as part from ({inner})"


def _histogram(known: _Range, cells: Floats, drawn: Floats, n_bins: int) -> Histogram:
    """Make a histogram of what was counted, without the rows that were drawn."""
    if known.observed == 0:
        nothing = np.empty(0)
        bins = nothing.astype(np.int64)
        return Histogram(0, bins, nothing, nothing, 0.0, 0.0, float(known.missing), 0)
    exponent = known.exponent(n_bins)
    bins, counts, sums = cells[0].astype(np.int64), cells[1].copy(), cells[2].copy()
    inside = drawn[(drawn >= known.low) & (drawn <= known.high)]
    scaled = np.ldexp(inside, -exponent)
    floor = np.where((inside < 0.0) & (scaled == 0.0), -1.0, np.floor(scaled))
    at = np.searchsorted(bins, floor.astype(np.int64))
    np.subtract.at(counts, at, 1.0)
    np.subtract.at(sums, at, np.minimum(np.floor((scaled - floor) * _UNITS), _UNITS - 1.0))
    left = counts > 0.0
    facts = known.low, known.high, float(known.missing), known.observed
    return Histogram(exponent, bins[left], counts[left], sums[left] / _UNITS, *facts)


def _drawn(places: Integers) -> dict[str, Any]:
    """Return a table for the database to join with."""
    return {_DRAWN: needs("pyarrow", "parquet").table({_PLACE: places})}

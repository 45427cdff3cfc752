"""What a table holds, before anything is learned from it, in words and small pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from refold._typing import Booleans, Floats
from refold.app.reading import as_control
from refold.app.tables import KeptTable
from refold.base.errors import UserError
from refold.base.findings import told
from refold.base.progress import part
from refold.base.words import number, percent, shortened
from refold.checks import Findings, Limit, Limits, check
from refold.columns.encoding.column_info import ColumnInfo
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.row_numbers import record_times
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn
from refold.judgement.number_text import ranges_text, split_unit
from refold.report.parts import Associations, associations_of
from refold.tabular import Training

WIDE, TALL = 160, 36
_BINS, _NAMED = 32, 4
_TAIL = 0.005  # what is farther out at either end is not drawn: it would squeeze the rest
_WIDEST = 2.0  # ranges: a blind zone that is wider is cut off


@dataclass(frozen=True)
class ColumnPicture:
    """What a column holds: a histogram, or its most frequent values."""

    path: str = ""  # the bars of the histogram; empty if there is none
    ends: tuple[str, ...] = ()  # what stands below its ends
    drawn: tuple[float, float] = (np.inf, -np.inf)  # the values at its left and right; none
    # The most frequent values and the share of the rows that have them.
    values: tuple[tuple[str, float], ...] = ()

    def across(self, limits: Sequence[float]) -> list[str]:
        """Return where limits are to be drawn: those that lie within the histogram."""
        low, high = self.drawn
        return [
            f"{(each - low) / (high - low) * WIDE:.2f}" for each in limits if low <= each <= high
        ]


def column_picture(cells: Column, role: str) -> ColumnPicture | None:
    """Draw a column; None where a picture would not say anything."""
    if isinstance(cells, NumberColumn):
        return _histogram(cells.values, number)
    if isinstance(cells, DateColumn):
        return _histogram(cells.seconds, _moment(cells.has_date))
    return _values(cells) if role == "category" else None


def _histogram(values: Floats, said: object) -> ColumnPicture | None:
    seen = values[np.isfinite(values)]
    if len(seen) == 0:
        return None
    low, high = np.quantile(seen, [_TAIL, 1.0 - _TAIL])
    with np.errstate(over="ignore"):
        if not np.isfinite(high - low) or low == high:
            low, high = float(seen.min()), float(seen.max())
    assert callable(said)
    ends = (said(float(seen.min())), said(float(seen.max())))
    if low == high or not np.isfinite(high - low):
        return ColumnPicture(_bars([1.0]), ends[:1] if low == high else ends)
    counts, _ = np.histogram(seen, _BINS, (low, high))
    if not counts.any():  # of a few rows there is none between
        low, high = seen.min(), seen.max()
        counts, _ = np.histogram(seen, _BINS, (low, high))
    drawn = float(low), float(high)
    return ColumnPicture(_bars((counts / counts.max()).tolist()), ends, drawn)


def _moment(has_date: bool) -> object:
    def said(seconds: float) -> str:
        text = str(np.datetime64(int(np.floor(seconds)), "s"))
        return text[:10] if has_date else text[11:16]

    return said


def _values(cells: TextColumn) -> ColumnPicture | None:
    counts = cells.counts
    total = int(counts.sum())
    if total == 0:
        return None
    order = np.argsort(-counts, kind="stable")[:_NAMED].tolist()
    return ColumnPicture(values=tuple((cells.values[k], float(counts[k] / total)) for k in order))


def _bars(heights: Sequence[float]) -> str:
    """Return a path of bars side by side; those of few rows are still to be seen."""
    wide = WIDE / len(heights)
    path = []
    for k, height in enumerate(heights):
        if height:
            tall = max(height * TALL, 1.0)
            path.append(f"M{k * wide:.2f} {TALL}v{-tall:.2f}h{wide - 0.5:.2f}V{TALL}z")
    return "".join(path)


@dataclass(frozen=True)
class BlindZone:
    """The shifts of one column that a model misses, down to the left and up to the right."""

    # name, unit: The column.
    name: str
    unit: str
    normal: str  # what was learned
    # half, tenth: Where the zones begin, and how wide they are: more than half of the rows, and
    # more than a tenth, get away with such a shift.
    half: tuple[str, str]
    tenth: tuple[str, str]
    # down, up: What nine tenths take, in the column's own units.
    down: str
    up: str


def blind_zones(found: Limits) -> list[BlindZone]:
    """Draw the detection limits of all columns, the blindest first."""
    ordered = sorted(found, key=lambda each: -_reach(each, each.up_90) - _reach(each, each.down_90))
    return [_zone(limit) for limit in ordered]


def _zone(limit: Limit) -> BlindZone:
    name, unit = split_unit(limit.feature)
    return BlindZone(
        name=name,
        unit=unit.strip(),
        normal=f"{ranges_text(((limit.low, limit.high),))}{unit}",
        half=_span(limit, limit.down_50, limit.up_50),
        tenth=_span(limit, limit.down_90, limit.up_90),
        down=limit.shown(limit.down_90),
        up=limit.shown(limit.up_90),
    )


def _span(limit: Limit, down: float | None, up: float | None) -> tuple[str, str]:
    middle = WIDE / 2.0
    left, right = (_reach(limit, shift) / _WIDEST * middle for shift in (down, up))
    return f"{middle - left:.2f}", f"{left + right:.2f}"


def _reach(limit: Limit, shift: float | None) -> float:
    """Return how far a zone reaches, in ranges; nothing where there is no range."""
    if shift is None:
        return _WIDEST if limit.rows else 0.0
    return min(limit.relative(shift) or 0.0, _WIDEST)


_KINDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "date": ("date", "dates"),
    "text": ("text", "texts"),
}
ROLES = ("number", "category", "date", "text", "identifier", "ignore")
_EXAMPLES, _LOOKED_AT = 3, 200


# So many groups, of so many rows each, are worth a guess.
_GROUPS, _ROWS_OF_GROUP = 8, 8


@dataclass(frozen=True)
class Choice:
    """What somebody has said of a table."""

    # What columns are, where the guess was wrong.
    roles: Mapping[str, str] = field(default_factory=dict)
    # The column that says which rows are normal, and what it says of these; None is all rows.
    target: tuple[str, str] | None = None
    without: frozenset[int] = frozenset()  # rows that are left out, counted from 1
    # What learns: "auto", or "ref" for each column by itself.
    method: Literal["auto", "ref"] = "auto"
    # by, over: The columns of the group and of the time that rows are judged by; empty without.
    by: str = ""
    over: str = ""
    id_column: str = ""  # the column that names rows; empty if their number does
    rules: Mapping[str, Any] = field(default_factory=dict)  # of the user's own, as a file has them

    @property
    def context(self) -> dict[str, Any]:
        """The columns of the context, as a Detector takes them."""
        return {name: column for name in ("by", "over") if (column := getattr(self, name))}

    def chosen(self, table: KeptTable) -> Booleans:
        """Say which rows are learned from."""
        chosen = ~np.isin(table.training.numbers, list(self.without))
        return chosen & table.having(*self.target) if self.target else chosen

    def training(self, table: KeptTable) -> Training:
        """Return the rows and columns to learn from."""
        chosen = self.chosen(table)
        if not chosen.any():
            raise UserError(f"{table.name}: no row is left to learn from.")
        return table.training.only(chosen)

    def learned(self, table: KeptTable) -> Table:
        """Return the rows and columns to learn; what says which rows are normal is none."""
        names = [name for name in table.columns if not self.target or name != self.target[0]]
        if not names:
            raise UserError("No column is left to learn.")
        for name in table.nested:
            if name in names and self.roles.get(name) != "ignore":
                table.learnable(name)
        columns, chosen = table.table.select(names), self.chosen(table)
        return columns if chosen.all() else columns.take(np.flatnonzero(chosen))

    def roles_of(self, learned: Table) -> dict[str, str]:
        """Return the roles that were said of columns of a table; what names rows is left out."""
        named = {self.id_column: "ignore"} if self.id_column else {}
        roles = {**self.roles, **named}
        return {name: role for name, role in roles.items() if name in learned.names}


@dataclass(frozen=True)
class ColumnProfile:
    """A column as people see it."""

    # name, role: What it is called, and what it is taken for; "" if it says which rows are normal.
    name: str
    role: str
    said: str  # what somebody has said that it is; empty if nobody has
    examples: tuple[str, ...]  # some of its values
    missing: float  # the share of the rows that have none
    distinct: int | None = None  # how many different values texts have
    picture: ColumnPicture | None = None  # what it holds
    noticed: tuple[str, ...] = ()  # what stands out
    roles: tuple[str, ...] = ROLES  # what else it may be taken for


@dataclass(frozen=True)
class TableProfile:
    """A table as people see it."""

    rows: int  # how many rows are learned from
    columns: tuple[ColumnProfile, ...]  # in their order
    noticed: tuple[str, ...]  # what stands out, and is not about one column
    choice: Choice  # what was said of the table
    parsed: Table  # the rows and columns to learn
    together: Associations  # which columns go together

    def learned(self, table: KeptTable, choice: Choice) -> Table:
        """Return the rows and columns to learn, parsed if this is what was looked at."""
        own = self.choice
        same = replace(choice, method=own.method, by=own.by, over=own.over, rules=own.rules) == own
        return self.parsed if same else choice.learned(table)

    @property
    def id_guess(self) -> str:
        """The first column that is not learned and is another in every row; empty if none is."""
        for column in self.columns:
            if column.role in ("identifier", "ignore") and column.name in self.parsed.names:
                cells = self.parsed[column.name]
                if not cells.is_null.any() and _distinct(cells) == self.rows > 1:
                    return column.name
        return ""

    @property
    def summary(self) -> str:
        """How many columns there are of each role, and how much is missing."""
        counts = Counter(_KINDS.get(column.role, ("other", "others")) for column in self.columns)
        said = ", ".join(f"{n:,} {kind[n > 1]}" for kind, n in counts.most_common())
        missing = sum(column.missing for column in self.columns) / len(self.columns)
        return f"{said}; {f'{percent(missing)} of cells are' if missing else 'no cell is'} missing"

    @property
    def groups(self) -> list[ColumnProfile]:
        """The columns that may say of which group a row is, the likeliest first."""
        found = [each for each in self.columns if each.role in ("category", "text", "identifier")]
        return sorted(found, key=lambda column: not self._is_group(column))

    @property
    def times(self) -> list[ColumnProfile]:
        """The columns that may say when a row was, dates first."""
        found = [each for each in self.columns if each.role in ("date", "number")]
        return sorted(found, key=lambda column: column.role != "date")

    @property
    def guess(self) -> dict[str, ColumnProfile]:
        """The columns that look like a group and like a time."""
        groups = [column for column in self.groups if self._is_group(column)]
        named = {column.name: column for column in self.times if column.role == "date"}
        cells = {name: self.parsed[name] for name in named if name in self.parsed.names}
        seconds = {n: c.seconds for n, c in cells.items() if isinstance(c, DateColumn)}
        dates = [named[name] for name in record_times(seconds)]
        return {name: some[0] for name, some in (("by", groups), ("over", dates)) if some}

    def _is_group(self, column: ColumnProfile) -> bool:
        """Whether there are several groups, of enough rows each to tell what is normal of it."""
        distinct = column.distinct or 0
        return distinct >= _GROUPS and self.rows >= _ROWS_OF_GROUP * distinct


def _distinct(column: Column) -> int:
    """Return how many different values a column has as it was written."""
    raw = column.raw
    if isinstance(raw, TextColumn):
        return int(np.count_nonzero(raw.counts))
    return len(np.unique(raw.values if isinstance(raw, NumberColumn) else raw.seconds))


def profile_of(table: KeptTable, choice: Choice) -> TableProfile:
    """Look at a table as a Detector would.

    Raises
    ------
    ValueError
        If columns cannot be what somebody has said they are.
    """
    training = choice.training(table)
    learned = choice.learned(table)
    roles = choice.roles_of(learned)
    encoder = TableEncoder(roles=roles)
    with part(0.0, 0.3):
        known = encoder.fit_table(learned)
    places = {learned.names.index(name): column for name, column in known.items()}
    parsed = learned.with_columns(places)
    with part(0.3, 0.9):
        noticed = in_file(check(parsed, roles=roles), training)
    used = set(encoder.counts.plan.names)
    infos = {column.name: column for column in encoder.columns_}
    columns = []
    for name in table.columns:
        examples = _examples(training.table[name])
        if name not in infos:
            columns.append(ColumnProfile(name, "", "", examples, 0.0))
            continue
        column = infos[name]
        picture = column_picture(parsed[name], column.role) if name in used else None
        columns.append(_look(column, examples, picture, roles.get(name, ""), noticed, len(learned)))
    general = (found for found in noticed if found.column not in infos)
    said = tuple(told(general, as_control))
    together = associations_of({name: parsed[name] for name in parsed.names if name in used})
    return TableProfile(len(learned), tuple(columns), said, choice, parsed, together)


def in_file(found: Findings, training: Training) -> Findings:
    """Return findings that call rows by their number in the file, from 1."""
    return found.map(lambda each: each.numbered(training.numbers))


def _look(
    column: ColumnInfo,
    examples: tuple[str, ...],
    picture: ColumnPicture | None,
    said: str,
    noticed: Findings,
    rows: int,
) -> ColumnProfile:
    """Describe a column that is learned, or could be."""
    own = [found for found in noticed if found.column == column.name]
    advised = [found.advice.role for found in own if found.advice.column == column.name]
    return ColumnProfile(
        name=column.name,
        role=column.role,
        said=said,
        examples=examples,
        missing=column.missing / rows,
        distinct=column.distinct if column.role != "ignore" else None,
        picture=picture,
        noticed=tuple(found.render(as_control) for found in own),
        roles=tuple(dict.fromkeys([*ROLES, *filter(None, [said, *advised])])),
    )


def _examples(column: Any) -> tuple[str, ...]:
    """Return some of the first values."""
    first = (cell for cell in column.slice(0, _LOOKED_AT).to_pylist() if cell is not None)
    return tuple(dict.fromkeys(shortened(str(cell)) for cell in first))[:_EXAMPLES]

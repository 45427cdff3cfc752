"""Detection limits, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from refold.base.markup import box, escaped, grid, paragraph
from refold.base.results import Backend, native_frame
from refold.base.words import number, percent, printable
from refold.checks._cell_changes import CellChange
from refold.judgement.number_text import ranges_text, split_unit

_SHIFTS = ("up_50", "up_90", "down_50", "down_90")
NEVER = "not at all"
_ANY = 1e-4  # what is less of the range learned is any shift


@dataclass(frozen=True)
class Limit:
    """How far one column must be off before a normal row is rejected.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, limits
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> found = limits(REF(alpha=0.05).fit(rows))
    >>> limit = found["x0"]
    >>> limit.up_50 < limit.up_90
    True
    """

    feature: str  #: the column
    low: float  #: low, high: the ends of what was learned
    high: float
    #: up_50, up_90: the smallest shift up, in the column's own units, from which on half of the
    #: rows, and 90 %, stay rejected; None if no shift is large enough
    up_50: float | None
    up_90: float | None
    down_50: float | None  #: down_50, down_90: the same for shifts down, as positive numbers
    down_90: float | None
    rows: int  #: how many rows were shifted; 0 if none has a value in the column

    def relative(self, shift: float | None) -> float | None:
        """Return a shift as a multiple of the range learned; None for a column without a range."""
        half = self.high / 2.0 - self.low / 2.0
        return None if shift is None or half == 0.0 else shift / 2.0 / half

    def shown(self, shift: float | None) -> str:
        """Return a shift for people, with what it is of the range."""
        if self.rows == 0:
            return "no value"
        if shift is None:
            return NEVER
        part = self.relative(shift)
        if part is not None and part < _ANY:
            return "any"
        return number(shift) if part is None else f"{number(shift)} ({_percent(part)})"


@dataclass(frozen=True)
class Limits:
    """The detection limits of a model: one ``Limit`` per column, by number or by name.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, limits
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> found = limits(REF(alpha=0.05).fit(rows))
    >>> [limit.feature for limit in found.features], found.alpha
    (['x0', 'x1'], 0.05)
    """

    features: tuple[Limit, ...]  #: one per column, in the model's order
    source: str  #: where the rows that were shifted come from
    #: The rate of false alarms that the model's threshold was set for, if for one
    alpha: float | None
    left_out: tuple[str, ...] = ()  #: the columns that are not numbers: they cannot be shifted
    #: With `by`, the limits of each group among the rows: from the expected value on, the shift
    #: that is enough in half (nine tenths) of all rows, as large as it is in this group
    groups: Mapping[str, Limits] = field(default_factory=dict)
    #: How often a typo, another value, a missing one or another date is noticed in the columns that
    #: are no numbers
    changes: tuple[CellChange, ...] = ()

    def __getitem__(self, key: int | str) -> Limit:
        if isinstance(key, str):
            names = [limit.feature for limit in self.features]
            if key not in names:
                raise KeyError(f"There is no column {key!r}; there are {', '.join(names)}.")
            key = names.index(key)
        return self.features[key]

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Limit]:
        return iter(self.features)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; None is not at all."""
        features = []
        for limit in self.features:
            name, unit = split_unit(limit.feature)
            relative = {f"{key}_relative": limit.relative(getattr(limit, key)) for key in _SHIFTS}
            features.append(
                {**asdict(limit), "name": name, "unit": unit.strip() or None, **relative}
            )
        left_out = list(self.left_out)
        return {
            "alpha": self.alpha,
            "rows": self.source,
            "features": features,
            "left_out": left_out,
            "groups": {name: limits.to_dict()["features"] for name, limits in self.groups.items()},
            "changes": [asdict(change) for change in self.changes],
        }

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per column as a dataframe; infinity is not at all, NaN not known."""
        columns: dict[str, list[Any]] = {
            "feature": [limit.feature for limit in self.features],
            **{key: [getattr(limit, key) for limit in self.features] for key in ("low", "high")},
            **{key: [_plain(limit, key) for limit in self.features] for key in _SHIFTS},
            "rows": [limit.rows for limit in self.features],
        }
        return native_frame(columns, backend, integers=["rows"], texts=["feature"])

    def __repr__(self) -> str:
        return f"Limits({len(self)} columns, alpha={self.alpha})"

    def table(self) -> list[list[str]]:
        """Return the cells of a table for people, headings first."""
        units = any(split_unit(limit.feature)[1] for limit in self.features)
        heads = ("learned", "up 50 %", "up 90 %", "down 50 %", "down 90 %")
        lines = [["column", *(["unit"] if units else []), *heads]]
        for limit in self.features:
            name, unit = split_unit(printable(limit.feature))
            learned = ranges_text(((limit.low, limit.high),))
            shifts = [limit.shown(getattr(limit, key)) for key in _SHIFTS]
            lines.append([name, *([unit.strip()] if units else []), learned, *shifts])
        return lines

    def __str__(self) -> str:
        lines = self.table()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        body = [
            "  ".join(
                [
                    f"{line[0]:<{widths[0]}}",
                    *(f"{cell:>{w}}" for cell, w in zip(line[1:], widths[1:], strict=True)),
                ]
            )
            for line in lines
        ]
        shifts = [*body, *self.group_lines()] if self.features else []
        return "\n".join([*shifts, *self.change_lines(), self.note])

    def change_lines(self) -> list[str]:
        """Say for each column that is no number which wrong cells are noticed, and how often."""
        lines: dict[str, list[str]] = {}
        for each in self.changes:
            example = f" ({each.example})" if each.example else ""
            said = f"{each.change}{example} in {100 * each.noticed:.0f} % of rows"
            lines.setdefault(f"{printable(each.feature)} ({each.role})", []).append(said)
        return [f"{name}: noticed is {'; '.join(said)}." for name, said in lines.items()]

    def group_lines(self) -> list[str]:
        """Say for each column in which groups the least is missed, and in which the most."""
        lines = []
        for place, limit in enumerate(self.features if len(self.groups) > 1 else ()):
            known = {
                name: shift
                for name, group in self.groups.items()
                if (shift := group.features[place].up_90) is not None
            }
            if known:
                least, most = (choose(known, key=lambda name: known[name]) for choose in (min, max))
                lines.append(
                    f"{printable(limit.feature)}, up 90 % by group: {number(known[least])} in "
                    f"{printable(least)} to {number(known[most])} in {printable(most)}."
                )
        return lines

    def _repr_html_(self) -> str:
        heads, *lines = self.table()
        table = grid(heads, (tuple(map(escaped, line)) for line in lines))
        others = map(paragraph, [*self.group_lines(), *self.change_lines()])
        return box(table if self.features else "", *others, paragraph(self.note))

    @property
    def note(self) -> str:
        """What the table means, in a sentence or two."""
        rate = "" if self.alpha is None else f" at {percent(self.alpha)} false alarms"
        shifts = (
            "The shift of one column from which on half, or 90 %, of normal rows are outliers"
            f"{rate}; in brackets as a part of the range learned. "
            if self.features
            else ""
        )
        changes = (
            "In columns that are not numbers, one cell of a normal row was changed: the share of "
            f"these rows that are outliers then{'' if self.features else rate}. "
            if self.changes
            else ""
        )
        return f"{shifts}{changes}Rows: {self.source}."


def _plain(limit: Limit, key: str) -> float:
    found: float | None = getattr(limit, key)
    if found is not None:
        return found
    return math.inf if limit.rows else math.nan


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part < 0.995 else f"{part:.3g}×"

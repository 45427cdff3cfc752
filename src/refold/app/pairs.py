"""Two columns of training rows as a small picture, with one row marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from refold._typing import Booleans, Floats
from refold.base.words import number, shortened
from refold.columns.table import Column, DateColumn, NumberColumn, Table
from refold.explanation import LEADS, Explanation
from refold.explanation.gauges import short

WIDE, TALL, EDGE = 360, 240, 14.0
_POINTS = 600  # training rows that are drawn
_NAMED = 8  # values of a category that have a place of their own; the others share one
_TAIL = 0.002  # what is farther out at either end of a column is drawn at the edge
_SEED = 71_500_419
_MOST_COLUMNS = 60
_RARER = 3.0  # times fewer rows than by chance: less is no combination to speak of


@dataclass(frozen=True)
class PairPicture:
    """Where training rows are in two columns, and where one new row is."""

    # across, up: The columns.
    across: str
    up: str
    points: str  # a path of all training rows
    at: tuple[str, str]  # where the row is
    # The ends of the axes of numbers and dates; all values of categories.
    across_labels: tuple[tuple[str, str], ...]
    up_labels: tuple[tuple[str, str], ...]


def odd_pair(said: Explanation, learned: Table, row: Table) -> tuple[str, str] | None:
    """Return the two columns whose combination is the first to be unusual; None if none is.

    Where no column stands out by itself, it is the pair whose combination of tenths or values has
    far fewer training rows than if the columns had nothing to do with each other.
    """
    if said.label != -1:
        return None
    if len(said.combination) > 1:
        return said.combination[0].feature, said.combination[1].feature
    reasons = [reason for rank, reason in enumerate(said.reasons) if reason.matters(rank)]
    for reason in reasons:
        if reason.beside and not reason.measure and reason.share >= LEADS:
            return reason.feature, reason.beside[0].feature
    return None if reasons else _rarest_pair(learned, row)


def _rarest_pair(learned: Table, row: Table) -> tuple[str, str] | None:
    alike = {}
    for name, column in [*learned.items()][:_MOST_COLUMNS]:
        if name in row.names and (same := _alike(column, row[name])) is not None:
            alike[name] = same
    found, most = None, np.log(_RARER)
    for one, other in combinations(alike, 2):
        both = np.count_nonzero(alike[one] & alike[other])
        expected = alike[one].mean() * alike[other].sum()
        if (rarer := np.log((expected + 1.0) / (both + 1.0))) > most:
            found, most = (one, other), rarer
    return found


def _alike(learned: Column, row: Column) -> Booleans | None:
    """Say which training rows are in the same tenth, or have the same value; None if none is."""
    if isinstance(learned, NumberColumn | DateColumn):
        values, own = _numbers(learned), _numbers(row)[0]
        if np.isnan(own) or np.isnan(values).all():
            return None
        edges = np.unique(np.nanquantile(values, np.arange(1, 10) / 10))
        same = np.searchsorted(edges, values, side="right") == np.searchsorted(edges, own, "right")
        return np.asarray(same & ~np.isnan(values))
    text = None if isinstance(row, NumberColumn | DateColumn) else row.text(0)
    if text is None or text not in learned.values:
        return None
    return np.asarray(learned.codes == list(learned.values).index(text))


def pair_picture(learned: Table, row: Table, pair: tuple[str, str]) -> PairPicture | None:
    """Draw two columns of training rows and a row, parsed; None if one of them has no value."""
    if not all(name in learned.names and name in row.names for name in pair):
        return None
    up, across = pair
    axes = [_PairAxis.of(learned[name], row[name]) for name in (across, up)]
    x, y = (axis.places(learned[name]) for axis, name in zip(axes, (across, up), strict=True))
    own = [axis.places(row[name])[0] for axis, name in zip(axes, (across, up), strict=True)]
    if np.isnan(own).any():
        return None
    some = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    rng = np.random.default_rng(_SEED)
    some = some[rng.permutation(len(some))[:_POINTS]]
    # Rows of the same category would lie on each other.
    x, y = (
        values[some] + (rng.uniform(-0.3, 0.3, len(some)) * axis.step if axis.step else 0.0)
        for values, axis in zip((x, y), axes, strict=True)
    )
    dots = zip(_along(x, WIDE), _along(1.0 - y, TALL), strict=True)
    return PairPicture(
        across,
        up,
        "".join(f"M{left} {top}h0" for left, top in dots),
        (_along([own[0]], WIDE)[0], _along([1.0 - own[1]], TALL)[0]),
        tuple((_along([at], WIDE)[0], text) for at, text in axes[0].labels),
        tuple((_along([1.0 - at], TALL)[0], text) for at, text in axes[1].labels),
    )


def _along(places: Sequence[float] | Floats, length: float) -> list[str]:
    return [short(EDGE + float(at) * (length - 2.0 * EDGE)) for at in places]


@dataclass(frozen=True)
class _PairAxis:
    """Where values stand, from 0 to 1."""

    labels: tuple[tuple[float, str], ...]
    low: float = 0.0
    high: float = 1.0
    values: tuple[str, ...] = ()  # of a category, those with a place
    step: float = 0.0  # of a category, from one place to the next

    @classmethod
    def of(cls, learned: Column, row: Column) -> _PairAxis:
        if isinstance(learned, NumberColumn | DateColumn):
            seen = _numbers(learned)
            seen = seen[np.isfinite(seen)]
            own = _numbers(row)[0]
            low, high = np.quantile(seen, [_TAIL, 1.0 - _TAIL]) if len(seen) else (own, own)
            if np.isfinite(own):
                low, high = min(low, own), max(high, own)
            labels = tuple((at, _worded(learned, end)) for at, end in ((0.0, low), (1.0, high)))
            return cls(labels, float(low), float(high))
        frequent = np.argsort(-learned.counts, kind="stable")[:_NAMED].tolist()
        values = [learned.values[k] for k in frequent]
        text = "" if isinstance(row, NumberColumn | DateColumn) else row.text(0) or ""
        values = list(dict.fromkeys([*values, *filter(None, [text])]))
        others = len(learned.values) > len(frequent)
        named = [*map(shortened, values), *(["others"] if others else [])]
        step = 1.0 / max(len(named), 1)
        labels = tuple(((k + 0.5) * step, name) for k, name in enumerate(named))
        return cls(labels, values=tuple(values), step=step)

    def places(self, column: Column) -> Floats:
        if isinstance(column, NumberColumn | DateColumn):
            width = self.high / 2.0 - self.low / 2.0
            along = (_numbers(column) / 2.0 - self.low / 2.0) / (width or 1.0)
            return np.clip(along if width else along + 0.5, 0.0, 1.0)
        place = {value: k for k, value in enumerate(self.values)}
        at = [(place.get(value, len(place)) + 0.5) * self.step for value in column.values]
        return np.append(np.asarray(at, dtype=np.float64), np.nan)[column.codes]


def _numbers(column: Column) -> Floats:
    if isinstance(column, NumberColumn):
        return column.values
    assert isinstance(column, DateColumn)
    return column.seconds


def _worded(column: Column, value: float) -> str:
    if isinstance(column, DateColumn) and np.isfinite(value):
        text = str(np.datetime64(int(np.floor(value)), "s"))
        return text[:10] if column.has_date else text[11:16]
    return number(value)

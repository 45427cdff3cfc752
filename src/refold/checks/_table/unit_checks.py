"""Columns in which some rows are in another unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from refold._typing import Floats
from refold.base.advice import Advice
from refold.base.findings import Finding
from refold.base.words import number, quoted
from refold.checks._table.cell_checks import LISTED
from refold.checks._table.checked_table import CheckedTable
from refold.columns.name_hints import name_words, word_set
from refold.columns.table import TextColumn
from refold.columns.units import CONVERSIONS, Conversion, is_unit

_LEAST_ROWS = 30  # fewer than these are in two clusters by chance
_LEAST_APART, _LEAST_SHARE = 8, 0.005  # rows, and the share of them, in the smaller cluster
# Two kinds of things differ by some factor too. Unless that is a power of ten, which is no chance,
# a cluster of more than this share of the rows is rather another kind than another unit.
_MOST_SHARE = 0.25
_WIDER = 2.5  # times as wide as any gap inside the larger cluster is the one between clusters
_VARIOUS, _SOME = 8, 5  # different values in the larger cluster and in the smaller one
_CHANCE = 1.95  # how far the clusters may differ by chance in one unit (Kolmogorov, 1 in 1,000), …
_MOST_UNLIKE = 0.5  # … and how far at most
# Where the gap is not clear: how far they may differ, in how many rows at least, and the spread.
_ALIKE, _MANY, _SAME_SPREAD = 0.2, 20, (0.6, 1.7)
_APART = 0.25  # how wide a gap is that is not wider than all others, from cluster to cluster
_TRIED = 8  # gaps, the widest
_SPREAD = (0.3, 3.0)  # of the smaller one, in spreads of the larger one
# Clusters in two units overlap unless they are narrow beside the factor: how wide the larger one
# may be, in logarithms. A wider one beside a gap is a long tail.
_NARROW = 0.75
# Clusters are copies if they are so alike, in so many rows; or if they are so many widths apart.
_VERY_ALIKE, _MANY_ALIKE, _FAR_APART = 0.8, 60, 4.0
_QUANTITIES = word_set(
    "length width height depth distance thickness diameter radius weight mass temp temperature "
    "heat speed velocity pressure volume energy duration länge breite höhe gewicht temperatur "
    "druck geschwindigkeit"
)
_WORDS_TOO = word_set("in at no ha pp bp px cd cc")  # units that are words of names, too
_WITH_UNIT = re.compile(r"[-+−]?[0-9][0-9.,' ]*([^0-9\s][^0-9]{0,15})")
_MOST_UNITS = 4


# Any power of ten may be a mistake; of other conversions, those that make numbers larger.
_TRIED_CONVERSIONS = (
    *(Conversion(10.0**k, 0.0, "", "") for k in (1, 2, 3, 6, 9)),
    *(each for each in CONVERSIONS if not each.decimal and each.offset >= 0.0),
)


def notice_units(table: CheckedTable) -> Iterator[Finding]:
    """Find numbers in two clusters that one conversion makes alike, and units beside numbers."""
    table = table.some_columns
    for column, some in zip(table.columns, table.sample.columns, strict=True):
        if column.numbers is not None and some.numbers is not None:
            yield from _of_numbers(column.name, column.numbers, some.numbers)
        elif column.texts is not None:
            yield from _of_texts(column.name, column.texts)


def _of_numbers(name: str, values: Floats, some: Floats) -> Iterator[Finding]:
    drawn = np.sort(some[~np.isnan(some)])
    if len(drawn) < _LEAST_ROWS:
        return
    best = max(
        _clusters(drawn, named=_says_quantity(name)),
        key=lambda clusters: clusters.alike,
        default=None,
    )
    if best is None:
        return
    few, many = sorted((best.low, best.high), key=len)
    rows = np.flatnonzero((values >= few[0]) & (values <= few[-1]))
    yield Finding(
        kind="mixed-units",
        message=f"{name} is in two clusters, {_shown(best.low)} and {_shown(best.high)}: the "
        f"latter {_likened(best.how)}. {len(rows):,} rows are in the smaller one.",
        column=name,
        rows=tuple(rows[:LISTED].tolist()),
        values=(float(np.median(many)), float(np.median(few))),
        advice=Advice("If some rows are in another unit, convert them."),
    )


def _likened(how: Conversion) -> str:
    if how.offset:
        return f"is as {how.unit} are to {how.of}"
    size = f"{how.factor:,.0f}" if how.factor.is_integer() else f"{how.factor:.4g}"
    return f"is {size} times as large" + (f", as {how.unit} are to {how.of}" if how.unit else "")


def _shown(cluster: Floats) -> str:
    return f"{number(cluster[0])} to {number(cluster[-1])}"


class Clusters(NamedTuple):
    """Two clusters of numbers, and how alike they are in one unit."""

    alike: float
    low: Floats
    high: Floats
    how: Conversion


def _clusters(values: Floats, *, named: bool) -> Iterator[Clusters]:
    """Yield ways to see two clusters in sorted numbers that one conversion makes alike.

    Two kinds of things are a factor apart, too. Unless it moves the decimal point, or the column is
    `named` after a unit, the clusters must be copies of each other.
    """
    # What is multiplied is seen in logarithms, of which 0 and negative numbers have none.
    positive = values[values > 0.0] if values[0] >= 0.0 else values[:0]
    gaps = {False: (positive, _gaps(np.log(positive))), True: (values, _gaps(values))}
    for how in _TRIED_CONVERSIONS:
        numbers, found = gaps[how.offset != 0.0]
        for at, clear in found:
            low, high = numbers[:at], numbers[at:]
            if not (clear or _are_apart(low, high, how)) or not _is_narrow(low, high, how):
                continue
            if not how.decimal and min(at, len(numbers) - at) > _MOST_SHARE * len(numbers):
                continue
            few, many = sorted((low, how.back(high)), key=len)
            alike = _likeness(few, many, clear=clear)
            if alike > 0.0 and (
                how.decimal or named or _is_copy(low, high, how, alike if clear else 0.0)
            ):
                yield Clusters(alike, low, high, how)


def _is_copy(low: Floats, high: Floats, how: Conversion, alike: float) -> bool:
    """Whether clusters are so alike, or so far apart for their widths, that it is no chance."""
    if min(len(low), len(high)) >= _MANY_ALIKE and alike >= _VERY_ALIKE:
        return True
    if how.offset == 0.0:
        low, high = np.log(low), np.log(high)
    widths = [float(np.subtract(*np.quantile(each, (0.9, 0.1)))) for each in (low, high)]
    return float(np.median(high) - np.median(low)) >= _FAR_APART * max(widths)


def _says_quantity(name: str) -> bool:
    """Whether the name of a column says a unit, or what is measured in one."""
    parts = name_words(name)
    units = (part for part in re.findall(r"[^\W\d_]+", name) if len(part) > 1)
    return any(part in _QUANTITIES for part in parts) or any(
        is_unit(unit, spaced=False) and unit.lower() not in _WORDS_TOO for unit in units
    )


def _gaps(values: Floats) -> list[tuple[int, bool]]:
    """Return where the widest gaps divide sorted numbers, and which are far wider than all others.

    Codes and long tails have wide gaps too: then one that is not wider must make up for it by
    clusters that are very much alike.
    """
    least = max(_LEAST_APART, round(_LEAST_SHARE * len(values)))
    gaps = np.diff(values)
    inner = gaps[least - 1 : len(gaps) - least + 1]
    out = []
    for at in (least + np.argsort(-inner, kind="stable")[:_TRIED]).tolist():
        below, above = gaps[: at - 1].max(initial=0.0), gaps[at:].max(initial=0.0)
        larger, smaller = (below, above) if 2 * at >= len(values) else (above, below)
        out.append((at, bool(gaps[at - 1] > max(_WIDER * larger, smaller))))
    return out


def _are_apart(low: Floats, high: Floats, how: Conversion) -> bool:
    """Whether the gap is a good part of the way from cluster to cluster."""
    if how.offset:  # both are sorted
        apart = high[len(high) // 2] - low[len(low) // 2]
        return bool(high[0] - low[-1] >= _APART * apart)
    return bool(np.log(high[0] / low[-1]) >= _APART * np.log(how.factor))


def _is_narrow(low: Floats, high: Floats, how: Conversion) -> bool:
    """Whether the larger cluster is narrow enough for two units to be apart."""
    if how.offset:
        return True
    first, last = np.quantile(max(low, high, key=len), (0.01, 0.99))
    return bool(np.log(last / first) <= _NARROW * np.log(how.factor))


def _likeness(few: Floats, many: Floats, *, clear: bool) -> float:
    """Return how alike two clusters are, from 1 down to 0: not at all."""
    if len(np.unique(many)) < _VARIOUS or len(np.unique(few)) < _SOME:
        return 0.0
    wide, narrow = (
        float(np.subtract(*np.quantile(cluster, (0.9, 0.1)))) for cluster in (many, few)
    )
    low, high = _SPREAD if clear else _SAME_SPREAD
    if wide <= 0.0 or not low <= narrow / wide <= high:
        return 0.0
    ordered = np.sort(few)
    before, up_to = (np.searchsorted(many, ordered, side) / len(many) for side in ("left", "right"))
    place = np.arange(len(few)) / len(few)
    off = float(np.maximum(place - up_to, before - place - 1.0 / len(few)).max(initial=0.0))
    allowed = _MOST_UNLIKE if clear else _ALIKE
    if off > min(_CHANCE / np.sqrt(len(few)), allowed) or (len(few) < _MANY and not clear):
        return 0.0
    return 1.0 - off


def _of_texts(name: str, texts: TextColumn) -> Iterator[Finding]:
    """Find numbers with different units behind them."""
    counts: dict[str, int] = {}
    examples: dict[str, str] = {}
    for text, rows in zip(texts.values, texts.counts.tolist(), strict=True):
        found = _WITH_UNIT.fullmatch(text.strip()) if len(text) < 40 else None
        unit = found[1].strip() if found else ""
        if unit and is_unit(unit, spaced=False):
            counts[unit] = counts.get(unit, 0) + rows
            examples.setdefault(unit, text)
    total = int(texts.counts.sum())
    often = sorted(counts, key=lambda unit: -counts[unit])[:_MOST_UNITS]
    if len(counts) < 2 or sum(counts.values()) < 0.9 * total:
        return
    yield Finding(
        kind="mixed-units",
        message=f"{name} has numbers in different units, such as "
        f"{' and '.join(quoted(examples[unit]) for unit in often)}.",
        column=name,
        values=tuple(often),
        advice=Advice("Convert them to one unit."),
    )

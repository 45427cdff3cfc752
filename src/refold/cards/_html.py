"""A fitted model in a notebook: what it has learned of each column, its rate, what was noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats
from refold.base.markup import box, details, escaped, grid, items, paragraph
from refold.cards._card import card_of, facts_of, noticed_by
from refold.columns.encoding.column_info import ColumnInfo
from refold.columns.frames import feature_names
from refold.explanation import normal_of_columns, normal_text
from refold.explanation.gauges import GAUGE, picture, short
from refold.judgement import asked_for
from refold.judgement.normal import normal_ranges
from refold.judgement.number_text import ranges_text

_FIRST, _MOST = 12, 200  # columns that are seen at once, and at all
_BARS, _TALL = 30, 14.0


def card_html(model: Any) -> str:
    """Return what a notebook shows of a fitted model: HTML without a script.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted.

    Returns
    -------
    str
        A part of a page; names and values of the table are only shown.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.cards import card_html
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(200, 2)))
    >>> "REF(alpha=0.05)" in card_html(model)
    True
    """
    check_is_fitted(model)
    try:
        model.scorer()
    except ValueError as error:  # it waits for more rows
        return box(paragraph(asked_for(model), "head"), paragraph(error))
    (_, name), *facts = facts_of(model)
    card, noticed = card_of(model, {}), noticed_by(model)
    columns = list(_columns(model))
    return box(
        paragraph(name, "head"),
        grid((), ((escaped(fact), escaped(value)) for fact, value in facts)),
        *([details("What was noticed", items(noticed), opened=True)] if noticed else []),
        *_tables(columns, model.n_features_in_),
        details("What you can rely on", items(card.guarantees)),
        details("What you cannot", items(card.limits)),
    )


def _tables(columns: list[tuple[str, ...]], number: int) -> Iterator[str]:
    heads = ("column", "is", "normal", "training rows")
    yield grid(heads, columns[:_FIRST])
    if rest := columns[_FIRST:_MOST]:
        yield details(f"{len(rest):,} more columns", grid(heads, rest))
    if number > len(columns):
        yield paragraph(f"{number - len(columns):,} more columns are not shown.", "soft")


def _columns(model: Any) -> Iterator[tuple[str, ...]]:
    """Return of each column its name, what it is, what is normal, and a picture of its values."""
    if hasattr(model, "columns_"):
        yield from _columns_of_a_table(model)
        return
    summary = model.summary_
    ranges = normal_ranges(summary)
    for k, name in enumerate(feature_names(model)[:_MOST]):
        missing = f"number, {summary.missing[k]:,.6g} missing" if summary.missing[k] else "number"
        yield escaped(name), missing, ranges_text(ranges[k]), _values(summary.quantiles[:, k])


def _columns_of_a_table(model: Any) -> Iterator[tuple[str, ...]]:
    counts, summary = model.encoder_.counts, model.summary_
    normal = normal_of_columns(model.encoder_, summary)
    numbers = [counts.plan.names[k] for k in counts.plan.numbers.tolist()]
    places = {name: place for place, name in enumerate(numbers)}
    for column in model.columns_[:_MOST]:
        known = {**normal.get(column.name, {}), "distinct": column.distinct, "unit": column.unit}
        place = places.get(column.name)
        values = "" if place is None else _values(summary.quantiles[:, place])
        yield escaped(column.name), _taken_for(column), escaped(normal_text(known)), values


def _taken_for(column: ColumnInfo) -> str:
    told = [column.reading if column.role != "ignore" else "left out"]
    told += [f"{column.missing:,} missing"] if column.missing else []
    told += [f"{column.unreadable:,} not readable"] if column.unreadable else []
    return ", ".join(told)


def _values(quantiles: Floats) -> str:
    """Draw how often values are: as many of the 257 quantiles as lie in each part of the range."""
    low, high = quantiles[0] / 4.0, quantiles[-1] / 4.0  # the width of a range can be too large
    edges = np.linspace(low, high, _BARS + 1)
    counts = np.histogram(quantiles / 4.0, edges)[0] if low < high else np.ones(1)
    wide = GAUGE / _BARS
    bars = (
        f"M{short(k * wide)} 15v-{short(max(_TALL * count / counts.max(), 0.5))}"
        f"h{short(wide - 0.5)}V15z"
        for k, count in enumerate(counts.tolist())
        if count
    )
    return picture(
        "how often values were in training",
        f'<path class="axis" d="M0 15.5H{GAUGE}"/><path class="bars" d="{"".join(bars)}"/>',
    )

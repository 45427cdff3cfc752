"""Rows beside the rest of their table, or beside some that are known to be good.

The latter by split conformal p-values: a model learns from a part of the trusted rows, and how far
out the others are says how rare a row is. With the Benjamini-Hochberg procedure they keep the false
discovery rate, whatever the distribution and the model (Bates, Candès, Lei, Romano, Sesia: Testing
for outliers with conformal p-values, Annals of Statistics 51, 2023).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.base.errors import UserError
from refold.base.findings import RateWarning
from refold.base.progress import part
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.table import CellState, NumberColumn, Table
from refold.decisions.thresholds import Calibration
from refold.judgement import Judge, Judgement
from refold.models.detector import Detector
from refold.models.detector.scorer import TableScorer
from refold.models.detector.trim import cell_oddness

# What rows become while they are judged must not outgrow the table.
_AT_ONCE = 2**16
# At most one of so many rows is set aside for either reason: the rest is what they are beside.
_LEAST_REST = 10
# One of so many trusted rows is learned from. The smallest p-value is 1/(n + 1), n being the
# others, and few bad rows among many are only found if it is small.
_LEARNED = 3
_SEED = 190_746_253
_FEWEST = 30


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table, how far out its rows are, and the model that says why."""

    table: Table  # the rows
    model: Detector  # has not learned from the oddest of them
    scores: Floats  # how far out each row is; NaN where it has no value
    p_values: Floats | None = None  # how rare that is among trusted rows, if there were any

    @property
    def worst_first(self) -> Integers:
        """The rows that have a value, the farthest out first."""
        order = np.argsort(-self.scores, kind="stable")
        return order[: np.count_nonzero(~np.isnan(self.scores))]

    def judgement(self, rows: Integers) -> Judgement:
        """Return what the model says of some rows."""
        return judgement(self.model, self.table.take(rows))


def judgement(model: Detector, table: Table) -> Judgement:
    """Return what a model says of a table that was read."""
    return Judge.of(model).table(table)


def distances_by_blocks(model: Detector, table: Table) -> Floats:
    """Return how far out each row is; NaN where it has no value."""
    found = [judgement(model, table.take(rows)).distances for rows in blocks(table)]
    return np.concatenate(found) if found else np.empty(0)


def blocks(table: Table) -> Iterator[Integers]:
    """Give the numbers of the rows, some at a time."""
    for begin in range(0, table.rows, _AT_ONCE):
        yield np.arange(begin, min(begin + _AT_ONCE, table.rows))


def beside_the_rest(table: Table, budget: int, options: dict[str, Any]) -> JudgedTable:
    """Rank rows by how odd their cells are; a model of all but the oddest says why.

    The rank is that of the mean over all columns. To a model that sees how columns go together, a
    few bad rows that are alike are a group of their own; and to learn again without the first ones
    found fewer bad rows on real tables. What seems a closed set without the rows set aside makes
    the ones that have something else certain, as in a new row.
    """
    encoder = TableEncoder(**options)
    table = encoder.fit_table(table)
    scores, rarest = _look(encoder.counts, table)
    most = min(budget, table.rows // _LEAST_REST)
    aside = np.union1d(_largest(scores, most), _largest(rarest, most))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # nothing is decided by its threshold
        rest = np.setdiff1d(np.arange(table.rows), aside)
        with part(0.3, 1.0):
            model = Detector(method="ref", **options).fit(table.take(rest))
    scores[aside] += _for_novelty(model, table.take(aside))
    return JudgedTable(table, model, scores)


def in_their_context(table: Table, budget: int, options: dict[str, Any]) -> JudgedTable:
    """Rank rows by a model of all but the oddest, which judges them by their group and time.

    Aside are rows far out, and those with a number far from what is expected: a few bad rows that
    are alike hide each other from a model that has learned them.
    """
    most = min(budget, table.rows // _LEAST_REST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # nothing is decided by its threshold
        with part(0.0, 0.5):
            model = Detector(**options).fit(table)
        read = model.encoder_.read(table, reset=False).columns
        scores = [each.values for each in read if isinstance(each, NumberColumn)]
        deviations = np.nanmax(np.abs([np.zeros(table.rows), *scores]), axis=0)
        aside = np.union1d(
            _largest(distances_by_blocks(model, table), most), _largest(deviations, most)
        )
        with part(0.5, 1.0):
            model = Detector(**options).fit(table.take(np.setdiff1d(np.arange(table.rows), aside)))
    return JudgedTable(table, model, distances_by_blocks(model, table))


def _look(counts: TableCounts, table: Table) -> tuple[Floats, Floats]:
    """Return the mean oddness of each row's cells, and that of the oddest which is no number.

    NaN of a row without any value.
    """
    used = counts.plan.parse(table)
    looks = [_look_at(counts, used.take(rows)) for rows in blocks(table)]
    return np.concatenate([mean for mean, _ in looks]), np.concatenate([high for _, high in looks])


def _look_at(counts: TableCounts, block: Table) -> tuple[Floats, Floats]:
    has_value = np.logical_or.reduce([c.state != CellState.MISSING for c in block.columns])
    odd = np.where(has_value[:, None], cell_oddness(counts, block, left_out=True), np.nan)
    others = np.delete(odd, counts.plan.numbers, axis=1)
    return odd.mean(axis=1), others.max(axis=1, initial=0.0)


def _largest(values: Floats, most: int) -> Integers:
    return np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")[:most]


def _for_novelty(model: Detector, table: Table) -> Floats:
    """Return what the model adds to rows for what their columns never had."""
    if table.rows == 0:
        return np.zeros(0)
    scorer = model.scorer()
    assert isinstance(scorer, TableScorer)
    _, novel = scorer.unpack(judgement(model, table).rows)
    return np.asarray(scorer.certain * novel.sum(axis=1))


def beside_trusted(table: Table, trusted: Table, options: dict[str, Any]) -> JudgedTable:
    """Judge rows by a model of some trusted rows, and say how rare they are among the others."""
    if trusted.rows < _FEWEST:
        raise UserError(
            f"trusted has {trusted.rows} rows, too few to learn from a third of them and to "
            f"compare with the others: at least {_FEWEST} are needed."
        )
    order = np.random.default_rng(_SEED).permutation(trusted.rows)
    first, others = np.split(order, [trusted.rows // _LEARNED])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # nothing is decided by its threshold
        model = Detector(**options).fit(trusted.take(np.sort(first)))
    far = distances_by_blocks(model, trusted.take(np.sort(others)))
    calibration = Calibration.of(far[~np.isnan(far)], None, "held-out")
    scores = distances_by_blocks(model, table)
    p_values = np.where(np.isnan(scores), np.nan, calibration.p_values(scores))
    return JudgedTable(table, model, scores, p_values)

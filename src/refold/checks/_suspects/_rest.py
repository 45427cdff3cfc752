"""Rows beside the rest of their own table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.base.findings import RateWarning
from refold.checks._suspects._judged import JudgedTable, blocks, judgement
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.table import CellState, Table
from refold.models.detector import Detector
from refold.models.detector.scorer import TableScorer
from refold.models.detector.trim import cell_oddness

# At most one of so many rows is set aside for either reason: the rest is what they are beside.
_LEAST_REST = 10


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
        model = Detector(method="ref", **options).fit(table.take(rest))
    scores[aside] += _for_novelty(model, table.take(aside))
    return JudgedTable(table, model, scores)


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

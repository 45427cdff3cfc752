"""Rows as they would be judged if fewer rows of their group were known.

Where groups differ in size most rows are of large ones, and what is normal of these is too narrow
for small ones: there expected value and spread are off by more, and numbers that are few different
ones, or of several kinds, lie elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.context.column_context import ColumnContext
from refold.columns.context.context_rows import ContextRows
from refold.columns.context.spread import normal_scores

# A group of so many rows is known as well as a larger one.
_MANY = 64


@dataclass(frozen=True, eq=False)
class SmallerGroups:
    """Some rows, and of the others of their group as many as another group has."""

    rows: Integers  # (k,)
    others: Integers  # (k, most): -1 beyond as many

    @classmethod
    def draw(cls, groups: Integers, sizes: Floats) -> SmallerGroups:
        """Choose for each row a group by chance, and of its own so many rows, if it has more.

        `sizes` says how many rows groups have, of which those given may be a sample.
        """
        random = np.random.RandomState(0)
        keys, picked = random.random_sample((2, len(groups)))
        some = np.sort(sizes[sizes > 0.0]).astype(np.int64)
        known = np.flatnonzero(groups >= 0) if len(some) else np.empty(0, dtype=np.int64)
        order = known[np.lexsort((keys[known], groups[known]))]
        own = groups[order]
        here = np.bincount(own, minlength=len(sizes))
        size = some[(picked[order] * len(some)).astype(np.int64)] if len(order) else order
        fewer = np.flatnonzero((size < np.minimum(sizes[own], _MANY)) & (size < here[own]))
        own, size = own[fewer, None], size[fewer, None]
        ahead = np.arange(1, size.max(initial=0) + 1)
        begin = (np.cumsum(here) - here)[own]  # those that follow it, by chance, in its group
        others = order[begin + (fewer[:, None] - begin + ahead) % here[own]]
        return cls(order[fewer], np.where(ahead <= size, others, -1))

    def scores(self, column: ColumnContext, rows: ContextRows, values: Floats) -> Floats:
        """Return the scores of a column in these rows."""
        model, spread = column.model, column.spread
        x = rows.x[:, column.features]
        off, factor = column.transformed(values) - x @ model.coef, column.factor(x)
        there = (self.others >= 0) & ~np.isnan(off)[self.others]
        beside, number = np.where(there, off[self.others], 0.0), there.sum(axis=1)
        leverage = 1.0 / (number + model.group_ridge)
        effect = beside.sum(axis=1) * leverage
        apart = np.where(there, (beside - effect[:, None]) / factor[self.others], 0.0)
        freedom = spread.prior_freedom + number * (1.0 - leverage)
        squares = spread.prior_freedom * spread.prior + (apart**2).sum(axis=1)
        variance = np.maximum(squares / freedom, spread.smallest)
        own = column.but_for_rounding((off[self.rows] - effect) / np.sqrt(1.0 + leverage))
        return normal_scores(own / (factor[self.rows] * np.sqrt(variance)), freedom)

"""What the numbers of a row lead to expect of each other, where a model has learned that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.surprise import USUAL
from refold.judgement.normal import Normal, normal_of
from refold.models.creased import CreasedScorer, Creases, Expected
from refold.models.detector.scorer import TableScorer, inside

if TYPE_CHECKING:
    from refold.judgement.judgement import Judgement

# Of models that are in use: what numbers say about each other, by how many of the columns they are.
_MARGINAL: WeakKeyDictionary[Creases, dict[int, Floats]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Relations:
    """How the numbers of some rows belong together.

    How surprising other cells are says nothing about what a number should be, and a surprise
    beyond all that was learned would lead to expect something absurd: these are left out.
    """

    creases: Creases
    numbers: Floats
    Z: Floats
    varying: Integers
    precision: Floats

    @classmethod
    def of(cls, found: Judgement) -> Relations | None:
        """Return the relations that a model has learned; None if it sees none."""
        scorer, k = inside(found.judge.scorer), len(found.judge.numeric)
        if not isinstance(scorer, CreasedScorer) or k == 0:
            return None
        creases = scorer.scoring.creases
        rows = found.rows.astype(np.float64)
        if isinstance(found.judge.scorer, TableScorer):
            rows = found.judge.scorer.unpack(rows)[0]
        Z, precision = creases.standardized(rows)[0], creases.precision
        varying = np.flatnonzero(creases.varying)
        own = varying < k
        if not own.all():
            precision = _marginal_precision(creases, k)
        return cls(creases, rows[:, :k], Z[:, own], varying[own], precision)

    @property
    def deviations(self) -> Floats:
        """How far each is from what the others lead to expect."""
        return Expected(self.precision).deviations(self.Z)

    @property
    def expected(self) -> Floats:
        """What the others lead to expect, in the columns' own units."""
        center, scale = self.creases.center, self.creases.scale
        out = np.tile(center[: self.numbers.shape[1]], (len(self.Z), 1))
        with np.errstate(over="ignore"):
            out[:, self.varying] += (self.Z - self.deviations) * scale[self.varying]
        return np.nan_to_num(out)


def _marginal_precision(creases: Creases, k: int) -> Floats:
    """Return what the first k columns say about each other if the others are not looked at."""
    known = _MARGINAL.setdefault(creases, {})
    if k not in known:
        own = np.flatnonzero(creases.varying) < k
        P = creases.precision
        beside = P[np.ix_(own, ~own)]
        # What the inverse of a block of the inverse is: of wide tables both would take very long.
        others = np.linalg.pinv(P[np.ix_(~own, ~own)], hermitian=True)
        known[k] = P[np.ix_(own, own)] - beside @ others @ beside.T
    return known[k]


def expected_numbers(found: Judgement) -> tuple[Floats, Booleans] | None:
    """Return what the other values of rows let expect of their numbers; None if that is unknown.

    Expected are normal values, with the digits that their columns have; and it is said where
    something beyond all normal values would be.
    """
    summary, relations = found.judge.summary, Relations.of(found)
    if relations is None or summary is None:
        return None
    normal, encoder = normal_of(summary), found.judge.encoder
    nearest = normal.nearest(relations.expected)
    slack = 1e-3 * (summary.high / 2.0 - summary.low / 2.0)
    beyond = np.abs(nearest - relations.expected) > slack
    beyond &= np.array([levels is None for levels in normal.levels])
    expected = normal.short(nearest)
    if encoder is None or found.cells is None or encoder.counts.plan.plain:
        return expected, beyond
    counts = encoder.counts
    codes = counts.plan.codes(found.cells.columns)
    for place, k in enumerate(found.judge.numeric):
        expected[:, place] = _likely_beside(counts, k, codes, expected[:, place], normal)
    return normal.short(expected), beyond


def _likely_beside(
    counts: TableCounts, k: int, codes: list[Integers], expected: Floats, normal: Normal
) -> Floats:
    """Return what is expected; where that is rare beside the partner, something more likely."""
    column = counts.plan.used[k]
    if k not in counts.contingency_tables or not column.edges:
        return expected
    at = np.searchsorted(column.edges, expected, side="right")
    rare = counts.contingency_tables[k].surprise[codes[counts.partner(k)], at] >= USUAL
    quantiles = normal.summary.quantiles[:, int(np.searchsorted(counts.plan.numbers, k))]
    bins = np.searchsorted(column.edges, quantiles, side="right")
    inside = [quantiles[bins == code] for code in range(len(column.edges) + 1)]
    middles = np.array([np.median(each) if len(each) else np.nan for each in inside])
    likely = middles[most_likely(counts, k, codes, len(expected))]
    return np.where(rare & ~np.isnan(likely), likely, expected)


def most_likely(counts: TableCounts, k: int, codes: list[Integers], rows: int) -> Integers:
    """Return the most frequent code of a column beside what its partner is in each row."""
    column = counts.plan.used[k]
    known = len(column.frequent) or len(column.edges) + 1
    if k not in counts.contingency_tables:
        return np.zeros(rows, dtype=np.int64)  # the most frequent comes first
    return np.asarray(
        counts.contingency_tables[k].counts[:, :known].argmax(axis=1)[codes[counts.partner(k)]]
    )

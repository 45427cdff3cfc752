"""What judges the encoded rows of a table: by columns, whatever features these became."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.encoding.counts import Encoded, TableCounts
from refold.columns.table import Table
from refold.decisions.rules import NO_RULES, Rules
from refold.models.scoring import Attribution, Scorer

# What is novel is marked in the rows: a magnitude m, which is never negative, becomes −1 − m, and
# infinity stands for a number that cannot be read.
# A magnitude beyond this is as far out as can be.
FARTHEST = 1e5
# A cell with what a closed column never had adds so many thresholds.
CERTAIN = 10.0
# One outside the user's own limits adds so many: no threshold reaches up to there.
VIOLATED = 1000.0


def encoded_rows(counts: TableCounts, table: Table, *, n_jobs: int | None = None) -> Floats:
    """Return the rows of a table as a TableScorer takes them; NaN in a row without any value."""
    return pack(counts.encode(table, n_jobs=n_jobs))


def pack(encoded: Encoded) -> Floats:
    """Return encoded rows as one array, what is novel marked; NaN in a row without any value."""
    rows = encoded.numbers
    if encoded.magnitudes.shape[1]:
        magnitudes = np.minimum(encoded.magnitudes, FARTHEST)
        if encoded.novel.any():
            magnitudes = _flipped(magnitudes, encoded.novel)
        rows = _side_by_side([rows, encoded.indicators, magnitudes])
    elif encoded.novel.any():
        rows = np.where(encoded.novel, np.inf, rows)
    if not encoded.judged.all():
        rows = rows.copy()
        rows[~encoded.judged] = np.nan
    return rows


def _side_by_side(parts: list[Floats]) -> Floats:
    """Put columns beside each other, each in one piece: they come so, and are read so."""
    out = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)), order="F")
    np.concatenate(parts, axis=1, out=out)
    return out


def _unpack(rows: Floats, leading: int) -> tuple[Floats, Booleans]:
    """Take the marks away; in a row without any value every column is novel."""
    if rows.shape[1] == leading:  # numbers alone
        novel = np.isinf(rows)
        novel[np.isnan(rows).all(axis=1)] = True
        return (np.where(novel, np.nan, rows) if novel.any() else rows), novel
    novel = rows[:, leading:] < 0.0
    novel[np.isnan(rows[:, -1])] = True  # the magnitude of a cell is never NaN
    if not novel.any():
        return rows, novel
    rows = rows.copy()
    rows[:, leading:] = _flipped(rows[:, leading:], novel)
    return rows, novel


def _flipped(magnitudes: Floats, novel: Booleans) -> Floats:
    """Mark magnitudes, or take the marks away: the same turns both ways."""
    return np.where(novel, -1.0 - magnitudes, magnitudes)


def inside(scorer: Scorer) -> Scorer:
    """Return what the estimator inside judges by; a scorer of numbers alone is that itself."""
    return scorer.inside if isinstance(scorer, TableScorer) else scorer


@dataclass(frozen=True, eq=False)
class MeanScorer:
    """The mean of the columns' magnitudes."""

    leading: int  # How many features come before the magnitudes

    additive: ClassVar[bool] = True
    unexplained: ClassVar[str] = ""

    def distances(self, X: Floats) -> Floats:
        """Return each row's distance."""
        return np.asarray(X[:, self.leading :].mean(axis=1))

    def attribution(self, X: Floats) -> Attribution:
        """Return each magnitude's share of the mean; other features have none."""
        parts = np.zeros(X.shape, order="F")
        np.divide(X[:, self.leading :], X.shape[1] - self.leading, out=parts[:, self.leading :])
        return Attribution(self.distances(X), parts)

    def on_threads(self, n_jobs: int | None) -> MeanScorer:
        """Return itself: there is nothing to divide."""
        return self


@dataclass(frozen=True, eq=False)
class TableScorer:
    """Judges encoded rows by the estimator inside, and what is novel on top."""

    inside: Scorer  # Of the estimator inside
    numeric: Integers  # Which columns are numbers: the first features
    leading: Integers  # The columns of all features that come before the magnitudes
    columns: int  # How many columns there are
    unit: float  # The estimator's threshold
    rules: Rules = NO_RULES  # The user's own; rows may have their flags behind the features
    # (k,): of the columns of numbers the median, and a unit of the last place; None without rules
    centers: Floats | None = None
    steps: Floats | None = None
    usual: Floats | None = None  # (d,): how surprising the cells of each column usually are
    # (k,) each: zero where a column of numbers never crosses it, as floor and as ceiling, else
    # infinite; None if the estimator inside sees to that.
    zero_ends: tuple[Floats, Floats] | None = None
    # (groups + 1,): by what distances to the estimator inside are divided for rows of each group,
    # and last 1 for rows of none; None if by nothing. That of a row follows its features.
    group_scales: Floats | None = None

    @property
    def additive(self) -> bool:
        """As the estimator inside."""
        return self.inside.additive

    @property
    def unexplained(self) -> str:
        """As the estimator inside."""
        return self.inside.unexplained

    @property
    def width(self) -> int:
        """How many features encoded rows have, without flags."""
        first = len(self.leading)
        return first if len(self.numeric) == self.columns else first + self.columns

    def unpack(self, X: Floats) -> tuple[Floats, Booleans]:
        """Return encoded rows as the estimator inside has them, and which columns are novel."""
        rows, novel = _unpack(X[:, : self.width], len(self.leading))
        beyond = self._beyond_zero(rows)
        if beyond.any():
            novel = novel.copy()
            novel[:, self.numeric] |= beyond
        return rows, novel

    def _beyond_zero(self, rows: Floats) -> Booleans:
        """Say which numbers lie beyond zero in a column that never crosses it."""
        numbers = rows[:, : len(self.numeric)]
        if self.zero_ends is None:
            return np.zeros((1, 1), dtype=np.bool_)
        return np.asarray((numbers < self.zero_ends[0]) | (numbers > self.zero_ends[1]))

    def flags(self, X: Floats) -> tuple[Booleans, Booleans]:
        """Return which cells lie outside the user's limits, and which rows are muted."""
        flags = X[:, self.width + (self.group_scales is not None) :] > 0.0
        if flags.shape[1] == 0:
            return np.zeros((len(X), self.columns), np.bool_), np.zeros(len(X), np.bool_)
        return flags[:, :-1], flags[:, -1]

    def scales(self, X: Floats) -> Floats:
        """Return by what the distances that the estimator inside gives to rows are divided."""
        if self.group_scales is None or X.shape[1] == self.width:
            return np.ones(len(X))
        return np.nan_to_num(X[:, self.width], nan=1.0)

    def numbers(self, X: Floats) -> Floats:
        """Return the columns of numbers of encoded rows."""
        return self.unpack(X)[0][:, : len(self.numeric)]

    def magnitudes(self, X: Floats) -> Floats:
        """Return how surprising the cells of encoded rows are, if they hold more than numbers."""
        return self.unpack(X)[0][:, len(self.leading) :]

    def distances(self, X: Floats) -> Floats:
        """Return how far out each row is."""
        alone = X.shape[1] == len(self.leading) and bool(np.isfinite(X).all())
        if alone and not self._beyond_zero(X).any():
            return self.inside.distances(X)  # numbers alone, and all are there
        rows, novel = self.unpack(X)
        out, some = np.zeros(len(X)), ~np.isnan(rows).all(axis=1)
        if some.any():
            out[some] = self.inside.distances(rows if some.all() else rows[some])
        out /= self.scales(X)
        out += self.certain * novel.sum(axis=1)
        if X.shape[1] == self.width:
            return out
        violated, muted = self.flags(X)
        return np.where(muted, 0.0, out + self.violation * violated.sum(axis=1))

    def attribution(self, X: Floats) -> Attribution:
        """Return the same, and because of which columns."""
        rows, novel = self.unpack(X)
        some: Booleans = np.asarray(~np.isnan(rows).all(axis=1))
        violated, muted = self.flags(X)
        parts: Floats = (self.certain * novel + self.violation * violated) * ~muted[:, None]
        distances: Floats = self.certain * novel.sum(axis=1) + self.violation * violated.sum(axis=1)
        distances *= ~muted
        if not some.any():
            return Attribution(distances, parts)
        found, counted = self.inside.attribution(rows[some]), ~muted[some] / self.scales(X)[some]
        parts[some] += self._by_column(found.parts) * counted[:, None]
        distances[some] += found.distances * counted
        expected, alone = found.expected, found.alone
        if alone is not None:
            alone = alone / self.scales(X)[some, None]
        return Attribution(
            distances,
            parts,
            None if expected is None else self._numbers_of(expected, some, np.nan),
            None if alone is None else self._spread(self._by_column(alone), some),
        )

    def on_threads(self, n_jobs: int | None) -> TableScorer:
        """Return one that uses so many threads."""
        return replace(self, inside=self.inside.on_threads(n_jobs))

    @property
    def certain(self) -> float:
        """What a novel cell adds to its row's distance."""
        return CERTAIN * self.unit

    @property
    def violation(self) -> float:
        """What a cell outside the user's limits adds to its row's distance."""
        return VIOLATED * (self.unit or 1.0)

    def _by_column(self, parts: Floats) -> Floats:
        """Add up the parts of the features of each column, unless they are by column already."""
        first = len(self.leading)
        if parts.shape[1] == self.columns:
            return parts
        out = parts[:, first:].copy()
        for feature, column in enumerate(self.leading.tolist()):
            out[:, column] += parts[:, feature]
        return out

    def _numbers_of(self, expected: Floats, some: Booleans, otherwise: float) -> Floats:
        out = np.full((len(some), self.columns), otherwise)
        out[np.ix_(some, self.numeric)] = expected[:, : len(self.numeric)]
        return out

    def _spread(self, values: Floats, some: Booleans) -> Floats:
        out = np.zeros((len(some), self.columns))
        out[some] = values
        return out

"""The nearest changes that would make a row normal, of numbers and of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.words import DIGITS
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.texts import TextCounts
from refold.columns.name_hints import name_words, says_code
from refold.columns.table import Column, NumberColumn, TextColumn, as_texts
from refold.judgement import Judgement
from refold.judgement.expected import most_likely
from refold.judgement.normal import Normal, normal_of
from refold.judgement.number_text import rounded
from refold.models.detector.scorer import TableScorer, inside
from refold.models.scoring import FoldScorer, Scorer

_AT_ONCE = 4096
_SHORT = (DIGITS, 6, 9)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of rows, by number; others stay as they are while these change."""

    found: Judgement
    X: Floats
    rows: Integers
    features: Integers

    @property
    def own(self) -> Floats:
        return np.asarray(self.X[self.rows, self.features])

    def some(self, chosen: Booleans) -> Cells:
        return Cells(self.found, self.X, self.rows[chosen], self.features[chosen])

    def accepted(self, values: Floats) -> Booleans:
        """Ask the model about the rows, each with one value put in."""
        found = np.empty(len(values), dtype=bool)
        for begin in range(0, len(values), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            rows = self.X[self.rows[part]]
            rows[np.arange(len(rows)), self.features[part]] = values[part]
            found[part] = ~self.found.with_numbers(rows, self.rows[part]).outlier
        return found


def stated(found: Judgement, wanted: Integers, nearest: Floats) -> Floats:
    """Return the accepted values of rejected rows with as few digits as are accepted too."""
    out = np.where(found.outlier[:, None], nearest, np.nan)
    rows, place = np.nonzero(~np.isnan(out))
    X = found.numbers.astype(np.float64, copy=False)
    cells = Cells(found, X, rows, wanted[rows, place])
    values, open_ = out[rows, place], np.ones(len(rows), dtype=bool)
    for digits in _SHORT:
        for inward in (False, True):
            if not open_.any():
                break
            asked = cells.some(open_)
            tried = rounded(values[open_], asked.own if inward else None, digits)
            good = asked.accepted(tried)
            at = np.flatnonzero(open_)[good]
            out[rows[at], place[at]], open_[at] = tried[good], False
    return out


# How many more features are given up at a time: first in view of those before, then quickly.
_STEPS = (1, 1, 1, 1, 1, 2, 4, 8)


def smallest_changes(found: Judgement, normal: Normal, learned: Floats | None) -> Floats:
    """Return normal rows that differ from the outliers in as few values as were found."""
    X = found.numbers.astype(np.float64, copy=False)
    instead, chosen = X.copy(), np.zeros(X.shape, dtype=bool)
    typical = normal.short(_typical(inside(found.judge.scorer), normal)[None])
    open_, parts = np.arange(len(X)), found.attribution().parts
    for step in _steps(X.shape[1]):
        chosen[open_] = _with_more(chosen[open_], np.isnan(X[open_]), parts, step)
        given_up = np.where(chosen[open_], np.nan, X[open_])
        asked = found.with_numbers(given_up, open_)
        _, parts, expected, _ = asked.attribution()
        usual = np.broadcast_to(typical, parts.shape)
        if expected is not None:  # of a row that has no value left nothing is expected
            usual = np.where(asked.judged[:, None], normal.short(normal.nearest(expected)), usual)
        instead[open_] = np.where(chosen[open_], usual, X[open_])
        rejected = found.with_numbers(instead[open_], open_).outlier
        open_, parts = open_[rejected], parts[rejected]
        if len(open_) == 0:
            break
    if len(open_):  # a whole other row; it may be what is missing that is needed
        instead[open_] = typical if learned is None else _most_alike(X[open_], learned, found)
        instead[open_[found.with_numbers(instead[open_], open_).outlier]] = np.nan
    while _put_back(found, X, instead):
        pass  # what was needed beside others may not be any more
    return instead


def _steps(features: int) -> list[int]:
    steps = list(_STEPS)
    while sum(steps) < features:
        steps.append(2 * steps[-1])
    return steps


def _with_more(chosen: Booleans, missing: Booleans, parts: Floats, step: int) -> Booleans:
    """Choose so many more features, those with the largest parts."""
    left = np.where(chosen | missing, -1.0, parts)
    largest = np.argsort(-left, axis=1, kind="stable")[:, :step]
    more = np.zeros_like(chosen)
    np.put_along_axis(more, largest, values=True, axis=1)
    return np.asarray(chosen | (more & ~missing))


def _most_alike(X: Floats, learned: Floats, found: Judgement) -> Floats:
    """Return for each row the learned one that is accepted and differs in the fewest features."""
    good = learned[~found.judge.rows(learned).outlier & ~np.isnan(learned).any(axis=1)]
    if len(good) == 0:
        return X
    unit = np.maximum(np.ptp(good, axis=0), np.finfo(np.float64).tiny)
    away = np.stack([np.fmin(np.abs(good - row) / unit, 1.0).sum(axis=1) for row in X])
    return np.asarray(good[away.argmin(axis=1)])


def different(instead: Floats, X: Floats) -> Booleans:
    """Say which values were changed; one that was missing may have been put in."""
    return np.asarray((instead != X) & ~np.isnan(instead))


def _put_back(found: Judgement, X: Floats, instead: Floats) -> bool:
    """Undo changes that a row does not need, in place; say whether there were any."""
    undone = False
    changed = different(instead, X)
    several = np.flatnonzero(changed.sum(axis=1) > 1)
    parts = np.where(changed, found.attribution().parts, np.inf)[several]
    for place, features in enumerate(np.argsort(parts, axis=1, kind="stable").T):
        here = np.flatnonzero(changed[several].sum(axis=1) > max(place, 1))
        if len(here) == 0:
            break
        rows, columns = several[here], features[here]
        tried = instead[rows]
        tried[np.arange(len(rows)), columns] = X[rows, columns]
        fine = ~found.with_numbers(tried, rows).outlier
        instead[rows[fine]] = tried[fine]
        undone |= bool(fine.any())
    return undone


def _typical(scorer: Scorer, normal: Normal) -> Floats:
    """Return a value of each feature that adds little: its median, or near it."""
    quantiles = normal.summary.quantiles
    medians = np.array(quantiles[len(quantiles) // 2])
    if isinstance(scorer, FoldScorer):  # folding may have put the median itself far out
        for j, q in enumerate(quantiles.T):
            sizes = scorer.magnitudes(j, q).mean(axis=1)
            near = q[sizes <= np.quantile(sizes, 0.25)]
            medians[j] = near[np.abs(near - medians[j]).argmin()]
    return medians


_MOST_CHANGES = 3
_NAMES = 0.05  # a category with more values than this share of the rows names what it is of
# Of a number that adds up: it is typical if no more than a quarter of the rows add less.
_TYPICAL = 0.25


def table_changes(found: Judgement) -> list[dict[int, float | str]]:
    """Return for each outlier the changes with which it is normal, by column; none if not found."""
    out: list[dict[int, float | str]] = [{} for _ in range(len(found))]
    outliers = np.flatnonzero(found.outlier)
    if len(outliers) == 0:
        return out
    rows = found.take(outliers)
    other = _Instead.of(rows)
    chosen = other.without_needless(other.enough())
    for place, row in enumerate(outliers.tolist()):
        order = rows.by_blame[place].tolist()
        columns = [k for k in order if chosen[place, k]]
        if not set(columns).isdisjoint(order[:_MOST_CHANGES]):  # else it mends no reason
            out[row] = {k: other.values[k][place] for k in columns}
    return out


@dataclass(frozen=True, eq=False)
class _Instead:
    """What the cells of outliers may be changed to: by column, a value for each row."""

    found: Judgement
    values: dict[int, list[float] | list[str]]

    @classmethod
    def of(cls, found: Judgement) -> _Instead:
        """Look for values that are likely in each row; nobody is told who else a row may be of."""
        assert found.cells is not None
        assert found.judge.encoder is not None
        counts, summary = found.judge.encoder.counts, found.judge.summary
        codes = counts.plan.codes(found.cells.columns)
        values: dict[int, list[float] | list[str]] = {}
        if summary is not None:
            expected = found.expected
            if expected is None:
                expected = _typical_numbers(found, counts, normal_of(summary))
            for place, k in enumerate(found.judge.numeric):
                if not names_rows(found.names[k]):
                    values[k] = expected[:, place].tolist()
        for k, column in enumerate(counts.plan.used):
            if column.role == "category" and column.frequent and not _identifies(counts, k):
                likely = most_likely(counts, k, codes, len(found)).tolist()
                own = _usual_in_group(found, column.name)
                values[k] = [
                    column.frequent[c] if usual is None else usual
                    for c, usual in zip(likely, own or [None] * len(found), strict=True)
                ]
        return cls(found, values)

    def enough(self) -> Booleans:
        """Return which cells to change for rows to be accepted; none where nothing helps."""
        d, columns = len(self.found.names), list(self.values)
        chosen = self._unreadable()
        order = _only(self.found.by_blame, np.isin(np.arange(d), columns))
        scorer = self.found.judge.scorer
        assert isinstance(scorer, TableScorer)
        novel = scorer.unpack(self.found.rows)[1]
        hopeless = np.delete(novel, columns, axis=1).any(axis=1)
        # If what matters most cannot be mended, nobody wants to hear what else could be.
        hopeless |= ~np.isin(self.found.by_blame[:, 0], columns)
        open_ = np.flatnonzero(~hopeless)
        for step in range(min(_MOST_CHANGES, order.shape[1])):
            if len(open_) == 0:
                break
            chosen[open_, order[open_, step]] = True
            open_ = open_[~self._accepted(open_, chosen[open_])]
        chosen[open_], chosen[hopeless] = False, False
        return chosen

    def without_needless(self, chosen: Booleans) -> Booleans:
        """Put back what a row does not need, what matters least first."""
        keep = self._unreadable()
        for step in range(self.found.by_blame.shape[1] - 1, -1, -1):
            columns = self.found.by_blame[:, step]
            rows = np.arange(len(chosen))
            several = chosen.sum(axis=1) > 1
            asked = np.flatnonzero(chosen[rows, columns] & ~keep[rows, columns] & several)
            if len(asked):
                less = chosen[asked]
                less[np.arange(len(asked)), columns[asked]] = False
                fine = self._accepted(asked, less)
                chosen[asked[fine]] = less[fine]
        return chosen

    def _unreadable(self) -> Booleans:
        """Say which cells have to change in any case, being no numbers at all."""
        assert self.found.cells is not None
        cells = self.found.cells.columns
        return np.column_stack([isinstance(c, NumberColumn) & c.unreadable for c in cells])

    def _accepted(self, rows: Integers, chosen: Booleans) -> Booleans:
        """Ask the model about rows with some of their cells changed."""
        judge, cells = self.found.judge, self.found.cells
        assert judge.encoder is not None
        assert cells is not None
        some = cells.take(rows)
        changed = np.flatnonzero(chosen.any(axis=0)).tolist()
        other = {k: [self.values[k][row] for row in rows.tolist()] for k in changed}
        table = some.with_columns(
            {k: with_values(some.columns[k], chosen[:, k], other[k]) for k in changed}
        )
        if judge.encoder.context is not None:
            table = judge.encoder.context.with_texts(table)
        return np.asarray(~judge.table(table).outlier)


def with_values(column: Column, chosen: Booleans, values: Sequence[float | str]) -> Column:
    """Return a column with other values in some of its cells; there is one for each cell."""
    if isinstance(column, NumberColumn):
        return NumberColumn(np.where(chosen, np.array(values, dtype=np.float64), column.values))
    texts = as_texts(column)
    place = {value: code for code, value in enumerate(texts.values)}
    codes = [place.setdefault(str(value), len(place)) for value in values]
    return TextColumn(list(place), np.where(chosen, codes, texts.codes))


def _usual_in_group(found: Judgement, column: str) -> list[str | None] | None:
    """Return the most frequent text in the group of each row; None where groups do not matter."""
    assert found.judge.encoder is not None
    assert found.cells is not None
    context, inputs = found.judge.encoder.context, found.cells.inputs
    if context is None or inputs is None or column not in context.texts:
        return None
    return context.usual_texts(inputs, column) if context.texts[column].matters else None


def _only(order: Integers, wanted: Booleans) -> Integers:
    """Return the columns of each row, in their order, without those that are not wanted."""
    return order[wanted[order]].reshape(len(order), int(wanted.sum()))


def names_rows(name: str) -> bool:
    """Whether a column's name says that its values are names: nobody is told to change these."""
    return says_code(name) and (len(name_words(name)) > 1 or says_code(f"{name} x"))


def _identifies(counts: TableCounts, k: int) -> bool:
    """Whether the values of a category tell who or what a row is of: a name, few rows each."""
    tally = counts.others[k]
    assert isinstance(tally, TextCounts)
    values = tally.values
    return names_rows(counts.plan.names[k]) or values.distinct > _NAMES * values.rows


def _typical_numbers(found: Judgement, counts: TableCounts, normal: Normal) -> Floats:
    """Return a value of each number that adds little: its median, or near it."""
    assert counts.numbers is not None
    quantiles = normal.summary.quantiles
    sizes = counts.numbers.magnitudes(quantiles)
    small = sizes <= np.quantile(sizes, _TYPICAL, axis=0)
    middle = quantiles[len(quantiles) // 2]
    nearest = np.where(small, np.abs(quantiles - middle), np.inf).argmin(axis=0)
    usual = np.broadcast_to(quantiles[nearest, np.arange(len(middle))], found.numbers.shape)
    return normal.short(normal.nearest(usual))

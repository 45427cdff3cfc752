"""Which columns make a row an outlier, and by how much: the order in which reasons are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from refold._typing import Booleans, Floats
from refold.columns.encoding.dependence import NONE, OTHER
from refold.columns.encoding.surprise import USUAL
from refold.columns.table import CellState, TextColumn
from refold.judgement.normal import normal_of
from refold.models.detector.scorer import TableScorer

if TYPE_CHECKING:
    from refold.judgement.judgement import Judgement

# What the part of a value counts for that many training rows have: where parts add up next to
# nothing; else it may be a reason together with others.
_COMMON_ALONE, _COMMON_TOGETHER = 0.01, 0.25
# A number is as expected if it differs by no more of the range that nine in ten rows are in. It is
# blamed all the same if so few rows are as far out: others may be as far out with it.
_AS_EXPECTED, _FEW = 0.02, 0.05


def shares_of(found: Judgement) -> Floats:
    """Return each column's share of its row's distance; a row's shares add up to at most 1.

    A value that many training rows have counts for little. In outliers one that is as expected
    counts for nothing, a cell that is rare only beside a rare value, or one far outside its range,
    is that value's, and a cell that a closed column never had has all that no other column
    explains.
    """
    common = _COMMON_ALONE if found.judge.scorer.additive else _COMMON_TOGETHER
    usual = _common(found) & ~found.violated
    blame = found.attribution().parts * np.where(usual, common, 1.0)
    distances = np.nan_to_num(found.distances)
    outliers = np.flatnonzero(found.outlier)
    if len(outliers):
        blame[outliers] = _of_outliers(found.take(outliers), blame[outliers])
    blame[:, np.isin(found.names, found.judge.rules.unblamed)] = 0.0
    total = np.maximum(blame.sum(axis=1), distances)[:, None]
    shares: Floats = np.divide(blame, total, out=np.zeros_like(blame), where=total > 0.0)
    return shares


def _of_outliers(found: Judgement, blame: Floats) -> Floats:
    scorer = found.judge.scorer
    numeric = found.judge.numeric
    blame[:, numeric] *= ~near_expected(found, far_out=False) | found.violated[:, numeric]
    if isinstance(scorer, TableScorer):
        far = _far_outside(found)
        novel = scorer.unpack(found.rows)[1] & ~_contradicts(found, far)
        _move_to_partners(found, blame, novel | far)
        rest = np.maximum(found.distances - blame.sum(axis=1), 0.0)
        rest /= np.maximum(novel.sum(axis=1), 1)
        blame += rest[:, None] * novel
    return blame


def _far_outside(found: Judgement) -> Booleans:
    """Say which numbers lie beyond their normal range by more than is as expected."""
    out = np.zeros((len(found), len(found.names)), dtype=np.bool_)
    if found.judge.summary is not None:
        X, ranges = found.numbers, normal_of(found.judge.summary).ranges
        low, high = (np.array([each[end][end] for each in ranges]) for end in (0, -1))
        with np.errstate(over="ignore", invalid="ignore"):
            off, wide = np.maximum(low - X, X - high), high - low
            out[:, found.judge.numeric] = off > _AS_EXPECTED * wide
    return out


def _contradicts(found: Judgement, far: Booleans) -> Booleans:
    """Say which cells contradict only a number far outside: what goes with it, nobody knows."""
    out = np.zeros(far.shape, dtype=np.bool_)
    encoder = found.judge.encoder
    if encoder is None or found.cells is None or not far.any():
        return out
    counts = encoder.counts
    codes = counts.plan.codes(found.cells.columns)
    for k in counts.contingency_tables:
        partner = counts.partner(k)
        never = counts.contradictions(k)[codes[partner], codes[k]]
        out[:, k] = never & far[:, partner]
    return out


def near_expected(found: Judgement, *, far_out: bool) -> Booleans:
    """Say which numbers are what the other values of their rows let expect."""
    expected, summary = found.expected, found.judge.summary
    if expected is None or summary is None:
        return np.zeros((len(found), len(found.judge.numeric)), dtype=np.bool_)
    quantiles, X = summary.quantiles, found.numbers
    with np.errstate(over="ignore"):
        off = np.abs(X - expected)
        bulk = quantiles[-len(quantiles) // 20] - quantiles[len(quantiles) // 20]
        near = off <= _AS_EXPECTED * bulk
        tail = normal_of(summary).as_far(X) <= _FEW
        far = off <= _AS_EXPECTED * (quantiles[-1] - quantiles[0])
    return np.asarray(near | (tail & far) if far_out else near & ~tail)


def _common(found: Judgement) -> Booleans:
    """Say which numbers a twentieth of the training rows have, and which cells surprise nobody.

    Where parts add up the latter have hardly any.
    """
    scorer, numeric = found.judge.scorer, found.judge.numeric
    out = np.zeros((len(found), len(found.names)), dtype=np.bool_)
    if isinstance(scorer, TableScorer) and not scorer.additive and len(numeric) < out.shape[1]:
        out = scorer.magnitudes(found.rows) < USUAL
        out[:, numeric] = False
    for place, common in found.judge.common.items():
        out[:, numeric[place]] = np.isin(found.numbers[:, place], common)
    return out


def _move_to_partners(found: Judgement, blame: Floats, itself: Booleans) -> None:
    """Blame the other cell for what is surprising of two together, if that one is odder, in place.

    It is odder if its value is rare, or odd by `itself`, and this one's is not, or if it surprises
    more beside the remaining cells. What is a reason by itself keeps its blame: such a cell, and a
    number outside its normal range.
    """
    encoder, scorer = found.judge.encoder, found.judge.scorer
    if encoder is None or found.cells is None or not isinstance(scorer, TableScorer):
        return
    counts = encoder.counts
    if not counts.contingency_tables:
        return
    codes, sizes = counts.plan.codes(found.cells.columns), scorer.magnitudes(found.rows)
    alone = itself.copy()
    if found.judge.summary is not None:
        X = found.numbers
        outside = ~normal_of(found.judge.summary).inside(X) & ~np.isnan(X)
        alone[:, found.judge.numeric] |= outside
    beside = {
        k: slices.surprise[codes[counts.partner(k)], codes[k]]
        for k, slices in counts.contingency_tables.items()
    }

    def odd(k: int, other: int) -> Floats:
        found = [
            beside[j]
            for j in beside
            if k in (j, counts.partner(j)) and other not in (j, counts.partner(j))
        ]
        return np.mean(found, axis=0) if found else np.zeros(len(blame))

    before = blame.copy()
    for k, surprise in beside.items():
        partner = counts.partner(k)
        share = np.divide(surprise, sizes[:, k], out=np.zeros(len(blame)), where=sizes[:, k] > 0.0)
        rarer = (codes[partner] == OTHER) & (codes[k] != OTHER)
        rarer &= isinstance(found.cells.columns[partner], TextColumn)
        odder = odd(partner, k) > odd(k, partner) + USUAL
        new_gap = (codes[k] == NONE) & (counts.states(k)[CellState.MISSING] == 0)
        moves = (rarer | odder | itself[:, partner]) & ~alone[:, k] & ~new_gap
        moved = np.where(moves, share, 0.0) * before[:, k]
        blame[:, k] -= moved
        blame[:, partner] += moved

"""A conformal test martingale: evidence of a change that may be looked at after every row."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats, Integers

BLOCK = 128  # rows between the starts of two bets
_RECENT, _RICHEST = 16, 16  # starts that are followed: the newest, and of the others the best
MOST_STARTS = _RECENT + _RICHEST
_SLOPES = np.array([-1.9, -1.0, -0.5, 0.5, 1.0, 1.9])
_CURVES = np.array([-0.45, 0.45, 0.9])
_POWERS = np.array([0.3, 0.6])
BETS = len(_SLOPES) + len(_CURVES) + 2 * len(_POWERS)


class ConformalMartingale:
    """Bets against numbers being exchangeable with those of training, and with each other.

    Each number has a conformal p-value: its rank among the training numbers and all numbers before
    it, ties broken at random. As long as nothing changes these are independent and uniform (Vovk,
    Gammerman & Shafer, Algorithmic Learning in a Random World, 2005), so that a bet of fair odds on
    them is a martingale. By Ville's inequality it exceeds 1/alpha, ever, with probability alpha at
    most. The capital is spread over thirteen simple bets and over all times at which a change may
    have begun, the k-th start having 1/(k(k+1)) of it. The `values` of training are ascending, each
    once.
    """

    def __init__(self, values: Floats, counts: Floats) -> None:
        self._values = values
        self._training = np.zeros(2 * len(values) + 1)  # below, at, and between the values
        self._training[1::2] = counts
        self.seen = np.zeros(len(self._training), np.int64)  # the same of the rows that came
        self._random = np.random.default_rng(0)
        self.rows = 0
        self.wealth = np.empty((0, BETS))  # logarithms, by start and bet
        self.share = np.empty(0)  # of the capital, by start, as a logarithm
        self.log_capital = 0.0

    def update(self, values: Floats) -> None:
        """Look at more numbers, in their order; NaN is no number."""
        values = values[~np.isnan(values)]
        begin = 0
        while begin < len(values):
            room = BLOCK - self.rows % BLOCK
            if room == BLOCK:
                self._start()
            part = values[begin : begin + room]
            self.wealth += _log_odds(self._p_values(part)).sum(axis=1)
            self.rows += len(part)
            begin += len(part)
            self.log_capital = self._log_capital()

    def restore(self, seen: Integers, wealth: Floats, share: Floats) -> None:
        """Take up the state of another one with the same training numbers."""
        self.seen, self.wealth, self.share = seen, wealth, share
        self.rows = int(seen.sum())
        self._random = np.random.Generator(np.random.PCG64(0).advance(self.rows))
        self.log_capital = self._log_capital() if self.rows else 0.0

    def _start(self) -> None:
        """Place a part of the capital on a change that begins now."""
        starts = self.rows // BLOCK + 1
        share = -np.log(starts) - np.log(starts + 1.0)
        self.wealth = np.vstack([self.wealth, np.full(BETS, -np.log(BETS))])
        self.share = np.append(self.share, share)
        if len(self.share) > MOST_STARTS:
            capital = self.share + np.logaddexp.reduce(self.wealth, axis=1)
            kept = np.sort(
                [
                    *np.argsort(-capital[:-_RECENT])[:_RICHEST],
                    *range(len(capital) - _RECENT, len(capital)),
                ]
            )
            self.wealth, self.share = self.wealth[kept], self.share[kept]

    def _log_capital(self) -> float:
        placed = np.logaddexp.reduce(self.share + np.logaddexp.reduce(self.wealth, axis=1))
        starts = -(-self.rows // BLOCK)
        return float(np.logaddexp(placed, -np.log(starts + 1.0)))

    def _p_values(self, values: Floats) -> Floats:
        """Return conformal p-values: of large numbers they are small."""
        left = np.searchsorted(self._values, values, side="left")
        bins = left + np.searchsorted(self._values, values, side="right")
        counts = self._training + self.seen
        above = np.cumsum(counts[::-1])[::-1]
        total = above[0]
        more, same = above[bins] - counts[bins], counts[bins]
        before = np.tri(len(bins), k=-1, dtype=np.bool_)
        more = more + ((bins[None, :] > bins[:, None]) & before).sum(axis=1)
        same = same + ((bins[None, :] == bins[:, None]) & before).sum(axis=1)
        np.add.at(self.seen, bins, 1)
        u = 1.0 - self._random.random(len(bins))
        return np.asarray((more + u * (same + 1.0)) / (total + np.arange(1.0, len(bins) + 1.0)))


def _log_odds(p: Floats) -> Floats:
    """Return what each bet multiplies its stake by, as a logarithm; each has the mean 1."""
    middle = p - 0.5
    lines = np.log1p(_SLOPES[:, None] * middle)
    curves = np.log1p(_CURVES[:, None] * (12.0 * middle**2 - 1.0))
    tails = np.minimum(1.0, 2.0 * np.minimum(p, 1.0 - p) + np.finfo(np.float64).tiny)
    powers = [
        np.log(_POWERS)[:, None] + (_POWERS[:, None] - 1.0) * np.log(each) for each in (p, tails)
    ]
    return np.concatenate([lines, curves, *powers])

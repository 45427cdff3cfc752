"""From finished cells to what is said of the methods."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats
from scipy.sparse.csgraph import connected_components

from refold._typing import Floats
from refold.monitoring.statistics import holm
from refold.studies.measured import (
    MeasuredCell,
    MeasuredComparison,
    mean_of,
    over_seeds,
    text_table,
)
from refold.studies.novelty.cells import NoveltyJob
from refold.studies.novelty.measures import MEASURES, RANKED, TIMES, TITLES
from refold.studies.novelty.methods import REFERENCES


def average_ranks(values: Floats) -> Floats:
    """Return each method's mean rank over the data sets; 1 is best, equal values share a rank."""
    return np.asarray(stats.rankdata(-values, axis=1).mean(axis=0))


def friedman(values: Floats) -> float:
    """Return the p-value of Friedman's test, by Iman and Davenport's F, that all ranks are equal.

    SciPy's test has the chi-square that F is made of, but for three methods or more only and
    corrected for ties, which Demšar's is not.
    """
    n, k = values.shape
    ranks = average_ranks(values)
    chi2 = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    if chi2 >= n * (k - 1) - 1e-9:  # the same order on every set
        return 0.0
    statistic = (n - 1) * chi2 / (n * (k - 1) - chi2)
    return float(stats.f.sf(statistic, k - 1, (k - 1) * (n - 1)))


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return by how much two average ranks must differ to be significant (Nemenyi's test)."""
    q = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def elo_ratings(values: Floats) -> Floats | None:
    """Return each method's Elo rating, as the comparison of TaskBridge's paper has it.

    On every set each method meets each other one: 1 point for the better value, half a point for
    an equal one. The strengths of Bradley and Terry's model that make these points most likely,
    with a geometric mean of 1, become 1000 + 400·log10 of it. There are none if some methods lose
    every point against the others.
    """
    better = np.round(values[:, :, None] - values[:, None, :], 12)  # equal but for rounding
    points = np.sum((better > 0) + 0.5 * (better == 0), axis=0)
    np.fill_diagonal(points, 0.0)
    if connected_components(points > 0, connection="strong")[0] > 1:
        return None
    games, won = points + points.T, points.sum(axis=1)
    strength = np.ones(len(won))
    for _ in range(_MAX_STEPS):  # Hunter's MM steps, each of which raises the likelihood
        new = won / np.sum(games / np.add.outer(strength, strength), axis=1)
        new /= np.exp(np.mean(np.log(new)))
        if np.max(np.abs(new / strength - 1.0)) < _PRECISION:
            break
        strength = new
    return np.asarray(1000.0 + 400.0 * np.log10(new))


_MAX_STEPS, _PRECISION = 10_000, 1e-10


def groups(ranks: Floats, difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of methods whose ranks differ by less than the critical one."""
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = int(np.searchsorted(ranks, rank + difference, side="left")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


class SignedRank(NamedTuple):
    """A method against another, over data sets.

    `direction` is the sign of the ranks' sum: whether the first is better (1) or worse (-1).
    """

    wins: int
    ties: int
    losses: int
    direction: int
    p: float


def signed_rank(ours: Floats, theirs: Floats) -> SignedRank:
    """Compare methods by Wilcoxon's signed-rank test, two-sided; ties are split as by Demšar."""
    difference = np.round(ours - theirs, 12)  # equal but for rounding is equal
    wins, losses = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    ties = len(difference) - wins - losses
    p = 1.0
    if ties < len(difference):
        p = float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)
    direction = int(np.sign(np.sum(np.sign(difference) * stats.rankdata(np.abs(difference)))))
    return SignedRank(wins, ties, losses, direction, p)


# What a set counts for a method that did not finish it: less than any measure can be.
UNFINISHED = -1.0
SIGNIFICANT = 0.05

Standing = Literal["better", "level", "worse"]


@dataclass(frozen=True)
class Pairing:
    """A reference against another method; `p` is corrected for all of the reference's tests."""

    reference: str
    other: str
    test: SignedRank
    p: float

    @property
    def standing(self) -> Standing:
        """Whether the reference is better or worse, if that is significant."""
        if self.p >= SIGNIFICANT or self.test.direction == 0:
            return "level"
        return "better" if self.test.direction > 0 else "worse"

    def __str__(self) -> str:
        """Return the sets won, tied and lost, and the p-value."""
        p = "p<.001" if self.p < 0.001 else f"p={self.p:.3f}"
        return f"{self.test.wins}–{self.test.ties}–{self.test.losses}, {p}"


@dataclass(frozen=True)
class Ranking:
    """Methods with their average rank in one measure, best first."""

    measure: str
    ranks: dict[str, float]
    critical_difference: float
    friedman_p: float


class Loss(NamedTuple):
    """A set on which another method is better, and by how much."""

    dataset: str
    ours: float
    best: str
    theirs: float

    def __str__(self) -> str:
        """Return both values in percent."""
        return f"{self.dataset}: {100 * self.ours:.1f}, {self.best} has {100 * self.theirs:.1f}"


class NoveltyComparison(MeasuredComparison):
    """What one run found."""

    heads = ("set", "method", "seed")

    def __init__(self, results: dict[NoveltyJob, MeasuredCell]) -> None:
        super().__init__(results)
        self.sets = list(dict.fromkeys(job.dataset for job in results))
        done = (tuple(cell.measures) for cell in results.values() if cell.measures)
        self.measures: tuple[str, ...] = next(done, MEASURES)
        self.ranked = [name for name in RANKED if name in self.measures]

    def of_sets(self, sets: Collection[str]) -> NoveltyComparison:
        """Return the comparison on some of the sets."""
        return NoveltyComparison({j: c for j, c in self.results.items() if j.dataset in sets})

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Each measure over the seeds, shape (n_sets, n_methods); NaN where unfinished."""
        shape = len(self.sets), len(self.methods)
        tables = {name: np.full(shape, np.nan) for name in self.measures}
        for i, dataset in enumerate(self.sets):
            for j, method in enumerate(self.methods):
                cells = self.cells(dataset, method)
                if all(cell.outcome == "done" for cell in cells):
                    for name, table in tables.items():
                        table[i, j] = over_seeds(name, [cell.measures[name] for cell in cells])
        return tables

    def mean(self, measure: str, method: str) -> float:
        """Return a method's mean over the sets that it finished, NaN if it finished none."""
        return mean_of(self.values[measure][:, self.methods.index(method)])

    def median(self, measure: str, method: str) -> float:
        """Return a method's median over the sets that it finished, NaN if it finished none."""
        values = self.values[measure][:, self.methods.index(method)]
        return float(np.nanmedian(values)) if self.n_finished(method) else np.nan

    def elo(self, measure: str) -> dict[str, float]:
        """Return each method's Elo rating; empty where there is none."""
        ratings = elo_ratings(self.comparable(measure)) if len(self.methods) > 1 else None
        return {} if ratings is None else dict(zip(self.methods, ratings.tolist(), strict=True))

    def wins(self, measure: str, method: str) -> int:
        """Return on how many sets no method is better."""
        values = np.round(self.comparable(measure), 12)
        own = values[:, self.methods.index(method)]
        return int(np.sum((own == values.max(axis=1)) & (own >= 0.0)))

    def n_finished(self, method: str) -> int:
        """Return on how many sets a method finished with every seed."""
        return int(np.sum(~np.isnan(self.values["auroc"][:, self.methods.index(method)])))

    def comparable(self, measure: str) -> Floats:
        """Return a measure with unfinished sets as lost against all that finished."""
        return np.nan_to_num(self.values[measure], nan=UNFINISHED)

    def ranking(self, measure: str) -> Ranking | None:
        """Rank the methods; None where there are not two methods and two sets to compare."""
        if min(len(self.sets), len(self.methods)) < 2:
            return None
        values = self.comparable(measure)
        ranks = average_ranks(values)
        order = np.argsort(ranks, kind="stable")
        return Ranking(
            measure,
            {self.methods[i]: float(ranks[i]) for i in order},
            critical_difference(len(self.methods), len(self.sets)),
            friedman(values),
        )

    def pairings(self, measure: str, reference: str) -> list[Pairing]:
        """Test one method against every other."""
        values = dict(zip(self.methods, self.comparable(measure).T, strict=True))
        others = [method for method in self.methods if method != reference]
        tests = [signed_rank(values[reference], values[other]) for other in others]
        corrected = holm(np.array([test.p for test in tests])).tolist()
        return [
            Pairing(reference, other, test, p)
            for other, test, p in zip(others, tests, corrected, strict=True)
        ]

    @property
    def references(self) -> tuple[str, ...]:
        """Those of REF and CreasedREF that took part."""
        return tuple(name for name in REFERENCES if name in self.methods)

    def text(self) -> Iterator[str]:
        """Yield plain tables: means in percent and the average rank by AUROC, then the tests."""
        ranking = self.ranking("auroc")
        ranks = ranking.ranks if ranking else {}
        percent = [name for name in self.measures if name not in TIMES]
        rows = [["", *(TITLES[name] for name in percent), "rank", "sets"]]
        for method in sorted(self.methods, key=lambda name: ranks.get(name, 0.0)):
            means = [self.mean(name, method) for name in percent]
            cells = ["–" if np.isnan(mean) else f"{100 * mean:.1f}" for mean in means]
            rank = f"{ranks[method]:.2f}" if ranks else "–"
            rows.append([method, *cells, rank, f"{self.n_finished(method)}/{len(self.sets)}"])
        yield from text_table(rows)
        if ranking:
            for reference in self.references[:1]:
                yield from self._tests_text(reference)

    def _tests_text(self, reference: str) -> Iterator[str]:
        yield ""
        yield f"{reference} against each: sets won–tied–lost, p of Wilcoxon's test after Holm's"
        columns = [self.pairings(name, reference) for name in self.ranked]
        rows = [[row[0].other, *map(str, row)] for row in zip(*columns, strict=True)]
        yield from text_table([["", *(TITLES[name] for name in self.ranked)], *rows])
        losses = self.largest_losses("auroc", reference)
        if losses:
            yield ""
            yield f"{reference} is farthest behind the best by AUROC on"
            for loss in losses:
                yield f"  {loss}"

    def largest_losses(self, measure: str, reference: str, most: int = 5) -> list[Loss]:
        """Return the sets on which a method is farthest behind the best of the others."""
        values, at = self.comparable(measure), self.methods.index(reference)
        best = values.argmax(axis=1)
        behind = values.max(axis=1) - values[:, at]
        worst = [i for i in np.argsort(-behind, kind="stable")[:most] if behind[i] > 0]
        return [
            Loss(self.sets[i], float(values[i, at]), self.methods[best[i]], float(values[i].max()))
            for i in worst
        ]

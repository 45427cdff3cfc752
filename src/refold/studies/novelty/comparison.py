"""From finished cells to what is said of the methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from refold._typing import Floats
from refold.studies.measured import MeasuredCell, cells_csv, over_seeds, why_unfinished
from refold.studies.novelty.cells import MEASURES, RANKED, TITLES, NoveltyJob
from refold.studies.novelty.methods import REFERENCES
from refold.studies.novelty.statistics import (
    SignedRank,
    average_ranks,
    critical_difference,
    friedman,
    holm,
    signed_rank,
)

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


class NoveltyComparison:
    """What one run found.

    Parameters
    ----------
    results : dict of NoveltyJob to MeasuredCell
        All cells of some sets, methods and seeds.
    """

    def __init__(self, results: dict[NoveltyJob, MeasuredCell]) -> None:
        self.results = results
        self.sets = list(dict.fromkeys(job.dataset for job in results))
        self.methods = list(dict.fromkeys(job.method for job in results))
        self.seeds = list(dict.fromkeys(job.seed for job in results))

    def cells(self, dataset: str, method: str) -> list[MeasuredCell]:
        """Return a method's cells on a set, one for each seed."""
        return [self.results[NoveltyJob(dataset, method, seed)] for seed in self.seeds]

    def unfinished(self, dataset: str, method: str) -> str:
        """Return why a method has no value on a set; empty if every seed was finished."""
        return why_unfinished(self.cells(dataset, method))

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Each measure over the seeds, shape (n_sets, n_methods); NaN where unfinished."""
        tables = {name: np.full((len(self.sets), len(self.methods)), np.nan) for name in MEASURES}
        for i, dataset in enumerate(self.sets):
            for j, method in enumerate(self.methods):
                cells = self.cells(dataset, method)
                if all(cell.outcome == "done" for cell in cells):
                    for name, table in tables.items():
                        table[i, j] = over_seeds(name, [cell.measures[name] for cell in cells])
        return tables

    def mean(self, measure: str, method: str) -> float:
        """Return a method's mean over the sets that it finished, NaN if it finished none."""
        column = self.values[measure][:, self.methods.index(method)]
        finished = column[~np.isnan(column)]
        return float(finished.mean()) if len(finished) else np.nan

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
        corrected = holm([test.p for test in tests])
        return [
            Pairing(reference, other, test, p)
            for other, test, p in zip(others, tests, corrected, strict=True)
        ]

    @property
    def references(self) -> tuple[str, ...]:
        """Those of REF and CreasedREF that took part."""
        return tuple(name for name in REFERENCES if name in self.methods)

    def csv(self) -> str:
        """Return one line per cell."""
        return cells_csv(["set", "method", "seed"], self.results)

    def text(self) -> Iterator[str]:
        """Yield plain tables: means in percent and the average rank by AUROC, then the tests."""
        ranking = self.ranking("auroc")
        ranks = ranking.ranks if ranking else {}
        width = max(map(len, self.methods))
        percent = [name for name in MEASURES if not name.endswith("_seconds")]
        heads = [f"{TITLES[name]:>12}" for name in percent]
        yield " ".join([" " * width, *heads, "  rank  sets"])
        for method in sorted(self.methods, key=lambda name: ranks.get(name, 0.0)):
            means = [self.mean(name, method) for name in percent]
            cells = ["–" if np.isnan(mean) else f"{100 * mean:.1f}" for mean in means]
            rank = f"{ranks[method]:.2f}" if ranks else "–"
            finished = f"{self.n_finished(method)}/{len(self.sets)}"
            line = [f"{method:{width}}", *(f"{cell:>12}" for cell in cells)]
            yield " ".join([*line, f"{rank:>6}", f"{finished:>5}"])
        if ranking:
            for reference in self.references[:1]:
                yield from self._tests_text(reference, width)

    def _tests_text(self, reference: str, width: int) -> Iterator[str]:
        yield ""
        yield f"{reference} against each: sets won–tied–lost, p of Wilcoxon's test after Holm's"
        columns = [self.pairings(name, reference) for name in RANKED]
        yield " ".join([f"{'':{width}}", *(f"{TITLES[name]:>18}" for name in RANKED)])
        for row in zip(*columns, strict=True):
            yield " ".join([f"{row[0].other:{width}}", *(f"{pairing!s:>18}" for pairing in row)])
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

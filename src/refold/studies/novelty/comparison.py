"""From finished cells to what is said of the methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from refold._typing import Floats
from refold.studies.novelty.cells import MEASURES, RANKED, NoveltyCell, NoveltyJob
from refold.studies.novelty.methods import REFERENCES
from refold.studies.novelty.statistics import (
    SignedRank,
    average_ranks,
    critical_difference,
    friedman,
    holm,
    signed_rank,
)
from refold.studies.output import csv_text

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


@dataclass(frozen=True)
class Ranking:
    """Methods with their average rank in one measure, best first."""

    measure: str
    ranks: dict[str, float]
    critical_difference: float
    friedman_p: float


class Comparison:
    """What one run found.

    Parameters
    ----------
    results : dict of NoveltyJob to NoveltyCell
        All cells of some sets, methods and seeds.
    """

    def __init__(self, results: dict[NoveltyJob, NoveltyCell]) -> None:
        self.results = results
        self.sets = list(dict.fromkeys(job.dataset for job in results))
        self.methods = list(dict.fromkeys(job.method for job in results))
        self.seeds = list(dict.fromkeys(job.seed for job in results))

    def cells(self, dataset: str, method: str) -> list[NoveltyCell]:
        """Return a method's cells on a set, one for each seed."""
        return [self.results[NoveltyJob(dataset, method, seed)] for seed in self.seeds]

    def unfinished(self, dataset: str, method: str) -> str:
        """Return why a method has no value on a set; empty if every seed was finished."""
        return "; ".join(
            dict.fromkeys(
                f"{cell.outcome}: {cell.note}"
                for cell in self.cells(dataset, method)
                if cell.outcome != "done"
            )
        )

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
        rows = (
            [*job, cell.outcome, *(cell.measures.get(name, "") for name in MEASURES), cell.note]
            for job, cell in self.results.items()
        )
        return csv_text(["set", "method", "seed", "outcome", *MEASURES, "note"], rows)

    def text(self) -> Iterator[str]:
        """Yield a plain table: each method's means in percent, and its average rank by AUROC."""
        ranking = self.ranking("auroc")
        ranks = ranking.ranks if ranking else {}
        width = max(map(len, self.methods))
        heads = ("AUROC", "AUPRC", "Gmean", "alarms", "rank", "sets")
        yield " ".join([f"{'':{width}}", *(f"{head:>7}" for head in heads)])
        for method in sorted(self.methods, key=lambda name: ranks.get(name, 0.0)):
            means = [self.mean(name, method) for name in (*RANKED, "false_alarms")]
            cells = ["–" if np.isnan(mean) else f"{100 * mean:.1f}" for mean in means]
            cells.append(f"{ranks[method]:.2f}" if ranks else "–")
            cells.append(f"{self.n_finished(method)}/{len(self.sets)}")
            yield " ".join([f"{method:{width}}", *(f"{cell:>7}" for cell in cells)])


def over_seeds(measure: str, values: list[float]) -> float:
    """Return the mean; of times the median, as the first use of a method may compile code."""
    return float(np.median(values) if measure.endswith("_seconds") else np.mean(values))

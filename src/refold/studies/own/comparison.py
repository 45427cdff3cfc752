"""From finished cells to what is said of the methods on one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from refold.studies.measured import (
    MeasuredCell,
    MeasuredComparison,
    mean_of,
    over_seeds,
    text_table,
)
from refold.studies.own.cells import FITTED, OwnJob, caught_of
from refold.studies.own.faults import FAULTS, SIGNIFICANT, FaultKind, corrected_p
from refold.studies.tables.comparison import value_text
from refold.studies.tables.suite import ANOMALY

_NAMED = 4


def verdict(found: OwnComparison) -> Iterator[str]:
    """Yield sentences: which method is best, which are level with it, and what speaks against."""
    best = found.best
    if best is None:
        yield "No method finished."
        return
    yield _first(found, best)
    if len(found.seeds) < 2:
        yield "With one division nothing can be said about chance: take --seeds 5."
    elif level := found.level_with_best():
        behind = found.finished[found.finished.index(best) + 1 :]
        yield f"Within noise of it: {_listed(found, [m for m in level if m in behind] or level)}."
    else:
        yield "No other method is within noise of it."
    yield from _alarms(found, best)
    yield from _fitted(found, best)


def fitted(found: OwnComparison) -> str | None:
    """Return the best of the methods that ``refold fit`` makes; None if none finished.

    One that keeps the rate of false alarms goes first.
    """
    ours = [method for method in found.finished if method in FITTED]
    fair = [method for method in ours if found.has_labels or not found.exceeds_rate(method)]
    return next(iter(fair or ours), None)


def _first(found: OwnComparison, best: str) -> str:
    value, over = _value(found, best), _divisions(found)
    if found.has_labels:
        return f"{best} tells anomalies from normal rows best: AUROC {value}{over}."
    alarms = value_text(ALARMS, found.mean(ALARMS, best))
    return (
        f"{best} catches most of the faults that were put in: {value} %{over}, and calls {alarms} "
        f"% of the untouched rows outliers ({100 * found.alpha:.3g} % were asked for)."
    )


def _alarms(found: OwnComparison, best: str) -> Iterator[str]:
    """Say which methods catch more, or as much, because they reject more of everything."""
    ahead = found.finished[: found.finished.index(best)]
    loud = [method for method in ahead if found.exceeds_rate(method)]
    loud += [best] if found.exceeds_rate(best) else []
    if loud:
        said = (f"{method} {value_text(ALARMS, found.mean(ALARMS, method))} %" for method in loud)
        yield (
            f"More false alarms than the {100 * found.alpha:.3g} % that were asked for: "
            f"{', '.join(said)}; they catch more because they reject more of all rows."
        )


def _fitted(found: OwnComparison, best: str) -> Iterator[str]:
    ours = fitted(found)
    if best in FITTED or ours is None:
        return
    gap = found.mean(found.main, best) - found.mean(found.main, ours)
    noise = len(found.seeds) > 1 and found.is_level(best, ours)
    yield (
        f"Of what refold fit makes, {ours} is best: {_value(found, ours)}, "
        f"{100 * gap:.1f} behind{', which is within noise' if noise else ''}."
    )


def _divisions(found: OwnComparison) -> str:
    spread = found.deviation(found.main, found.best or "")
    if np.isnan(spread):
        return ""
    return f" (±{value_text(found.main, spread)} over {len(found.seeds)} divisions)"


def _listed(found: OwnComparison, methods: Iterable[str]) -> str:
    named = [f"{method} ({_value(found, method)})" for method in methods]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more


def _value(found: OwnComparison, method: str) -> str:
    return value_text(found.main, found.mean(found.main, method))


CAUGHT, OTHERS, ALARMS = "caught", "others", "false_alarms"
SECONDS = ("fit_seconds", "score_seconds")
TITLES = {
    "auroc": "AUROC",
    "auprc": "AUPRC",
    caught_of(ANOMALY): "caught",
    ALARMS: "alarms",
    "fit_seconds": "learn s",
    "score_seconds": "score s",
}


class Extent(NamedTuple):
    """How many rows a division has: to learn from, normal ones to judge, and anomalies."""

    learned: int
    normals: int
    anomalies: int = 0

    @property
    def judged_per_learned(self) -> float:
        """How many rows are judged for each that is learned."""
        return (self.normals + self.anomalies) / self.learned


class OwnComparison(MeasuredComparison):
    """What one run found."""

    heads = OwnJob._fields

    def __init__(self, results: dict[OwnJob, MeasuredCell], alpha: float, extent: Extent) -> None:
        super().__init__(results)
        self.alpha, self.extent = alpha, extent
        there = {name for cell in results.values() for name in cell.measures}
        self.has_labels = extent.anomalies > 0
        self.kinds = [
            kind for kind in FAULTS if any(caught_of(name) in there for name in kind.tags())
        ]

    @property
    def main(self) -> str:
        """What methods are ranked by: AUROC where there are labels, else the faults caught."""
        return "auroc" if self.has_labels else CAUGHT

    @property
    def sized(self) -> list[FaultKind]:
        """The kinds of faults that have sizes."""
        return [kind for kind in self.kinds if kind.sizes]

    @property
    def columns(self) -> list[str]:
        """What is said of each method: names for `series`."""
        if self.has_labels:
            return ["auroc", "auprc", caught_of(ANOMALY), ALARMS, *SECONDS]
        others = [OTHERS] if len(self.sized) < len(self.kinds) else []
        return [CAUGHT, *(kind.name for kind in self.sized), *others, ALARMS, *SECONDS]

    def series(self, name: str, method: str) -> list[float]:
        """Return a value for each seed: a measure, a kind of faults or all kinds; empty if none."""
        if self.unfinished(method):
            return []
        found = [self._value(name, cell.measures) for cell in self.cells(method)]
        return [value for value in found if not np.isnan(value)]

    def mean(self, name: str, method: str) -> float:
        """Return the mean over the seeds, of times the median; NaN where there is none."""
        values = self.series(name, method)
        return over_seeds(name, values) if values else np.nan

    def deviation(self, name: str, method: str) -> float:
        """Return the standard deviation over the seeds; NaN where there are not two."""
        values = self.series(name, method)
        return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan

    @cached_property
    def ranked(self) -> list[str]:
        """The methods, best first, those that did not finish last."""
        means = {method: self.mean(self.main, method) for method in self.methods}
        return sorted(self.methods, key=lambda m: np.inf if np.isnan(means[m]) else -means[m])

    @property
    def finished(self) -> list[str]:
        """Those that finished, best first."""
        return [method for method in self.ranked if not self.unfinished(method)]

    def exceeds_rate(self, method: str) -> bool:
        """Whether more normal rows are rejected than was asked for, by more than chance does."""
        share = self.alpha * (1.0 - self.alpha)
        chance = np.sqrt(share * (1 / self.extent.learned + 1 / self.extent.normals))
        return bool(self.mean(ALARMS, method) > self.alpha + 2.0 * chance)

    @cached_property
    def best(self) -> str | None:
        """The best method; by faults caught, of those that keep the rate if there is one."""
        fair = [m for m in self.finished if self.has_labels or not self.exceeds_rate(m)]
        return next(iter(fair or self.finished), None)

    def is_level(self, method: str, other: str) -> bool:
        """Whether the difference between two methods could be chance."""
        ours, theirs = (self.series(self.main, name) for name in (method, other))
        return corrected_p(ours, theirs, self.extent.judged_per_learned) >= SIGNIFICANT

    def level_with_best(self) -> list[str]:
        """Return the methods whose distance from the best could be chance."""
        if self.best is None or len(self.seeds) < 2:
            return []
        best = self.best
        return [m for m in self.finished if m != best and self.is_level(best, m)]

    def document(self) -> list[dict[str, Any]]:
        """Return each method's figures as plain values; what is not known is null."""
        level = self.level_with_best()
        tags = [name for kind in self.kinds for name in kind.tags()]
        return [
            {
                "method": method,
                "best": method == self.best,
                "within_noise_of_best": method in level,
                "too_many_false_alarms": self.exceeds_rate(method),
                "unfinished": self.unfinished(method) or None,
                "means": {name: _known(self.mean(name, method)) for name in self.columns},
                "deviations": {name: _known(self.deviation(name, method)) for name in self.columns},
                "caught": {tag: _known(self.mean(caught_of(tag), method)) for tag in tags},
            }
            for method in self.ranked
        ]

    def text(self) -> Iterator[str]:
        """Yield a plain table in percent, and who did not finish."""
        level, rows = self.level_with_best(), []
        for method in self.finished:
            mark = "*" if method == self.best else "=" if method in level else " "
            cells = [self.cell(name, method, name in (self.main, ALARMS)) for name in self.columns]
            rows.append([f"{mark} {method}", *cells])
        heads = ["", *(TITLES.get(name, name) for name in self.columns)]
        yield from text_table([heads, *rows])
        for method in self.methods:
            if why := self.unfinished(method):
                yield f"{method}: {why}"

    def cell(self, name: str, method: str, spread: bool = True) -> str:
        """Return a mean as it is printed, with its deviation if it is asked for and no time."""
        mean, deviation = self.mean(name, method), self.deviation(name, method)
        if name in SECONDS:
            return f"{mean:.3f}"
        if np.isnan(deviation) or not spread:
            return value_text(name, mean)
        return f"{value_text(name, mean)} ±{value_text(name, deviation)}"

    def _value(self, name: str, measures: dict[str, float]) -> float:
        """Return a value of one cell; of several kinds the mean, each a mean over its sizes."""
        groups: dict[str, Sequence[FaultKind]] = {
            CAUGHT: self.kinds,
            OTHERS: [kind for kind in self.kinds if not kind.sizes],
            **{kind.name: [kind] for kind in self.sized},
        }
        if name not in groups:
            return measures.get(name, np.nan)
        return mean_of(
            [
                mean_of([measures.get(caught_of(tag), np.nan) for tag in kind.tags()])
                for kind in groups[name]
            ]
        )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value

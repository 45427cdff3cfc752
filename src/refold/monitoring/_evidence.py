"""From counts to findings: what differs, and whether outliers can be the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.summary import N_QUANTILES, Summary
from refold.judgement import Judge
from refold.monitoring._classes import OTHERS, ClassComparison, column_p_value
from refold.monitoring._drift_counts import (
    Baseline,
    CumulativeCounts,
    DriftCounts,
    independent_rows,
)
from refold.monitoring._drift_result import ClassShare, ColumnDrift, Drift
from refold.monitoring.statistics import holm, same_distribution, same_share, share_not_larger

_SHARES = np.linspace(0.0, 1.0, N_QUANTILES)[:, None]
# Standard errors by which an estimate is moved to the safe side.
_SAFETY = 3.0
# Classes of a column that are listed.
_SHOWN = 3


@dataclass(frozen=True)
class FalseAlarms:
    """How often a model rejects rows that are like those of training."""

    rejected: float
    rows: float

    @classmethod
    def of(cls, judge: Judge) -> FalseAlarms:
        """Count the distances that a calibration stored."""
        calibration = judge.calibration
        if calibration is None:
            return cls(0.0, 0.0)
        return cls(calibration.rejected(judge.threshold), calibration.total)

    @property
    def expected(self) -> float | None:
        """The share of training-like rows that is rejected, None if unknown."""
        # The threshold is itself one of the distances, and counts as one more above (conformal).
        return min((self.rejected + 1.0) / (self.rows + 1.0), 1.0) if self.rows else None

    def p_value(self, seen: DriftCounts) -> float | None:
        """Return the chance of so many rejected rows if nothing has changed, None if unknown."""
        if not self.rows or not seen.judged:
            return None
        return float(share_not_larger(seen.rejected, seen.judged, self.rejected, self.rows))

    def outliers_at_most(self, seen: DriftCounts) -> int:
        """Return how many rejected rows may be outliers: those beyond the usual false alarms.

        Without a calibration that may be all of them, but never more than half of the rows: if most
        rows are strange, they are the data.
        """
        accepted = seen.judged - seen.rejected
        usual = accepted * self.rejected / max(self.rows - self.rejected, 1.0)
        variance = usual * (1.0 + usual / max(accepted, 1)) + usual**2 / max(self.rejected, 1.0)
        usual = max(usual - _SAFETY * np.sqrt(variance), 0.0)
        return int(min(np.ceil(max(seen.rejected - usual, 0.0)), seen.judged // 2))


def weigh(seen: DriftCounts, training: Baseline, alarms: FalseAlarms, alpha: float) -> Drift:
    """Put all that was counted together."""
    outliers, outlier_p = alarms.outliers_at_most(seen), alarms.p_value(seen)
    own = [] if outlier_p is None else [outlier_p]
    compared = {
        k: divided.compared(seen.classes[k], seen.classes_rejected[k])
        for k, divided in training.divided.items()
    }
    distance, p = _columns(seen, training, compared, outliers=0)
    _, p_remaining = _columns(seen, training, compared, outliers=outliers)
    states, before = seen.states, training.states
    p_missing = same_share(states[:, 1], seen.rows, before[:, 1], training.rows)
    read, d = training.read, len(training.names)
    p_unreadable = same_share(states[read, 2], seen.rows, before[read, 2], training.rows)
    adjusted = holm(np.concatenate([p, p_missing, p_unreadable, own]))
    remaining = holm(np.concatenate([p_remaining, p_missing, p_unreadable, own]))[:d]
    adjusted_unreadable = _spread(adjusted[2 * d : 2 * d + len(read)], read, d)
    of_states = (adjusted[d : 2 * d] <= alpha) | (adjusted_unreadable <= alpha)
    columns = {
        "name": training.names,
        "kind": training.kinds,
        "distance": distance,
        "p_value": p,
        "adjusted_p_value": adjusted[:d],
        "remaining_p_value": remaining,
        "missing_before": training.missing,
        "missing": states[:, 1] / seen.rows,
        "missing_p_value": p_missing,
        "missing_adjusted_p_value": adjusted[d : 2 * d],
        "unreadable_before": before[:, 2] / training.rows,
        "unreadable": states[:, 2] / seen.rows,
        "unreadable_p_value": _spread(p_unreadable, read, d),
        "unreadable_adjusted_p_value": adjusted_unreadable,
        "differs": of_states | (adjusted[:d] <= alpha),
        "changed": of_states | (remaining <= alpha),
        "scored": [name in training.scored for name in training.names],
        **_medians(seen, training),
        **_moved(compared, d, alpha),
    }
    return Drift(
        rows=seen.rows,
        empty=seen.rows - seen.judged,
        rejected=seen.rejected / seen.judged if seen.judged else None,
        expected=alarms.expected,
        outlier_p_value=outlier_p,
        outlier_adjusted_p_value=None if outlier_p is None else float(adjusted[-1]),
        set_aside=outliers / max(seen.judged, 1),
        alpha=alpha,
        features=tuple(_features(columns)),
    )


def _features(columns: dict[str, Any]) -> list[ColumnDrift]:
    plain = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values()]
    return [
        ColumnDrift(**dict(zip(columns, values, strict=True)))
        for values in zip(*plain, strict=True)
    ]


def _spread(p: Floats, columns: list[int], of: int) -> Floats:
    """Give p-values to their columns, and 1 to the others."""
    spread = np.ones(of)
    spread[columns] = p
    return spread


def _columns(
    seen: DriftCounts,
    training: Baseline,
    compared: dict[int, list[ClassComparison]],
    *,
    outliers: int,
) -> tuple[Floats, Floats]:
    """Return the distance of each column's distributions, and its p-value."""
    distance, p = np.zeros(len(training.names)), np.ones(len(training.names))
    if training.summary is not None:
        numbers = _values(seen, training.summary, outliers=outliers)
        distance[training.numeric], p[training.numeric] = numbers
    for k, comparisons in compared.items():
        distance[k] = max((each.distance for each in comparisons), default=0.0)
        p[k] = column_p_value(comparisons, outliers)
    return distance, p


def _medians(seen: DriftCounts, training: Baseline) -> dict[str, list[float | None]]:
    before: list[float | None] = [None] * len(training.names)
    now = list(before)
    medians = seen.places.medians().tolist()
    for place, k in enumerate(training.numeric):
        assert training.summary is not None
        before[k] = float(training.summary.quantiles[N_QUANTILES // 2, place])
        now[k] = None if np.isnan(medians[place]) else medians[place]
    beyond: list[float | None] = [None] * len(training.names)
    outside = sum(_beyond(seen.places)) / np.maximum(seen.places.present, 1)
    for place, k in enumerate(training.numeric):
        beyond[k] = float(outside[place])
    return {"median_before": before, "median": now, "beyond": beyond}


def _moved(compared: dict[int, list[ClassComparison]], d: int, alpha: float) -> dict[str, Any]:
    """Return which classes have moved, and which values are new."""
    moved: list[tuple[ClassShare, ...]] = [()] * d
    new_values: list[tuple[str, ...]] = [()] * d
    unseen: list[float | None] = [None] * d
    expected: list[float | None] = [None] * d
    for k, comparisons in compared.items():
        moved[k] = tuple(_largest(comparisons, alpha))
        for each in comparisons:
            if each.way == "value":
                most = sorted(each.new.items(), key=lambda item: (-item[1], item[0]))
                new_values[k] = tuple(value for value, _ in most[:_SHOWN])
                unseen[k], expected[k] = each.unseen, each.unseen_expected
    return {
        "moved": moved,
        "new_values": new_values,
        "unseen": unseen,
        "unseen_expected": expected,
    }


def _largest(comparisons: list[ClassComparison], alpha: float) -> list[ClassShare]:
    """Return the classes that differ by more than chance, those that differ most first."""
    tests = sum(len(each.p_values(0)) for each in comparisons)
    shares = [
        ClassShare(each.way, name, before, now)
        for each in comparisons
        for name, before, now, p in zip(
            each.classes[0], *(s.tolist() for s in each.shares), each.p_values(0), strict=False
        )
        if name is not OTHERS and p * tests <= alpha
    ]
    return sorted(shares, key=lambda s: (-abs(s.now - s.before), s.of, s.value))[:_SHOWN]


def _values(seen: DriftCounts, summary: Summary, *, outliers: int) -> tuple[Floats, Floats]:
    """Return the distance of each feature's distributions, and its p-value.

    A share k/256 of the training rows or more lies at or below quantile k, and less than that lies
    below it. So a distance is proven where more than k/256 of the new rows lie below, or less than
    k/256 at or below. Up to `outliers` of the rejected rows are left out, at each quantile those
    that make the distance smaller: what then remains is no work of outliers. A few values beyond
    all of training hardly make a distance, but they are as unlikely: they are counted, too.
    """
    places, rejected = seen.places, seen.places_rejected
    rows = places.present
    outliers_in = np.minimum(outliers, rows // 2)
    left_out = np.minimum(outliers_in, rejected.below)
    below = (places.below - left_out) / np.maximum(rows - left_out, 1)
    left_out = np.minimum(outliers_in, rejected.present - rejected.up_to)
    up_to = places.up_to / np.maximum(rows - left_out, 1)
    distance = np.maximum(below - _SHARES, _SHARES - up_to).max(axis=0)
    distance = np.where(rows > 0, np.maximum(distance, 0.0), 0.0)
    rows_left = rows - np.minimum(outliers_in, rejected.present)
    shape = same_distribution(distance, rows_left, _rows_behind_quantiles(summary))
    known = independent_rows(summary) * (1.0 - summary.missing / summary.weight)
    ends = []
    for all_, out in zip(_beyond(places), _beyond(rejected), strict=True):
        left_out = np.minimum(outliers_in, out)
        ends.append(share_not_larger(all_ - left_out, rows - left_out, 0, known))
    # One p-value of three tests: their weights are 0.8 and twice 0.1.
    p: Floats = np.minimum(np.minimum(shape / 0.8, np.minimum(*ends) / 0.1), 1.0)
    return distance, p


def _beyond(places: CumulativeCounts) -> tuple[Integers, Integers]:
    """Return how many values are below and above all of training."""
    return places.below[0], places.present - places.up_to[-1]


def _rows_behind_quantiles(summary: Summary) -> Floats:
    """Return how many training values each feature's quantiles were taken from, at least."""
    share = 1.0 - summary.missing / summary.weight
    rows = independent_rows(summary) * summary.sampled / summary.rows * share
    if summary.sampled < summary.rows:  # how many of the sampled rows have a value is not known
        rows = np.maximum(rows - _SAFETY * np.sqrt(rows * (1.0 - share)), 0.0)
    return np.asarray(rows, dtype=np.float64)

"""The rates of false alarms to choose from, and what each would come to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from refold.judgement import Judge, Judgement
from refold.report.parts import ExpectedRejections, expected_of

_ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_LEAST, _MOST = -4, 0.2  # a power of ten, and a rate


@dataclass(frozen=True)
class RateChoice:
    """A rate of false alarms."""

    rate: float  # the share of normal rows that may be called not normal
    threshold: float  # rows up to this distance are normal then
    rejected: int  # how many of the new rows would not be
    expected: ExpectedRejections  # how many would be if all of them were normal


def rate_choices(found: Judgement) -> list[RateChoice]:
    """Return what each rate would come to that the calibration supports, and the one in use."""
    calibration, judge = found.judge.calibration, found.judge
    if calibration is None:
        return []
    distances = found.distances[found.judged]
    choices = []
    for rate in sorted({*_rates(calibration.total), *([judge.alpha] if judge.alpha else [])}):
        at = judge_at(judge, rate)
        expected = expected_of(at, len(distances))
        assert expected is not None
        rejected = int(np.count_nonzero(distances > at.threshold))
        choices.append(RateChoice(rate, at.threshold, rejected, expected))
    return choices


def judge_at(judge: Judge, rate: float) -> Judge:
    """Return a judge that keeps another rate."""
    if rate == judge.alpha:
        return judge
    assert judge.calibration is not None
    return replace(judge, threshold=judge.calibration.threshold(rate), alpha=rate)


def _rates(rows: float) -> Iterator[float]:
    """Give round rates; so few rows may not tell the smallest from nothing."""
    for power in range(_LEAST, 0):
        for digit in _ROUND:
            rate = float(f"{digit:g}e{power}")
            if 1.0 / (rows + 1.0) * (1.0 + 1e-9) <= rate <= _MOST:
                yield rate

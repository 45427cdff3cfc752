"""Whether two models have learned a column in different units, from what they remember of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from refold._typing import Floats
from refold.columns.summary import Summary
from refold.columns.units import CONVERSIONS

_ROUNDING = 1e-9  # of the largest value: two columns that differ by no more are the same
# A line goes through any two points: so many different values are needed to tell anything.
_FEWEST_KNOWN, _FEWEST = 2, 5
# Kolmogorov and Smirnov: samples of one distribution are farther apart in 1 of 1,000 cases.
_CHANCE = 1.95
# A process hardly changes by such a factor by itself; for a smaller one much more must speak.
_LARGE = 8.0
_SURE, _CLOSE = 0.1, 0.01  # how far apart chance may put the two, and how near the factor must be
# So much of the distance between the two may be left by a common conversion if the data has changed
# as well.
_COMMON, _LEFT = (10.0, 100.0, 1e3, 25.4, 1.8), 0.35
_OFFSET = 0.1  # of the largest value: what is smaller does not tell an offset from a factor
_COARSE = 0.05  # of a column's range: larger steps are no rounding
_LARGEST = 1e290  # nothing here overflows up to this
_GROSS = 0.3  # other units move nearly all values; what moves fewer is a change of the data


@dataclass(frozen=True)
class UnitChange:
    """How a column that new has learned follows from what old has learned."""

    #: factor, offset: what new has learned is factor · (what old has learned) + offset
    factor: float
    offset: float
    exact: bool  #: whether it holds of every quantile; else of the whole, as far as chance allows
    #: Units that are to each other like this, "as mm are to inches"; empty if none is known
    like: str = ""

    def __str__(self) -> str:
        about = "" if self.exact else "about "
        digits = 6 if self.exact or self.like else 3
        said = [f"{about}{self.factor:.{digits}g} × those of old".replace("-", "−")]
        if self.factor == 1.0:
            said = ["those of old"]
        if self.offset:
            said.append(f"{abs(self.offset):.6g}")
        joined = (" − " if self.offset < 0.0 else " + ").join(said)
        return f"learned values of new are {joined}{self.like and f', {self.like}'}"


class LearnedValues(NamedTuple):
    """What a model remembers of a column of numbers."""

    quantiles: Floats  # ascending
    rows: float  # how many values they were taken from
    rounding: float  # how far a quantile may lie from its value

    @classmethod
    def of(cls, summary: Summary, j: int) -> LearnedValues:
        """Return them of one column."""
        seen = 1.0 - float(summary.missing[j]) / summary.weight
        rows = max(summary.sampled * seen, 1.0)
        return cls(summary.quantiles[:, j], rows, float(summary.resolution[j]))

    def times(self, factor: float, offset: float) -> LearnedValues:
        """Return the same in other units."""
        quantiles = factor * self.quantiles + offset
        ordered = quantiles if factor > 0.0 else quantiles[::-1]
        return LearnedValues(ordered, self.rows, abs(factor) * self.rounding)


def unit_change(old: LearnedValues, new: LearnedValues) -> UnitChange | None:
    """Say how new's values follow from old's, if in other units; None if they do not.

    Other units are seen where they turn each quantile of one model into that of the other. Of
    models that have learned from different rows, where nearly all values have moved and a usual
    conversion, or a large factor, brings them back; a common conversion, even if not quite.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.checks._compare.unit_change import LearnedValues, unit_change
    >>> inches = np.linspace(7.0, 9.0, 257)
    >>> print(unit_change(LearnedValues(inches, 500, 0), LearnedValues(25.4 * inches, 500, 0)))
    learned values of new are 25.4 × those of old, as mm are to inches
    """
    fewest = min(len(np.unique(_bulk(each.quantiles))) for each in (old, new))
    largest = max(np.abs(each.quantiles).max() for each in (old, new))
    if fewest < _FEWEST_KNOWN or largest > _LARGEST or not _farther(old, new):
        return None
    enough = fewest >= _FEWEST
    return (_exact(old, new) if enough else None) or _likely(old, new, any_factor=enough)


def _exact(old: LearnedValues, new: LearnedValues) -> UnitChange | None:
    """Return the conversion that turns every quantile of old into that of new."""
    for factor, offset in _lines(old.quantiles, new.quantiles):
        if not _farther(old.times(factor, offset), new):
            return _named(factor, offset)
    return None


def _likely(old: LearnedValues, new: LearnedValues, *, any_factor: bool) -> UnitChange | None:
    """Return a conversion that the distributions agree with; they come from different rows."""
    chance = _CHANCE * np.sqrt(1.0 / old.rows + 1.0 / new.rows) + 2.0 / len(old.quantiles)
    before = _apart(old, new)
    if before < max(_GROSS, 2.0 * chance):
        return None
    least = _OFFSET * np.abs(new.quantiles).max()
    known = [UnitChange(a, b, False, like) for a, b, like in _known() if not b or abs(b) > least]
    factor = _lines(old.quantiles, new.quantiles)[0][0]
    sure = [each for each in known if _large(each) or _close(each, factor, chance)]
    distance, nearest = _nearest(old, new, sure)
    if distance <= chance:
        return nearest
    common = [each for each in known if any(each.factor in (f, 1.0 / f) for f in _COMMON)]
    distance, nearest = _nearest(old, new, common)
    if distance <= _LEFT * before:
        return replace(nearest, like=f"nearly {nearest.like}")
    other = UnitChange(factor, 0.0, False)
    if not any_factor or factor <= 0.0 or not _large(other):
        return None
    return other if _nearest(old, new, [other])[0] <= chance else None


def _large(change: UnitChange) -> bool:
    """Whether nobody would take it for a change of the data."""
    size = abs(change.factor)
    return size >= _LARGE or size <= 1.0 / _LARGE or change.factor < 0.0 or change.offset != 0.0


def _close(change: UnitChange, factor: float, chance: float) -> bool:
    """Whether the factor is this one, as far as many rows can tell."""
    return chance < _SURE and abs(factor / change.factor - 1.0) < _CLOSE


def _nearest(
    old: LearnedValues, new: LearnedValues, changes: list[UnitChange]
) -> tuple[float, UnitChange]:
    """Return the conversion after which the two are least apart, and how far they are then."""
    found = [(_apart(old.times(each.factor, each.offset), new), each) for each in changes]
    return min(found, key=lambda each: each[0])


def _farther(old: LearnedValues, new: LearnedValues) -> bool:
    """Whether some quantile differs by more than rounding."""
    most = _ROUNDING * max(np.abs(new.quantiles).max(), np.abs(old.quantiles).max())
    return bool(np.abs(old.quantiles - new.quantiles).max() > most)


def _lines(old: Floats, new: Floats) -> list[tuple[float, float]]:
    """Return the factor, and the factor and offset, that lead from old quantiles to new ones best.

    Through the bulk alone: the ends of samples differ most.
    """
    x, y = _bulk(old), _bulk(new)
    size = max(np.abs(x).max(), np.abs(y).max()) or 1.0  # squares of very large values overflow
    x, y = x / size, y / size
    through_zero = (float(x @ y / (x @ x)) if x.any() else 1.0, 0.0)
    centred = x - x.mean()
    if not centred.any():
        return [through_zero]
    factor = float(centred @ (y - y.mean()) / (centred @ centred))
    return [through_zero, (factor, float(y.mean() - factor * x.mean()) * size)]


def _bulk(quantiles: Floats) -> Floats:
    """Return all but the outer twentieths."""
    return quantiles[len(quantiles) // 20 : -(len(quantiles) // 20)]


def _known() -> list[tuple[float, float, str]]:
    """Return the usual conversions, each way, and a change of sign."""
    out = [(-1.0, 0.0, "with the other sign")]
    for each in CONVERSIONS:
        out.append((each.factor, each.offset, f"as {each.unit} are to {each.of}"))
        first = each.of.split(",")[0]
        back = (1.0 / each.factor, -each.offset / each.factor)
        out.append((*back, f"as {first} are to {each.unit}"))
    return out


def _named(factor: float, offset: float) -> UnitChange:
    """Give an exact conversion its name, if it has one."""
    for known, added, like in _known():
        if np.allclose([factor, offset], [known, added], rtol=1e-6, atol=1e-6 * abs(factor)):
            return UnitChange(known, added, True, like)
    tiny = _ROUNDING * max(abs(factor), 1.0)
    return UnitChange(factor, 0.0 if abs(offset) <= tiny else offset, True)


def _apart(old: LearnedValues, new: LearnedValues) -> float:
    """Return how far two distribution functions are apart at most (Kolmogorov and Smirnov).

    A value counts as the same up to half a step of the coarser column: conversions are rounded.
    Not so of a column that has hardly any steps.
    """
    both = (old.quantiles, new.quantiles)
    step = min(max(map(_step, both)), _COARSE * min(q[-1] - q[0] for q in both))
    give = 0.499 * step + old.rounding + new.rounding
    points = np.concatenate([old.quantiles, new.quantiles])
    below_old, below_new = (
        np.searchsorted(each.quantiles, points - give, "left") for each in (old, new)
    )
    up_to_old, up_to_new = (
        np.searchsorted(each.quantiles, points + give, "right") for each in (old, new)
    )
    apart = max((below_old - up_to_new).max(), (below_new - up_to_old).max(), 0)
    return float(apart) / len(old.quantiles)


def _step(quantiles: Floats) -> float:
    """Return the smallest step between two values."""
    steps = np.diff(quantiles)
    steps = steps[steps > _ROUNDING * np.abs(quantiles).max()]
    return float(steps.min()) if len(steps) else 0.0

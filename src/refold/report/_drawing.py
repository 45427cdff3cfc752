"""Where the lines of a picture go: plain numbers for the SVG in the template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refold._typing import Floats, Ranges
from refold.base.words import number
from refold.explanation.gauges import DOT, GAUGE, across, band, short
from refold.report._contents import Distances, FeatureBars, FeatureHistogram, MarkedShares
from refold.report._template import count

WIDTH, HEIGHT = 280, 48
TALL = 150
RUN_WIDE, RUN_TALL = 1000, 200  # of the run chart
_THIN = 2.0  # a mark that is to be seen at all
_ROOM = 36  # so many letters fit below a picture on a narrow screen


@dataclass(frozen=True)
class FeaturePicture:
    """A feature's training values as an area, its new ones as a line, over its normal bands."""

    bands: list[tuple[str, str]]
    training: str
    new: str
    limits: list[str] = field(default_factory=list)  # of the user's own, where they are to be seen


def feature_picture(
    histogram: FeatureHistogram, normal: Ranges, own: Sequence[float] = ()
) -> FeaturePicture:
    """Draw a feature."""
    edges = histogram.edges
    highest = max(histogram.training.max(), histogram.new.max()) or 1.0
    training = _steps(histogram.training / highest)
    return FeaturePicture(
        bands=[band(low, high, edges, WIDTH) for low, high in normal],
        training=f"{training}V{HEIGHT}H0Z",
        new=_steps(histogram.new / highest),
        limits=[short(across(v, edges) * WIDTH) for v in own if edges[0] <= v <= edges[-1]],
    )


def _steps(shares: Floats) -> str:
    """Return a path along the tops of bars; bars of equal height are one line."""
    tops = [short(HEIGHT - share * (HEIGHT - 2.0)) for share in shares]
    wide = WIDTH / len(tops)
    path = [f"M0 {tops[0]}"]
    for k in range(1, len(tops)):
        if tops[k] != tops[k - 1]:
            path.append(f"H{short(k * wide)}V{tops[k]}")
    return "".join([*path, f"H{WIDTH}"])


def bars_picture(bars: FeatureBars) -> FeaturePicture:
    """Draw hours or weekdays side by side, as a feature's bins are."""
    highest = max(*bars.training, *bars.new) or 1.0
    training, new = (_steps(np.array(shares) / highest) for shares in (bars.training, bars.new))
    return FeaturePicture(bands=[], training=f"{training}V{HEIGHT}H0Z", new=new)


@dataclass(frozen=True)
class SmallBars:
    """A column's normal values, hours or weekdays as small bars, and a row's own."""

    bars: str
    own: str


def small_bars(marked: MarkedShares) -> SmallBars:
    """Draw where a row's value is among what is normal."""
    n = len(marked.heights)
    wide = min(GAUGE / (n + 1), DOT * 3.0)  # room for a dot on the right
    paths = []
    for k, height in enumerate(marked.heights):
        tall = max(height * 14.0, 1.0 if height else 0.0)
        paths.append(f"M{short(k * wide)} 15v-{short(tall)}h{short(wide - 1.0)}v{short(tall)}z")
    if marked.at is None:
        x = min(n * wide + 1.0, GAUGE - 2.0 * DOT)
        return SmallBars("".join(paths), f"M{short(x)} 11a4 4 0 1 1 8 0a4 4 0 1 1-8 0z")
    if marked.heights[marked.at]:
        return SmallBars("".join(paths), paths[marked.at])
    left = short(marked.at * wide)  # no row has it; where it would be is still to be seen
    return SmallBars("".join(paths), f"M{left} 15v-5h{short(wide - 1.0)}v5z")


@dataclass(frozen=True)
class Bar:
    """Rows at about the same distance."""

    x: str
    y: str
    height: str
    normal: bool


@dataclass(frozen=True)
class DistancePicture:
    """Bars of rows by their distance, with the threshold between normal and not."""

    bars: list[Bar]
    threshold: float
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]


def distance_picture(distances: Distances, threshold: float) -> DistancePicture:
    """Draw the distances; bars of few rows among many are still to be seen."""
    edges, counts = distances.edges, distances.counts
    highest = int(counts.max(initial=1))
    bars = []
    for k in np.flatnonzero(counts):
        height = max(counts[k] / highest * TALL, _THIN)
        bars.append(
            Bar(
                x=short(k + 0.05),
                y=short(TALL - height),
                height=short(height),
                normal=bool(edges[k + 1] <= threshold),
            )
        )
    inner = np.flatnonzero(edges > 0.0)  # what is left of these has no place on the axis

    def place(value: float) -> float:
        along = np.interp(np.log(value), np.log(edges[inner]), inner) if value > 0.0 else inner[0]
        return round(100.0 * float(along) / len(counts), 2)

    return DistancePicture(
        bars=bars,
        threshold=place(threshold),
        across=[(place(v), number(v)) for v in ticks(edges[inner[0]], edges[-1])],
        up=[(round(100.0 * n / highest, 2), count(n)) for n in _steps_to(highest)],
    )


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers for a logarithmic axis, as many as fit: 1, 2, 5, 10, … or powers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    digits = [((1, 2, 5), 1), ((1, 3), 1), *(((1,), step) for step in range(1, last - first + 2))]
    for each, step in digits:
        powers = range(first - first % step, last + 1, step)
        ticks = [float(f"{m}e{k}") for k in powers for m in each]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if sum(len(number(tick)) + 2 for tick in ticks) <= _ROOM:
            break
    return ticks


def _steps_to(highest: int) -> list[int]:
    """Return two to four round numbers of rows up to the highest, or it alone if it is one."""
    size = 10 ** (len(str(highest)) - 1)
    step = next((m * size for m in (2, 1) if highest >= 2 * m * size), max(size // 2, 1))
    return list(range(step, highest + 1, step))

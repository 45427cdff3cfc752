"""Where the lines of a picture go: plain numbers for the SVG in the template."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Ranges
from refold.report._contents import Distances, FeatureHistogram

WIDTH, HEIGHT = 280, 64
WIDE, TALL = 720, 150
_THIN = 2.0  # a mark that is to be seen at all


@dataclass(frozen=True)
class FeaturePicture:
    """A feature's training values as an area, its new ones as a line, over its normal bands.

    Parameters
    ----------
    bands : list of (x, width)
        The normal ranges.
    training, new : str
        Paths.
    """

    bands: list[tuple[str, str]]
    training: str
    new: str


def feature_picture(histogram: FeatureHistogram, normal: Ranges) -> FeaturePicture:
    """Draw a feature."""
    edges = histogram.edges
    highest = max(histogram.training.max(), histogram.new.max()) or 1.0
    training = _steps(histogram.training / highest)
    return FeaturePicture(
        bands=[_band(low, high, edges) for low, high in normal],
        training=f"{training}V{HEIGHT}H0Z",
        new=_steps(histogram.new / highest),
    )


def _steps(shares: Floats) -> str:
    """Return a path along the tops of bars; bars of equal height are one line."""
    tops = [_short(HEIGHT - share * (HEIGHT - 2.0)) for share in shares]
    wide = WIDTH / len(tops)
    path = [f"M0 {tops[0]}"]
    for k in range(1, len(tops)):
        if tops[k] != tops[k - 1]:
            path.append(f"H{_short(k * wide)}V{tops[k]}")
    return "".join([*path, f"H{WIDTH}"])


def _band(low: float, high: float, edges: Floats) -> tuple[str, str]:
    left, right = (_across(value, edges) * WIDTH for value in (low, high))
    if right - left < _THIN:
        left = min(max((left + right - _THIN) / 2.0, 0.0), WIDTH - _THIN)
        right = left + _THIN
    return _short(left), _short(right - left)


def _across(value: float, edges: Floats) -> float:
    """Return how far across the picture a value is; halves, because a width can be too large."""
    low, high = edges[0] / 2.0, edges[-1] / 2.0
    return min(max((value / 2.0 - low) / (high - low), 0.0), 1.0) if high > low else 0.5


@dataclass(frozen=True)
class Bar:
    """Rows at about the same distance."""

    x: str
    y: str
    width: str
    height: str
    normal: bool


@dataclass(frozen=True)
class DistancePicture:
    """Bars of rows by their distance, with the threshold between normal and not."""

    bars: list[Bar]
    threshold: str


def distance_picture(distances: Distances, threshold: float) -> DistancePicture:
    """Draw the distances; bars of few rows among many are still to be seen."""
    edges, counts = distances.edges, distances.counts
    wide, highest = WIDE / len(counts), counts.max() or 1
    bars = []
    for k in np.flatnonzero(counts):
        height = max(counts[k] / highest * (TALL - 2.0), _THIN)
        bars.append(
            Bar(
                x=_short(k * wide + 0.5),
                y=_short(TALL - height),
                width=_short(wide - 1.0),
                height=_short(height),
                normal=bool(edges[k + 1] <= threshold),
            )
        )
    return DistancePicture(bars, _short(threshold / edges[-1] * WIDE))


def _short(coordinate: float) -> str:
    return f"{coordinate:.1f}".removesuffix(".0")

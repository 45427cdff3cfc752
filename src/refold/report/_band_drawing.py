"""Where the lines of a column beside its expected band go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats
from refold.base.words import number
from refold.explanation.gauges import short
from refold.report._in_context import ExpectedBand

WIDTH, HEIGHT = 640, 150
_MARGIN = 8.0
_BEYOND = 0.6  # as far as the band is high again values are shown; others stand at the edge


@dataclass(frozen=True)
class BandPicture:
    """A band, the rows in it and those that are outliers; what the edges of the picture are."""

    band: str
    normal: str
    odd: str
    bottom: str
    top: str


def band_picture(band: ExpectedBand) -> BandPicture:
    """Draw a column over time, or group by group."""
    seen = ~np.isnan(band.values)
    low, high = float(band.low.min()), float(band.high.max())
    values = band.values[seen]
    room = _BEYOND * (high - low)
    low = max(low - room, min(low, float(values.min(initial=low))))
    high = min(high + room, max(high, float(values.max(initial=high))))
    height = (high - low) or 1.0

    def up(numbers: Floats) -> Floats:
        inside = np.clip((numbers - low) / height, 0.0, 1.0)
        return HEIGHT - _MARGIN - inside * (HEIGHT - 2.0 * _MARGIN)

    across = _places(band)
    dots = [
        "".join(
            f"M{short(x)} {short(y)}h0"
            for x, y in zip(across[rows], up(band.values[rows]), strict=True)
        )
        for rows in (seen & ~band.outlier, seen & band.outlier)
    ]
    ends = up(band.low), up(band.high)
    path = _boxes(band, across, *ends) if band.by_group else _area(across, *ends)
    return BandPicture(path, dots[0], dots[1], number(low), number(high))


def _places(band: ExpectedBand) -> Floats:
    """Return where rows stand; those of one group side by side."""
    if not band.by_group:
        begin, end = float(band.at[0]), float(band.at[-1])
        return _MARGIN + (band.at - begin) / ((end - begin) or 1.0) * (WIDTH - 2.0 * _MARGIN)
    step = WIDTH / len(band.labels)
    out = np.empty(len(band.at))
    for group in np.unique(band.at):
        rows = np.flatnonzero(band.at == group)
        out[rows] = (group + 0.2 + 0.6 * (np.arange(len(rows)) + 0.5) / len(rows)) * step
    return out


def _area(across: Floats, low: Floats, high: Floats) -> str:
    there = [f"{short(x)} {short(y)}" for x, y in zip(across, high, strict=True)]
    back = [f"{short(x)} {short(y)}" for x, y in zip(across[::-1], low[::-1], strict=True)]
    return f"M{'L'.join([*there, *back])}Z"


def _boxes(band: ExpectedBand, across: Floats, low: Floats, high: Floats) -> str:
    """Draw what is expected of each row: in one group it may depend on other columns."""
    rows = np.bincount(band.at.astype(np.int64))[band.at.astype(np.int64)]
    wide = 0.6 * WIDTH / len(band.labels) / rows
    return "".join(
        f"M{short(x - half)} {short(top)}H{short(x + half)}V{short(bottom)}H{short(x - half)}Z"
        for x, half, bottom, top in zip(across, wide / 2.0, low, high, strict=True)
    )

"""Power curves: how many faults are caught, against how large they are; numbers for an SVG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refold.studies.own.cells import caught_of
from refold.studies.own.comparison import OwnComparison
from refold.studies.own.faults import FaultKind

WIDTH, HEIGHT = 300, 150
LEFT, TOP = 34, 8  # what is left of the plot, and above it
NAMED = 5  # methods that have a colour


class CurveLine(NamedTuple):
    """A method's curve: its path, and the number of its colour (None is grey)."""

    method: str
    path: str
    colour: int | None


class PowerCurves(NamedTuple):
    """The curves of one kind of faults."""

    kind: FaultKind  # the kind
    lines: list[CurveLine]  # one for each method, those without a colour first
    ticks: list[tuple[float, str]]  # where the sizes are across, and what they are
    rate: float  # how far down the rate of false alarms is


def named_methods(found: OwnComparison) -> list[str]:
    """Return the methods that have a colour: the best one and those that follow it."""
    first = [] if found.best is None else [found.best]
    return [*first, *(method for method in found.finished if method != found.best)][:NAMED]


def power_curves(found: OwnComparison, kind: FaultKind) -> PowerCurves:
    """Draw the curves of a kind of faults; sizes are as far from each other, whatever they are."""
    named = named_methods(found)
    sizes = [
        (size, tag)
        for size, tag in zip(kind.sizes, kind.tags(), strict=True)
        if not all(np.isnan(found.mean(caught_of(tag), method)) for method in found.methods)
    ]
    across = np.linspace(LEFT, LEFT + WIDTH, len(sizes) + 2)[1:-1].tolist()
    lines = []
    for method in found.finished:
        points = [
            (x, value)
            for x, (_, tag) in zip(across, sizes, strict=True)
            if not np.isnan(value := found.mean(caught_of(tag), method))
        ]
        colour = named.index(method) if method in named else None
        lines.append(CurveLine(method, _path(points), colour))
    lines.sort(key=lambda line: -np.inf if line.colour is None else -line.colour)
    ticks = [(round(x, 1), f"{size:g}") for x, (size, _) in zip(across, sizes, strict=True)]
    return PowerCurves(kind, lines, ticks, down(found.alpha))


def down(share: float) -> float:
    """Return how far down a share is."""
    return round(TOP + HEIGHT * (1.0 - share), 1)


def _path(points: list[tuple[float, float]]) -> str:
    """Return a line through points, with a dot on each."""
    return "M" + "L".join(f"{x:.1f} {down(value)}" for x, value in points) if points else ""

"""A page on what a new model would change: one HTML file, like a report."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refold.base.needs import needs
from refold.checks import Comparison, ScatterSample
from refold.report import _drawing
from refold.report._template import page_of, write_page

_FIRST = 10
_SIDE = 300.0  # of the picture
_ROOM = 0.04  # beside the outermost points, as a share of the axis


def write_comparison(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    title: str = "Old and new model",
    about: Mapping[str, str] | None = None,
) -> None:
    """Write a page that says what a new model would change: one HTML file, without a network.

    Parameters
    ----------
    comparison : Comparison
        From :func:`refold.compare`.
    path : str or path-like
        Where to write; a file that is there is replaced once the new one is complete.
    title : str, default="Old and new model"
        What the page is called.
    about : mapping of str to str, default=None
        More facts, such as the names of files.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import refold
    >>> from refold.report import write_comparison
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> old, new = refold.REF(alpha=0.05).fit(X[:150]), refold.REF(alpha=0.05).fit(X[150:])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_comparison(refold.compare(old, new, X), os.path.join(folder, "page.html"))
    """
    needs("jinja2", "report")
    write_page(_rendered(comparison, title, dict(about or {})), path)


def _rendered(comparison: Comparison, title: str, about: dict[str, str]) -> str:
    return page_of(
        "comparison.html.j2",
        found=comparison,
        title=title,
        about=about,
        first=_FIRST,
        drawing=_drawing,
        columns=sorted(comparison.columns, key=lambda c: (-c.leads, not c.differs)),
        picture=_picture(comparison),
    )


@dataclass(frozen=True)
class ScatterPicture:
    """Each row as a point: old across, new up, on logarithmic axes."""

    side: float
    same: list[tuple[str, str]]
    changed: list[tuple[str, str]]
    limits: tuple[float | None, float | None]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    of: str


def _picture(found: Comparison) -> ScatterPicture | None:
    scatter = found.scatter
    if len(scatter) == 0:
        return None
    limits = [_limit(found, which) for which in (0, 1)]
    axes = [_Axis.of(scatter, which, limits[which]) for which in (0, 1)]
    places = [
        (f"{_SIDE * axes[0].place(x):.1f}", f"{_SIDE * (1.0 - axes[1].place(y)):.1f}")
        for x, y in scatter.values.tolist()
    ]
    changed = scatter.changed.tolist()
    at = [
        None if v is None else round(100.0 * a.place(v), 2)
        for a, v in zip(axes, limits, strict=True)
    ]
    return ScatterPicture(
        side=_SIDE,
        same=sorted({p for p, c in zip(places, changed, strict=True) if not c}),
        changed=sorted({p for p, c in zip(places, changed, strict=True) if c}),
        limits=(at[0], at[1]),
        across=axes[0].ticks(),
        up=axes[1].ticks(),
        of=scatter.of,
    )


def _limit(found: Comparison, which: int) -> float | None:
    return (found.old, found.new)[which].p_limit if found.scatter.of == "p-value" else 1.0


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis."""

    low: float
    high: float

    @classmethod
    def of(cls, scatter: ScatterSample, which: int, limit: float | None) -> _Axis:
        values = scatter.values[:, which]
        some = np.append(values[values > 0.0], [] if not limit else [limit])
        low, high = (math.log10(end) for end in (some.min(), some.max()))
        room = max(_ROOM * (high - low), 0.05)
        return cls(low - room, high + room)

    def place(self, value: float) -> float:
        """Return how far along a value is."""
        along = (math.log10(value) - self.low) / (self.high - self.low) if value > 0.0 else 0.0
        return min(max(along, 0.0), 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the labels."""
        ticks = _drawing.ticks(10.0**self.low, 10.0**self.high)
        return [(round(100.0 * self.place(tick), 2), f"{tick:g}") for tick in ticks]

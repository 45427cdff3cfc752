"""Drawings of a comparison: critical differences, and ranks against time."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.needs import needs
from refold.studies.measured import BLUE, drawing_style, svg_text
from refold.studies.novelty.comparison import NoveltyComparison, Ranking, groups
from refold.studies.novelty.measures import TITLES

_INK, _SOFT = "#1b1f24", "#59636e"
_WIDTH, _ROW = 9.6, 0.23  # inches: the whole, and one line of text
_BAR, _MARGIN = 0.4, 0.26  # a group's bar in rows; a label's room as a share of the axis


def diagram(ranking: Ranking, ours: Collection[str]) -> str:
    """Draw a ranking as SVG for a page; names in `ours` stand out."""
    figures = needs("matplotlib.figure", "paper")
    k, ranks = len(ranking.ranks), np.array(list(ranking.ranks.values()))
    runs = groups(ranks, ranking.critical_difference)
    top = _BAR * (len(runs) + 1) + 0.6  # where the first name is, in rows below the axis
    height = top + (k + 1) // 2
    # Text stays text: it can be searched and is read aloud.
    with drawing_style(**{"svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(_WIDTH, _ROW * (height + 3.2)))
        ax = figure.add_axes((0, 0, 1, 1))
        room = _MARGIN * max(k - 1, 1)
        ax.set(xlim=(1 - room, k + room), ylim=(height, -3.2))
        ax.axis("off")
        _draw_axis(ax, k, ranking.critical_difference)
        for level, (first, last) in enumerate(runs, start=1):
            ends = ranks[first] - 0.04, ranks[last] + 0.04
            ax.plot(ends, [_BAR * level] * 2, color=_INK, lw=3.2, solid_capstyle="butt")
        for i, (name, rank) in enumerate(ranking.ranks.items()):
            left = i < (k + 1) // 2
            y = top + (i if left else k - 1 - i)
            edge, align = (1 - room / 20, "right") if left else (k + room / 20, "left")
            beside = edge + (-room if left else room) / 30
            color, weight = (BLUE, "bold") if name in ours else (_INK, "normal")
            ax.plot([rank, rank, edge], [0, y, y], color=color, lw=0.9)
            label = f"{name} {rank:.2f}" if left else f"{rank:.2f} {name}"
            ax.text(beside, y, label, ha=align, va="center", color=color, weight=weight)
        label = f"Average ranks by {TITLES[ranking.measure]}"
        return _inline(svg_text(figure), ranking.measure, label)


def _draw_axis(ax: Any, k: int, difference: float) -> None:
    ax.plot([1, k], [0, 0], color=_INK, lw=1.2)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, -0.3], color=_INK, lw=1.2)
        ax.text(rank, -0.45, str(rank), ha="center", va="bottom", color=_SOFT)
    wider = " (wider than the axis)" if difference > k - 1 else ""
    end = min(1 + difference, k)
    ax.plot([1, end], [-2, -2], color=_SOFT, lw=1.2, marker="|", markersize=7)
    ax.text(1, -2.35, f"critical difference {difference:.2f}{wider}", va="bottom", color=_SOFT)


def cost_figure(found: NoveltyComparison, ranking: Ranking) -> str:
    """Draw average ranks against time as SVG for a page; methods of ours stand out.

    There is no drawing of methods whose times are not known.
    """
    figures = needs("matplotlib.figure", "paper")
    times = {name: found.median("seconds_per_1000", name) for name in ranking.ranks}
    names = [name for name, time in times.items() if time > 0.0]  # best first
    if not names:
        return ""
    points = np.array([[np.log10(times[name]), ranking.ranks[name]] for name in names])
    low, extent = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 0.1)
    with drawing_style(**{"svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(_WIDTH, 4.6), layout="constrained")
        ax = figure.add_subplot()
        places = _label_places((points - low) / extent, [len(name) for name in names])
        for name, point, (x, y, align) in zip(names, points, places, strict=True):
            ours = name in found.references
            color, weight = (BLUE, "bold") if ours else (_INK, "normal")
            ax.plot(*point, "o" if ours else "D", color=color, ms=8 if ours else 5)
            at = low + extent * (x, y)
            ax.text(*at, name, color=color, weight=weight, ha=align, va="center")
        ax.set(
            xlim=(low[0] - 0.12 * extent[0], low[0] + 1.2 * extent[0]),
            ylim=(low[1] + 1.12 * extent[1], low[1] - 0.12 * extent[1]),
            xlabel="time of one core to learn and score 1,000 rows, median over sets (left: quick)",
            ylabel=f"average rank by {TITLES[ranking.measure]} (up: good)",
        )
        ticks = [tick for tick in range(-4, 4) if low[0] < tick + 0.3 and tick < low[0] + extent[0]]
        ax.set_xticks(ticks, [_seconds(tick) for tick in ticks])
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color="#e6e9ec", lw=0.7)
        label = f"Average rank by {TITLES[ranking.measure]} against time"
        return _inline(svg_text(figure), f"cost-{ranking.measure}", label)


def _seconds(tick: int) -> str:
    """Return a power of ten as a time: ``-2`` is 10 ms."""
    return f"{10 ** (tick + 3):g} ms" if tick < 0 else f"{10**tick} s"


_LETTER, _LINE, _GAP = 0.0115, 0.06, 0.018  # of a name, as shares of the axes


def _label_places(points: Floats, lengths: Sequence[int]) -> list[tuple[float, float, str]]:
    """Return where names stand: beside, above or below their points, on nothing if possible."""
    taken = [(x - 0.01, x + 0.01, y - 0.03, y + 0.03) for x, y in points]
    places = []
    for (x, y), length in zip(points, lengths, strict=True):
        width = _LETTER * length
        tried = [
            (x + _GAP, y, "left", x + _GAP),
            (x - _GAP, y, "right", x - _GAP - width),
            (x, y - _LINE, "center", x - width / 2),
            (x, y + _LINE, "center", x - width / 2),
        ]
        boxes = [(left, left + width, at - 0.024, at + 0.024) for _, at, _, left in tried]
        best = min(range(4), key=lambda i: sum(_overlap(boxes[i], other) for other in taken))
        taken.append(boxes[best])
        places.append(tried[best][:3])
    return places


def _overlap(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return box[0] < other[1] and other[0] < box[1] and box[2] < other[3] and other[2] < box[3]


def _inline(svg: str, prefix: str, label: str) -> str:
    """Return the element alone, as wide as its place, with names of its own inside the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", svg)
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg ',
        lambda found: f'<svg role="img" aria-label="{label}" {found.group(1) or ""}',
        svg,
        count=1,
    )

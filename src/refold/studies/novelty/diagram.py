"""The critical-difference diagram: average ranks, and which of them cannot be told apart."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.studies.novelty.comparison import Ranking
from refold.studies.novelty.statistics import groups
from refold.studies.output import BLUE, drawing_style, svg_text

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
        return _inline(svg_text(figure), ranking.measure)


def _draw_axis(ax: Any, k: int, difference: float) -> None:
    ax.plot([1, k], [0, 0], color=_INK, lw=1.2)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, -0.3], color=_INK, lw=1.2)
        ax.text(rank, -0.45, str(rank), ha="center", va="bottom", color=_SOFT)
    wider = " (wider than the axis)" if difference > k - 1 else ""
    end = min(1 + difference, k)
    ax.plot([1, end], [-2, -2], color=_SOFT, lw=1.2, marker="|", markersize=7)
    ax.text(1, -2.35, f"critical difference {difference:.2f}{wider}", va="bottom", color=_SOFT)


def _inline(svg: str, measure: str) -> str:
    """Return the element alone, as wide as its place, with names of its own inside the page."""
    label = f"Average ranks by {measure}"
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{measure}-", svg)
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg ',
        lambda found: f'<svg role="img" aria-label="{label}" {found.group(1) or ""}',
        svg,
        count=1,
    )

"""What all pictures share."""

from __future__ import annotations

from typing import Any

from refold.base.needs import needs

# Okabe and Ito's palette, which colour-blind readers can tell apart; lines and marks differ too.
NORMAL, OUTLIER, BAND, MUTED = "#0072B2", "#D55E00", "#BFD9EA", "#666666"


def axes_of(ax: Any | None) -> tuple[Any, Any]:
    """Return the figure and axes to draw in: those given, or new ones."""
    pyplot = needs("matplotlib.pyplot", "plot")
    if ax is None:
        figure, ax = pyplot.subplots(layout="constrained")
        return figure, ax
    return ax.figure, ax


def tidy(ax: Any) -> None:
    """Take away the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis="y", color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)

"""What all pictures share."""

from __future__ import annotations

from typing import Any

from refold.base.needs import needs
from refold.judgement import Judge
from refold.models.scoring import FoldScorer

# Okabe and Ito's palette, which colour-blind readers can tell apart; lines and marks differ too.
NORMAL, OUTLIER, BAND, MUTED = "#0072B2", "#D55E00", "#BFD9EA", "#666666"


def axes_of(ax: Any | None) -> tuple[Any, Any]:
    """Return the figure and axes to draw in: those given, or new ones."""
    pyplot = needs("matplotlib.pyplot", "plot")
    if ax is None:
        figure, ax = pyplot.subplots(layout="constrained")
        return figure, ax
    return ax.figure, ax


def folding(model: Any, what: str) -> FoldScorer:
    """Return what folds rows feature by feature; refuse a model that does not."""
    scorer = Judge.of(model).scorer
    if not isinstance(scorer, FoldScorer):
        raise TypeError(
            f"A {type(model).__name__} has no {what} of its features: it does not fold them one by "
            "one. Use a REF."
        )
    return scorer


def tidy(ax: Any) -> None:
    """Take away the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis="y", color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)

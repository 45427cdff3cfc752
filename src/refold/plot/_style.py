"""What all pictures share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from refold.base.needs import needs
from refold.columns.frames import feature_names, feature_number
from refold.judgement import Judge
from refold.models.detector.scorer import MeanScorer, inside
from refold.models.scoring import FoldScorer

# Okabe and Ito's palette, which colour-blind readers can tell apart; lines and marks differ too.
NORMAL, OUTLIER, BAND, MUTED = "#0072B2", "#D55E00", "#BFD9EA", "#666666"


class Display(ABC):
    """A picture that can be drawn again; those below compute what is in it."""

    figure_: Any  #: where it was drawn
    ax_: Any  #: where it was drawn

    def plot(self, *, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        """
        self._place(ax)
        self._draw()
        return self

    def _place(self, ax: Any, size: tuple[float, float] | None = None) -> None:
        """Take the axes that are given, or new ones in a figure of that size in inches."""
        pyplot = needs("matplotlib.pyplot", "plot")
        if ax is None:
            self.figure_, self.ax_ = pyplot.subplots(layout="constrained", figsize=size)
        else:
            self.figure_, self.ax_ = ax.figure, ax

    @abstractmethod
    def _draw(self) -> None:
        """Draw on ``ax_``."""


def legend_above(ax: Any, *handles: Any) -> None:
    """Say above the axes what colours mean."""
    ax.legend(
        *handles, frameon=False, fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )


def legend_inside(ax: Any) -> None:
    """Say inside the axes what colours mean."""
    # Not where there is most room: matplotlib warns when looking for that takes a second.
    ax.legend(frameon=True, framealpha=0.9, fontsize=8, loc="upper right")


def folding(model: Any, what: str) -> FoldScorer:
    """Return what folds rows feature by feature; refuse a model that does not."""
    judge = Judge.of(model)
    scorer = inside(judge.scorer)
    if isinstance(scorer, MeanScorer):
        raise TypeError(
            f"The {type(model).__name__} has learned more than numbers, and has no {what} of its "
            "columns. Use a REF on the columns of numbers."
        )
    if not isinstance(scorer, FoldScorer):
        raise TypeError(
            f"A {type(model).__name__} has no {what} of its columns: it does not fold them one by "
            "one. Use a REF, or Detector(method='ref') on numbers."
        )
    return scorer


def number_place(model: Any, feature: int | str) -> int:
    """Return which of the model's numbers a feature is, given by number or name."""
    encoder = getattr(model, "encoder_", None)
    place = feature_number(model, feature)
    if encoder is None:
        return place
    name, plan = feature_names(model)[place], encoder.counts.plan
    numbers = [plan.names[k] for k in plan.numbers]
    if name not in numbers:
        raise ValueError(f"{name!r} is not a column of numbers that was learned: {numbers} are.")
    return numbers.index(name)


def tidy(ax: Any) -> None:
    """Take away the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis="y", color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)

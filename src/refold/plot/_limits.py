"""What a detector misses."""

from __future__ import annotations

from typing import Any, Self

from refold.base.words import printable
from refold.checks import Limit, Limits, limits
from refold.explanation import number, split_unit
from refold.plot._style import MUTED, OUTLIER, axes_of, tidy

_HALF, _TENTH = "#E79B61", "#F7DEC9"  # OUTLIER, lighter
_WIDEST = 2.0  # ranges: what is wider is cut off and said


class LimitsDisplay:
    """The blind zone of each column: shifts that too many rows get away with.

    Parameters
    ----------
    limits : Limits
        What :func:`refold.limits` has found.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import CreasedREF
    >>> from refold.plot import LimitsDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> display = LimitsDisplay.from_estimator(CreasedREF().fit(X))
    """

    def __init__(self, *, limits: Limits) -> None:
        self.limits = limits

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, ax: Any = None) -> Self:
        """Find the limits of a fitted model and draw them.

        Parameters
        ----------
        model : REF, CreasedREF or Detector
            Fitted.
        X : array-like or dataframe of shape (n, d), default=None
            Normal rows; None takes what the model has kept.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        LimitsDisplay
        """
        return cls(limits=limits(model, X)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw a bar for each column, shifts down to the left and up to the right.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        LimitsDisplay
        """
        new = ax is None
        self.figure_, self.ax_ = axes_of(ax)
        if new:
            self.figure_.set_size_inches(7.6, 1.5 + 0.32 * len(self.limits))
        for key, colour, label in (
            ("90", _TENTH, "more than 10 % of rows are missed"),
            ("50", _HALF, "more than half are missed"),
        ):
            down, up = (
                [_length(limit, getattr(limit, f"{way}_{key}")) for limit in self.limits]
                for way in ("down", "up")
            )
            widths = [a + b for a, b in zip(down, up, strict=True)]
            places = range(len(self.limits))
            self.ax_.barh(places, widths, left=[-a for a in down], color=colour, label=label)
        for place, limit in enumerate(self.limits):
            for sign, shift in ((-1.0, limit.down_90), (1.0, limit.up_90)):
                self._write(place, sign, limit, shift)
        self._finish()
        return self

    def _write(self, place: int, sign: float, limit: Limit, shift: float | None) -> None:
        """Write at the end of a bar what 90 % takes, in the column's own units."""
        unit = split_unit(printable(limit.feature))[1]
        text = "never" if shift is None else f"{'−' if sign < 0 else '+'}{number(shift)}{unit}"
        if limit.rows == 0:
            text = "no value"
        self.ax_.annotate(
            text,
            (sign * _length(limit, shift), place),
            (4.0 * sign, 0.0),
            textcoords="offset points",
            ha="right" if sign < 0 else "left",
            va="center",
            fontsize=8,
            color=OUTLIER if shift is None else MUTED,
            annotation_clip=False,
        )

    def _finish(self) -> None:
        names = [split_unit(printable(limit.feature))[0] for limit in self.limits]
        self.ax_.axvline(0.0, color=MUTED, linewidth=0.8)
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.set_ylim(len(names) - 0.4, -0.6)  # the first column on top
        edge = max(abs(end) for end in self.ax_.get_xlim())
        self.ax_.set_xlim(-1.35 * edge, 1.35 * edge)  # room for what is written
        self.ax_.set_xlabel("shift of one column, in ranges learned")
        tidy(self.ax_)
        self.ax_.grid(visible=False, axis="y")
        self.ax_.legend(
            frameon=False, fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )


def _length(limit: Limit, shift: float | None) -> float:
    """Return how long a bar is; nothing where there is no range to compare with."""
    if shift is None:
        return _WIDEST if limit.rows else 0.0
    return min(limit.relative(shift) or 0.0, _WIDEST)

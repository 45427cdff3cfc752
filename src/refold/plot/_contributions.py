"""A row's contributions as bars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from refold.base.words import printable, quoted
from refold.columns.frames import one_row
from refold.explanation import Explanation, Reason, explain, number, ranges_text
from refold.plot._style import MUTED, NORMAL, OUTLIER, axes_of, tidy


class ContributionsDisplay:
    """Which features a row's distance comes from.

    Parameters
    ----------
    explanation : Explanation
        What :func:`refold.explain` says of the row.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import ContributionsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = ContributionsDisplay.from_estimator(REF().fit(X), [[0.2, 9.0]])
    """

    def __init__(self, *, explanation: Explanation) -> None:
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, row: int = 0, most: int = 10, ax: Any = None
    ) -> Self:
        """Explain a row with a fitted model and draw it.

        Parameters
        ----------
        model : REF, CreasedREF or Detector
            Fitted.
        X : array-like or dataframe of shape (n, d)
            Rows; only the one that is drawn is looked at.
        row : int, default=0
            Which of them to draw.
        most : int, default=10
            The most features to draw; the others are added up in one bar.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ContributionsDisplay
        """
        explanation = replace(explain(model, one_row(X, row))[0], row=row)
        return cls(explanation=explanation).plot(most=most, ax=ax)

    def plot(self, *, most: int = 10, ax: Any = None) -> Self:
        """Draw the bars, the largest share on top.

        Parameters
        ----------
        most : int, default=10
            The most features to draw; the others are added up in one bar.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ContributionsDisplay
        """
        self.figure_, self.ax_ = axes_of(ax)
        row = self.explanation
        shown, others = row.reasons[:most], row.reasons[most:]
        # Beside the axes there is room for long texts, at the ends of bars there is not.
        labels = [_label(reason) for reason in shown]
        notes = [f"{100 * r.share:.0f} %" for r in shown]
        parts = [r.contribution for r in shown]
        if others:
            labels.append(f"{len(others)} others")
            notes.append(f"{100 * sum(r.share for r in others):.0f} %")
            parts.append(sum(r.contribution for r in others))
        colour = NORMAL if row.label == 1 else OUTLIER
        places = np.arange(len(parts))
        self.ax_.barh(places, parts, color=colour, height=0.65)
        for place, part, note in zip(places, parts, notes, strict=True):
            self.ax_.annotate(
                note, (part, place), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize=8, color=MUTED,
            )  # fmt: skip
        self.ax_.set_yticks(places, labels, fontsize=8)
        self.ax_.invert_yaxis()
        self.ax_.set_xlim(0.0, 1.12 * max(*parts, np.finfo(float).tiny))
        verdict = "normal" if row.label == 1 else "an outlier"
        self.ax_.set_xlabel("contribution to the distance")
        self.ax_.set_title(
            f"Row {row.row} is {verdict}: {row.limit()}",
            loc="right",  # there is room on the left, over the labels
            fontsize=10,
        )
        tidy(self.ax_)
        self.ax_.grid(visible=False, axis="y")
        return self


def _label(reason: Reason) -> str:
    """Return a feature with its value, and below what is normal or what is odd about it."""
    if isinstance(reason.value, str):
        value = quoted(reason.value)
    else:
        value = "missing" if reason.missing else number(reason.value)
    below = f"normal {ranges_text(reason.normal)}" if reason.normal else reason.words
    return f"{printable(reason.feature)} = {value}\n{below}"

"""What two models say of the same rows."""

from __future__ import annotations

from typing import Any, Self

from refold.checks import Comparison
from refold.checks import compare as compare_models
from refold.plot._style import MUTED, NORMAL, OUTLIER, axes_of, tidy


class ComparisonDisplay:
    """The p-values of an old and a new model, a point for each row.

    Parameters
    ----------
    comparison : Comparison
        What :func:`refold.compare` has found.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import ComparisonDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> old, new = REF(alpha=0.05).fit(X[:150]), REF(alpha=0.05).fit(X[150:])
    >>> display = ComparisonDisplay.from_estimators(old, new, X)
    """

    def __init__(self, *, comparison: Comparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_estimators(cls, old: Any, new: Any, X: Any, *, ax: Any = None) -> Self:
        """Compare two fitted models and draw what they say.

        Parameters
        ----------
        old, new : REF, CreasedREF, Detector or Pipeline
            Fitted.
        X : array-like, dataframe or list of dict of n rows
            Rows.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ComparisonDisplay
        """
        return cls(comparison=compare_models(old, new, X, most=0)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw a point for each row, old across and new up, on logarithmic axes.

        Rows that keep their verdict lie below both limits or above both. Of very many rows 1,000
        that change and 1,000 that do not are drawn. Unless both models are calibrated, distances as
        multiples of the limit are shown instead of p-values.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ComparisonDisplay
        """
        self.figure_, self.ax_ = axes_of(ax)
        found, sample = self.comparison, self.comparison.scatter
        for turned, colour, marker, size, label in (
            (False, NORMAL, "o", 10, "same verdict"),
            (True, OUTLIER, "D", 20, f"other verdict ({found.n_changed:,} rows)"),
        ):
            points = sample.values[sample.changed == turned]
            alpha = 0.85 if turned else 0.4
            self.ax_.scatter(
                *points.T, s=size, c=colour, marker=marker, alpha=alpha, lw=0, label=label
            )
        self._finish()
        return self

    def _finish(self) -> None:
        found, rare = self.comparison, self.comparison.scatter.of == "p-value"
        what = "p-value" if rare else "distance ÷ limit"
        limits = (found.old.p_limit, found.new.p_limit) if rare else (1.0, 1.0)
        lines = zip((self.ax_.axvline, self.ax_.axhline), limits, strict=True)
        for draw, limit in lines:
            if limit:
                draw(limit, color=MUTED, linestyle="--", linewidth=1.0)
        self.ax_.set(xscale="log", yscale="log", xlabel=f"{what}, old", ylabel=f"{what}, new")
        tidy(self.ax_)
        self.ax_.legend(
            frameon=False, fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )


def comparison(comparison: Comparison, *, ax: Any = None) -> ComparisonDisplay:
    """Draw what :func:`refold.compare` has found: the p-values of both models.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    ax : matplotlib axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ComparisonDisplay

    Examples
    --------
    >>> import numpy as np
    >>> import refold, refold.plot
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> old, new = refold.REF(alpha=0.05).fit(X[:150]), refold.REF(alpha=0.05).fit(X[150:])
    >>> display = refold.plot.comparison(refold.compare(old, new, X))
    """
    return ComparisonDisplay(comparison=comparison).plot(ax=ax)

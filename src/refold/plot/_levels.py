"""What folding does, level by level."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from refold._typing import Floats
from refold.base.arrays import is_foreign_array, to_numpy
from refold.judgement import Judgement
from refold.model_selection import gmean_score
from refold.plot._style import MUTED, NORMAL, OUTLIER, axes_of, folding, tidy


class LevelsDisplay:
    """The learning curve over levels: how rows would be judged after each of them.

    Parameters
    ----------
    accepted : ndarray of shape (n_iter,)
        The share of normal rows with a distance of at most the threshold after each level.
    rejected : ndarray of shape (n_iter,) or None
        The share of outliers above it, where outliers are known.
    gmean : ndarray of shape (n_iter,) or None
        The geometric mean of both.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import LevelsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = LevelsDisplay.from_estimator(REF().fit(X), X)
    """

    def __init__(
        self, *, accepted: Floats, rejected: Floats | None = None, gmean: Floats | None = None
    ) -> None:
        self.accepted, self.rejected, self.gmean = accepted, rejected, gmean

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Follow rows through a fitted model's levels and draw the curves.

        Parameters
        ----------
        model : REF
            Fitted.
        X : array-like or dataframe of shape (n, d)
            Rows that were not used for fitting.
        y : array-like of shape (n,), default=None
            1 for normal rows, anything else for outliers; None if all are normal.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        LevelsDisplay
        """
        if isinstance(model, Pipeline):  # names and units do not matter here
            model, X = model[-1], model[:-1].transform(X)
        folding(model, "level")
        plain = hasattr(model, "trace")
        trace = model.trace(X) if plain else model.model_.trace(Judgement.of(model, X).numbers)
        inside = (to_numpy(trace) if is_foreign_array(trace) else trace) <= model.threshold_
        if y is None:
            return cls(accepted=inside.mean(axis=0)).plot(ax=ax)
        normal = np.asarray(y) == 1
        if normal.shape != (len(inside),):
            raise ValueError(f"y has shape {normal.shape}; X has {len(inside)} rows.")
        if normal.all() or not normal.any():
            raise ValueError("y must name both normal rows (1) and outliers; or leave it out.")
        labels = np.where(inside, 1, -1)
        return cls(
            accepted=inside[normal].mean(axis=0),
            rejected=(~inside[~normal]).mean(axis=0),
            gmean=np.array([gmean_score(np.where(normal, 1, -1), level) for level in labels.T]),
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        LevelsDisplay
        """
        self.figure_, self.ax_ = axes_of(ax)
        levels = np.arange(1, len(self.accepted) + 1)
        lines = (
            (self.accepted, "normal rows accepted", NORMAL, "-"),
            (self.rejected, "outliers rejected", OUTLIER, "--"),
            (self.gmean, "Gmean", MUTED, ":"),
        )
        for values, label, colour, style in lines:
            if values is not None:
                self.ax_.plot(levels, 100 * values, style, color=colour, label=label, linewidth=1.6)
        self.ax_.set(xlabel="level", ylabel="rows (%)", ylim=(0.0, 103.0))
        tidy(self.ax_)
        self.ax_.legend(frameon=True, framealpha=0.9, fontsize=8)
        return self

"""The distribution of distances, with the threshold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.judgement import Judgement
from refold.plot._style import NORMAL, OUTLIER, axes_of, tidy

_BARS = 60


class DistancesDisplay:
    """How far rows are from normal, and where the threshold lies.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        One per row.
    threshold : float
        The largest distance that is normal.
    is_normal : bool ndarray of shape (n,) or None
        Which rows are known to be normal, if that is known.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import DistancesDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = DistancesDisplay.from_estimator(REF().fit(X), X)
    """

    def __init__(
        self, *, distances: Floats, threshold: float, is_normal: NDArray[np.bool_] | None = None
    ) -> None:
        self.distances, self.threshold, self.is_normal = distances, threshold, is_normal

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Score rows with a fitted model and draw the distribution.

        Parameters
        ----------
        model : REF, CreasedREF or Detector
            Fitted.
        X : array-like, dataframe or Judgement of n rows
            Rows to judge. Those without any value are left out.
        y : array-like of shape (n,), default=None
            1 for normal rows, anything else for outliers, if that is known.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        DistancesDisplay
        """
        found = Judgement.of(model, X)
        known = None if y is None else np.asarray(y) == 1
        if known is not None and known.shape != (len(found),):
            raise ValueError(f"y has shape {known.shape}; X has {len(found)} rows.")
        return cls(
            distances=found.distances[found.judged],
            threshold=found.judge.threshold,
            is_normal=None if known is None else known[found.judged],
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the distribution.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        DistancesDisplay
        """
        self.figure_, self.ax_ = axes_of(ax)
        # On a logarithmic axis: a row at 600 deviations must not squeeze the others into one bar.
        positive = self.distances[self.distances > 0.0]
        low = min(float(positive.min(initial=1.0)), self.threshold / 2 or 1.0)
        high = max(float(self.distances.max()), 2.0 * self.threshold, 2.0 * low)
        low = max(low, high * 1e-9)
        edges = np.geomspace(low, high, _BARS + 1)
        for rows, label, colour, style in self._groups():
            self.ax_.hist(
                np.clip(rows, low, high), edges, color=colour, label=label, alpha=0.75, **style
            )
        rejected = float((self.distances > self.threshold).mean())
        self.ax_.axvline(
            self.threshold,
            color="black",
            linestyle="--",
            linewidth=1.2,
            label=f"threshold: {100 * rejected:.3g} % of rows above",
        )
        self.ax_.set(xlabel="distance", ylabel="rows", xscale="log")
        self.ax_.set_xlim(low, high)
        tidy(self.ax_)
        self.ax_.legend(frameon=True, framealpha=0.9, fontsize=8)
        return self

    def _groups(self) -> list[tuple[Floats, str, str, dict[str, Any]]]:
        if self.is_normal is None:
            inside = self.distances <= self.threshold
            names = ("called normal", "called an outlier")
        else:
            inside, names = self.is_normal, ("normal rows", "outliers")
        groups: list[tuple[Floats, str, str, dict[str, Any]]] = [
            (self.distances[inside], names[0], NORMAL, {}),
            (self.distances[~inside], names[1], OUTLIER, {"hatch": "///"}),
        ]
        return [group for group in groups if len(group[0])]

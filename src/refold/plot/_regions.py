"""Two features' plane: where rows are normal."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.judgement import Judge, Judgement, unwrapped
from refold.plot._style import NORMAL, OUTLIER, axes_of, number_place


class RegionsDisplay:
    """The decision regions over two features, the others held at their median.

    Parameters
    ----------
    x, y : ndarray of shape (n,) and (m,)
        Values of the two features.
    distances : ndarray of shape (m, n)
        The distance at each point of the plane.
    threshold : float
        The largest distance that is normal.
    names : tuple of str
        The features' names.
    rows : ndarray of shape (k, 2) or None
        Rows to draw.
    labels : ndarray of shape (k,) or None
        What the model says of them, 1 or -1.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import RegionsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = RegionsDisplay.from_estimator(REF(levels="all").fit(X), X)
    """

    def __init__(
        self,
        *,
        x: Floats,
        y: Floats,
        distances: Floats,
        threshold: float,
        names: tuple[str, str],
        rows: Floats | None = None,
        labels: NDArray[np.integer[Any]] | None = None,
    ) -> None:
        self.x, self.y, self.distances, self.threshold = x, y, distances, threshold
        self.names, self.rows, self.labels = names, rows, labels

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        resolution: int = 300,
        ax: Any = None,
    ) -> Self:
        """Score a grid with a fitted model and draw the regions.

        Parameters
        ----------
        model : REF or CreasedREF
            Fitted on at least two features.
        X : array-like, dataframe or Judgement of n rows, default=None
            Rows to draw over the regions, in the colours of their labels.
        features : pair of int or str, default=(0, 1)
            The numbers or names of the two features.
        resolution : int, default=300
            Points per side of the grid.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RegionsDisplay
        """
        model = unwrapped(model)
        judge = Judge.of(model)
        if judge.encoder is not None and not judge.encoder.counts.plan.plain:
            raise TypeError(
                "The model has learned more than numbers: there is no plane in which everything "
                "else is held. Use a model of the columns of numbers."
            )
        a, b = (number_place(model, feature) for feature in features)
        if a == b:
            raise ValueError(f"features={features!r}: two different features are needed.")
        rows = labels = None
        if X is not None:
            found = Judgement.of(model, X)
            rows, labels = found.numbers[:, [a, b]], found.labels
        quantiles = model.summary_.quantiles
        x, y = (_axis(quantiles[:, j], resolution) for j in (a, b))
        grid = np.tile(quantiles[len(quantiles) // 2], (resolution * resolution, 1))
        grid[:, a], grid[:, b] = np.tile(x, resolution), np.repeat(y, resolution)
        distances = judge.rows(grid).distances
        return cls(
            x=x,
            y=y,
            distances=distances.reshape(resolution, resolution),
            threshold=judge.threshold,
            names=(judge.names[a], judge.names[b]),
            rows=rows,
            labels=labels,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the regions.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RegionsDisplay
        """
        self.figure_, self.ax_ = axes_of(ax)
        levels, colours = _steps(self.threshold)
        shades = self.ax_.contourf(
            self.x, self.y, self.distances, levels, colors=colours, extend="max"
        )
        self.figure_.colorbar(shades, ax=self.ax_, label="distance", format="%.3g")
        if self.distances.min() <= self.threshold <= self.distances.max():
            self.ax_.contour(
                self.x, self.y, self.distances, [self.threshold], colors=NORMAL, linewidths=1.5
            )
        self._draw_rows()
        self.ax_.plot([], [], color=NORMAL, linewidth=1.5, label="border of normal")
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        self.ax_.set_xlim(self.x[0], self.x[-1])
        self.ax_.set_ylim(self.y[0], self.y[-1])
        self.ax_.legend(frameon=True, framealpha=0.9, fontsize=8)
        return self

    def _draw_rows(self) -> None:
        if self.rows is None or self.labels is None:
            return
        kinds = (
            (1, NORMAL, "o", {"s": 9, "edgecolors": "white", "linewidths": 0.4}, "called normal"),
            (-1, OUTLIER, "X", {"s": 30, "edgecolors": "black", "linewidths": 0.6}, "outlier"),
        )
        for label, colour, mark, style, name in kinds:
            which = self.rows[self.labels == label]
            if len(which):
                self.ax_.scatter(*which.T, c=colour, marker=mark, label=name, **style)


def _steps(threshold: float) -> tuple[list[float], list[str]]:
    """Return distances and the colours between them: blue within the threshold, then orange."""
    multiples = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
    colours = ["#EAF3F9", "#CFE3F0", "#FCEBDF", "#F8D3BA", "#F2B48D", "#E9935F"]
    return [m * (threshold or 1.0) for m in multiples], colours


def _axis(quantiles: Floats, resolution: int) -> Floats:
    low, high = quantiles[0], quantiles[-1]
    margin = 0.35 * (high - low) if high > low else max(abs(low), 1.0) * 0.01
    return np.linspace(low - margin, high + margin, resolution)

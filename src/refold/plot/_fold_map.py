"""A feature's fold map over its training histogram."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Ranges
from refold.columns.frames import feature_names, feature_number
from refold.explain import normal_ranges
from refold.plot._style import BAND, MUTED, NORMAL, OUTLIER, axes_of, folding, tidy

_POINTS = 2001
_BARS = 48


class FoldMapDisplay:
    """How far from normal each value of a feature is, over where its training rows lie.

    Parameters
    ----------
    values, magnitudes : ndarray of shape (n,)
        Values of the feature and the magnitude that each is folded to.
    edges, shares : ndarray
        The training histogram: bars between edges, and the share of rows in each.
    ranges : tuple of (low, high)
        The normal range or ranges.
    threshold : float
        The model's threshold.
    name : str
        The feature's name.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import FoldMapDisplay
    >>> model = REF(levels="all").fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> display = FoldMapDisplay.from_estimator(model, 0)
    """

    def __init__(
        self,
        *,
        values: Floats,
        magnitudes: Floats,
        edges: Floats,
        shares: Floats,
        ranges: Ranges,
        threshold: float,
        name: str,
    ) -> None:
        self.values, self.magnitudes = values, magnitudes
        self.edges, self.shares = edges, shares
        self.ranges, self.threshold, self.name = ranges, threshold, name

    @classmethod
    def from_estimator(cls, model: Any, feature: int | str, *, ax: Any = None) -> Self:
        """Compute the map of a fitted model's feature and draw it.

        Parameters
        ----------
        model : REF
            Fitted.
        feature : int or str
            The feature's number or name.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        FoldMapDisplay
        """
        scorer = folding(model, "fold map")
        j = feature_number(model, feature)
        quantiles = model.summary_.quantiles[:, j]
        edges, shares = histogram(quantiles)
        margin = 0.25 * (edges[-1] - edges[0])
        values = np.linspace(edges[0] - margin, edges[-1] + margin, _POINTS)
        return cls(
            values=values,
            magnitudes=scorer.magnitudes(j, values).mean(axis=1),
            edges=edges,
            shares=shares,
            ranges=normal_ranges(model.summary_)[j],
            threshold=model.threshold_,
            name=feature_names(model)[j],
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        FoldMapDisplay
        """
        self.figure_, self.ax_ = axes_of(ax)
        ax = self.ax_
        bars = ax.twinx()
        bars.bar(
            self.edges[:-1],
            self.shares,
            width=np.diff(self.edges),
            align="edge",
            color=BAND,
            label="training rows",
        )
        bars.set_ylim(0.0, 1.35 * self.shares.max())
        bars.set_yticks([])
        bars.spines[:].set_visible(False)
        bars.set_zorder(0)
        ax.set_zorder(1)
        ax.patch.set_visible(False)
        ax.plot(self.values, self.magnitudes, color=NORMAL, linewidth=1.2, label="magnitude")
        ax.axhline(self.threshold, color=OUTLIER, linestyle="--", linewidth=1.2, label="threshold")
        for low, high in self.ranges:
            ax.plot(
                [low, high],
                [0.0, 0.0],
                color=MUTED,
                linewidth=5,
                solid_capstyle="butt",
                clip_on=False,
                label="normal range" if (low, high) == self.ranges[0] else None,
            )
        # Far out the map is a straight line: what matters happens near the threshold.
        near = self.magnitudes[self._within_ranges()]
        top = max(4.0 * self.threshold, 1.3 * float(near.max(initial=0.0)))
        ax.set(xlabel=self.name, ylabel="magnitude", ylim=(0.0, top or 1.0))
        ax.set_xlim(self.values[0], self.values[-1])
        tidy(ax)
        handles, labels = ax.get_legend_handles_labels()
        more = bars.get_legend_handles_labels()
        ax.legend(handles + more[0], labels + more[1], frameon=True, framealpha=0.9, fontsize=8)
        return self

    def _within_ranges(self) -> NDArray[np.bool_]:
        inside = np.zeros(len(self.values), dtype=np.bool_)
        for low, high in self.ranges:
            inside |= (self.values >= low) & (self.values <= high)
        return inside


def histogram(quantiles: Floats, bars: int = _BARS) -> tuple[Floats, Floats]:
    """Return edges and shares of a histogram that has these quantiles.

    The outermost half percent on either side is left out if it would stretch the picture.
    """
    low, high = quantiles[0], quantiles[-1]
    core = quantiles[1], quantiles[-2]
    width = core[1] - core[0]
    if width > 0.0:
        low, high = max(low, core[0] - width / 2), min(high, core[1] + width / 2)
    if not high > low:
        low, high = low - max(abs(low), 1.0) * 0.01, high + max(abs(high), 1.0) * 0.01
    edges = np.linspace(low, high, bars + 1)
    # Each quantile stands for an equal share of the rows between it and the next.
    starts, ends = quantiles[:-1, None], quantiles[1:, None]
    span = np.where(ends > starts, ends - starts, 1.0)
    overlap = np.minimum(ends, edges[1:]) - np.maximum(starts, edges[:-1])
    inside = np.clip(overlap / span, 0.0, 1.0)
    point = (
        (starts == ends)
        & (starts >= edges[:-1])
        & ((starts < edges[1:]) | (edges[1:] == edges[-1]))
    )
    shares = np.where(starts == ends, point, inside).sum(axis=0) / (len(quantiles) - 1)
    return edges, shares

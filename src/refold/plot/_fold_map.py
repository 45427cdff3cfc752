"""A feature's fold map over its training histogram."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import optimize

from refold._typing import Floats, Ranges
from refold.explanation import normal_ranges
from refold.judgement import Judge, unwrapped
from refold.models.scoring import FoldScorer
from refold.plot._style import BAND, MUTED, NORMAL, OUTLIER, axes_of, folding, number_place, tidy

_POINTS, _TOGETHER = 2000, 10  # points of the map, and how many of them are drawn as one
_BARS = 48


class FoldMapDisplay:
    """What each value of a feature is folded to, over where its training rows lie.

    The magnitude is that of the levels that count: the last, or the mean of all with
    ``levels="all"``. A row's distance comes from the magnitudes of all its features, so what one
    of them must reach depends on the others: the line is for a row that is typical in these.

    Parameters
    ----------
    values, magnitudes : ndarray of shape (n,)
        Values of the feature and the magnitude that each is folded to.
    edges, shares : ndarray
        The training histogram: bars between edges, and the share of rows in each.
    ranges : tuple of (low, high)
        The normal range or ranges.
    needed : float or None
        From this magnitude on, a row whose other features are typical is an outlier; None if the
        distance is a function of the user's.
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
        needed: float | None,
        name: str,
    ) -> None:
        self.values, self.magnitudes = values, magnitudes
        self.edges, self.shares = edges, shares
        self.ranges, self.needed, self.name = ranges, needed, name

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
        model = unwrapped(model)
        scorer = folding(model, "fold map")
        j = number_place(model, feature)
        quantiles = model.summary_.quantiles[:, j]
        edges, shares = histogram(quantiles)
        margin = 0.5 * (edges[-1] - edges[0])
        values = np.linspace(edges[0] - margin, edges[-1] + margin, _POINTS)
        return cls(
            values=values,
            magnitudes=scorer.magnitudes(j, values).mean(axis=1),
            edges=edges,
            shares=shares,
            ranges=normal_ranges(model.summary_)[j],
            needed=_needed(scorer, j, model.summary_.quantiles, model.threshold_),
            name=Judge.of(model).names[j],
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
        bottom, top = self._limits()
        # Between training rows the last level goes up and down too often to be drawn as a line.
        magnitudes = np.maximum(self.magnitudes, bottom).reshape(-1, _TOGETHER)
        values = self.values[_TOGETHER // 2 :: _TOGETHER]
        ax.fill_between(
            values, magnitudes.min(axis=1), magnitudes.max(axis=1), color=NORMAL, alpha=0.3, lw=0
        )
        ax.plot(values, magnitudes.mean(axis=1), color=NORMAL, lw=1.4, label="magnitude |y|")
        if self.needed is not None:
            ax.axhline(
                max(self.needed, bottom), color=OUTLIER, linestyle="--", linewidth=1.2,
                label="an outlier from here on, if all else is typical",
            )  # fmt: skip
        for low, high in self.ranges:
            ax.plot(
                [low, high],
                [bottom, bottom],
                color=MUTED,
                linewidth=5,
                solid_capstyle="butt",
                clip_on=False,
                label="normal range" if (low, high) == self.ranges[0] else None,
            )
        ax.set(xlabel=self.name, ylabel="magnitude |y|", yscale="log", ylim=(bottom, top))
        ax.set_xlim(self.values[0], self.values[-1])
        tidy(ax)
        handles, labels = ax.get_legend_handles_labels()
        more = bars.get_legend_handles_labels()
        ax.legend(
            handles + more[0], labels + more[1], loc="lower center", bbox_to_anchor=(0.5, 1.0),
            ncols=2, frameon=False, fontsize=8,
        )  # fmt: skip
        return self

    def _limits(self) -> tuple[float, float]:
        """Return the ends of a logarithmic axis: all that is large, and not every zero."""
        means = self.magnitudes.reshape(-1, _TOGETHER).mean(axis=1)
        usual = float(np.quantile(means[means > 0.0], 0.1)) if means.any() else 1.0
        needed = self.needed or usual
        return min(usual, needed) / 4.0, 2.0 * max(float(self.magnitudes.max()), needed)


def _needed(scorer: FoldScorer, feature: int, quantiles: Floats, threshold: float) -> float | None:
    """Return the magnitude that this feature must reach for the distance to reach the threshold.

    The other features have their mean magnitudes, the outermost training rows left out.
    """
    if callable(scorer.distance):
        return None
    power, d = 2.0 if scorer.distance == "l2" else 1.0, quantiles.shape[1]
    others = np.sum(
        [
            (scorer.magnitudes(k, quantiles[1:-1, k]) ** power).mean(axis=0)
            for k in range(d)
            if k != feature
        ],
        axis=0,
    )

    def missing(magnitude: float) -> float:
        return float(np.mean((magnitude**power + others) ** (1.0 / power)) - threshold * d)

    if missing(0.0) >= 0.0:
        return 0.0
    return float(optimize.brentq(missing, 0.0, 2.0 * threshold * d))


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

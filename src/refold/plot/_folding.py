"""Pictures of folding: a feature's fold map, and what each level does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import optimize
from sklearn.pipeline import Pipeline

from refold._typing import Floats, Ranges
from refold.base.arrays import is_foreign_array, to_numpy
from refold.judgement import Judge, Judgement, unwrapped
from refold.judgement.normal import normal_ranges
from refold.model_selection import gmean_score
from refold.models.scoring import FoldScorer
from refold.plot._style import (
    BAND,
    MUTED,
    NORMAL,
    OUTLIER,
    Display,
    folding,
    legend_above,
    legend_inside,
    number_place,
    tidy,
)

_POINTS, _TOGETHER = 2000, 10  # points of the map, and how many of them are drawn as one
_BARS = 48


@dataclass(kw_only=True, eq=False, repr=False)
class FoldMapDisplay(Display):
    """What each value of a feature is folded to, over where its training rows lie.

    The magnitude is that of the levels that count: the last, or the mean of all with
    ``levels="all"``. A row's distance comes from the magnitudes of all its features, so what one
    of them must reach depends on the others: the line is for a row that is typical in these.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import FoldMapDisplay
    >>> model = REF(levels="all").fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> display = FoldMapDisplay.from_estimator(model, 0)
    """

    #: values, magnitudes: values of the feature and the magnitude that each is folded to
    values: Floats
    magnitudes: Floats
    #: edges, shares: the training histogram: bars between edges, and the share of rows in each
    edges: Floats
    shares: Floats
    ranges: Ranges  #: the normal range or ranges
    #: From this magnitude on, a row whose other features are typical is an outlier; None if the
    #: distance is a Python function
    needed: float | None
    name: str  #: the feature's name

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

    def _draw(self) -> None:
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
        legend_above(ax, handles + more[0], labels + more[1])

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


@dataclass(kw_only=True, eq=False, repr=False)
class LevelsDisplay(Display):
    """The learning curve over levels: how rows would be judged after each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import LevelsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = LevelsDisplay.from_estimator(REF().fit(X), X)
    """

    #: The share of normal rows with a distance of at most the threshold after each level
    accepted: Floats
    rejected: Floats | None = None  #: the share of outliers above it, where outliers are known
    gmean: Floats | None = None  #: the geometric mean of both

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

    def _draw(self) -> None:
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
        legend_inside(self.ax_)

"""Pictures of rows: their distances, contributions and place in the plane of two features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.words import number, printable, quoted
from refold.columns.frames import one_row
from refold.columns.table import Table
from refold.explanation import Explanation, Reason, explain
from refold.judgement import Judge, Judgement, unwrapped
from refold.judgement.number_text import ranges_text
from refold.plot._style import MUTED, NORMAL, OUTLIER, Display, legend_inside, number_place, tidy

_BARS = 60


@dataclass(kw_only=True, eq=False, repr=False)
class DistancesDisplay(Display):
    """How far rows are from normal, and where the threshold lies.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import DistancesDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = DistancesDisplay.from_estimator(REF().fit(X), X)
    """

    distances: Floats  #: one per row
    threshold: float  #: the largest distance that is normal
    #: Which rows are known to be normal, if that is known
    is_normal: NDArray[np.bool_] | None = None

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

    def _draw(self) -> None:
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
        legend_inside(self.ax_)

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


@dataclass(kw_only=True, eq=False, repr=False)
class ContributionsDisplay(Display):
    """Which features a row's distance comes from.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import ContributionsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = ContributionsDisplay.from_estimator(REF().fit(X), [[0.2, 9.0]])
    """

    explanation: Explanation  #: what :func:`refold.explain` says of the row

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
        """
        self._place(ax)
        self._draw(most)
        return self

    def _draw(self, most: int = 10) -> None:
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


def _label(reason: Reason) -> str:
    """Return a feature with its value, and below what is normal or what is odd about it."""
    if isinstance(reason.value, str):
        value = quoted(reason.value)
    else:
        value = "missing" if reason.missing else number(reason.value)
    below = f"normal {ranges_text(reason.normal)}" if reason.normal else reason.words
    return f"{printable(reason.feature)} = {value}\n{below}"


@dataclass(kw_only=True, eq=False, repr=False)
class RegionsDisplay(Display):
    """The decision regions over two features, the others held at their median.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import RegionsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = RegionsDisplay.from_estimator(REF(levels="all").fit(X), X)
    """

    x: Floats  #: x, y: values of the two features
    y: Floats
    distances: Floats  #: the distance at each point of the plane
    threshold: float  #: the largest distance that is normal
    names: tuple[str, str]  #: what the axes show: the features' names
    rows: Floats | None = None  #: rows to draw
    labels: NDArray[np.integer[Any]] | None = None  #: what the model says of them, 1 or -1

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
            raise ValueError(f"features={features!r}: two different columns are needed.")
        rows = labels = None
        if X is not None:
            found = Judgement.of(model, X)
            rows, labels = found.numbers[:, [a, b]], found.labels
        quantiles = model.summary_.quantiles
        x, y = (_axis(quantiles[:, j], resolution) for j in (a, b))
        grid = np.tile(quantiles[len(quantiles) // 2], (resolution * resolution, 1))
        grid[:, a], grid[:, b] = np.tile(x, resolution), np.repeat(y, resolution)
        on_grid = judge.rows(grid)
        if judge.rules:  # they look at cells
            on_grid = judge.table(Table.of_numbers(judge.names, grid.T))
        distances = on_grid.distances
        return cls(
            x=x,
            y=y,
            distances=distances.reshape(resolution, resolution),
            threshold=judge.threshold,
            names=(_axis_name(judge, a), _axis_name(judge, b)),
            rows=rows,
            labels=labels,
        ).plot(ax=ax)

    def _draw(self) -> None:
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
        legend_inside(self.ax_)

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


def _axis_name(judge: Judge, place: int) -> str:
    """Return what a column is called; where a context is expected, what is drawn of it."""
    name = judge.names[place]
    scored = judge.encoder is not None and name in judge.encoder.scored
    return f"{name}, standard deviations from what was expected" if scored else name


def _axis(quantiles: Floats, resolution: int) -> Floats:
    low, high = quantiles[0], quantiles[-1]
    margin = 0.35 * (high - low) if high > low else max(abs(low), 1.0) * 0.01
    return np.linspace(low - margin, high + margin, resolution)

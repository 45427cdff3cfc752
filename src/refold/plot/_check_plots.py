"""Pictures of what a model misses, and of what a new one would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from refold.base.words import number, printable
from refold.checks import Comparison, Limit, Limits, limits
from refold.checks import compare as compare_models
from refold.judgement.number_text import split_unit
from refold.plot._style import MUTED, NORMAL, OUTLIER, Display, legend_above, tidy

_HALF, _TENTH = "#E79B61", "#F7DEC9"  # OUTLIER, lighter
_WIDEST = 2.0  # ranges: what is wider is cut off and said


@dataclass(kw_only=True, eq=False, repr=False)
class LimitsDisplay(Display):
    """The blind zone of each column: shifts that too many rows get away with.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import CreasedREF
    >>> from refold.plot import LimitsDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> display = LimitsDisplay.from_estimator(CreasedREF().fit(X))
    """

    limits: Limits  #: what :func:`refold.limits` has found

    def __post_init__(self) -> None:
        if not self.limits.features:
            raise ValueError("The model has no column of numbers: there is no shift to draw.")

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
        """
        return cls(limits=limits(model, X)).plot(ax=ax)

    def _place(self, ax: Any, size: tuple[float, float] | None = None) -> None:
        super()._place(ax, size or (7.6, 1.5 + 0.32 * len(self.limits)))

    def _draw(self) -> None:
        """Draw a bar for each column, shifts down to the left and up to the right."""
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
        legend_above(self.ax_)


def _length(limit: Limit, shift: float | None) -> float:
    """Return how long a bar is; nothing where there is no range to compare with."""
    if shift is None:
        return _WIDEST if limit.rows else 0.0
    return min(limit.relative(shift) or 0.0, _WIDEST)


@dataclass(kw_only=True, eq=False, repr=False)
class ComparisonDisplay(Display):
    """The p-values of an old and a new model, a point for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.plot import ComparisonDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> old, new = REF(alpha=0.05).fit(X[:150]), REF(alpha=0.05).fit(X[150:])
    >>> display = ComparisonDisplay.from_estimators(old, new, X)
    """

    comparison: Comparison  #: what :func:`refold.compare` has found

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
        """
        return cls(comparison=compare_models(old, new, X, most=0)).plot(ax=ax)

    def _draw(self) -> None:
        """Draw a point for each row, old across and new up, on logarithmic axes.

        Rows that keep their verdict lie below both limits or above both. Of very many rows 1,000
        that change and 1,000 that do not are drawn. Unless both models are calibrated, distances as
        multiples of the limit are shown instead of p-values.
        """
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
        legend_above(self.ax_)


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

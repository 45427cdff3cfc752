"""What a comparison found, for people and for programs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Literal, get_args

from refold.base import markup
from refold.base.results import Backend, native_frame, plain_fields
from refold.base.words import number, p_text, percent, plural, printable
from refold.columns.encoding.shapes import example_of
from refold.columns.role_findings import shown

Verdict = Literal["same", "changed", "more outliers", "changed or more outliers"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_MEANING: dict[Verdict, str] = {
    "same": "No difference from the training rows is proven.",
    "changed": (
        "The data has changed: the bulk of the rows is not like the training rows. What was "
        "learned may be out of date, and rates set on the old data do not hold."
    ),
    "more outliers": (
        "There are more outliers than in training; of the other rows no difference is proven."
    ),
    "changed or more outliers": (
        "The rows differ from the training rows: either the data has changed, or there are more "
        "outliers."
    ),
}
# With fewer rows only a large difference can be proven.
_FEW_ROWS = 100
_SHOWN, _MOST = 10, 100


@dataclass(frozen=True)
class ClassShare:
    """How many rows of a column are of one class, in training and now."""

    of: str  #: what makes the class
    #: Which class: a text, what texts look like (``A+-9+``), "3 o'clock", "Sunday", "before
    #: 2013-01-01"
    value: str
    before: float  #: before, now: the share of the rows that have a value
    now: float

    def __str__(self) -> str:
        value = example_of(self.value) if self.of == "shape" else self.value
        words = {"value": "'{}'", "shape": "like '{}'"}
        text = words.get(self.of, "{}").format(shown(value))
        return f"{text} {percent(self.before)} → {percent(self.now)}"


@dataclass(frozen=True)
class ColumnDrift:
    """One feature of new rows beside the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, drift
    >>> rng = np.random.default_rng(0)
    >>> model = REF(alpha=0.01).fit(rng.normal(size=(1000, 2)))
    >>> found = drift(model, rng.normal(size=(500, 2)) + [0.0, 1.0])
    >>> [(feature.name, feature.changed) for feature in found.features]
    [('x0', False), ('x1', True)]
    """

    name: str  #: the column
    kind: str  #: what it was taken for
    #: Of numbers: the largest difference between the two distribution functions
    #: (Kolmogorov–Smirnov), as far as the training quantiles prove it. Of others: the largest
    #: difference between the shares of a class. Between 0 and 1.
    distance: float
    p_value: float  #: the chance of such a distance if nothing has changed
    adjusted_p_value: float  #: the same, corrected for the number of tests
    #: The corrected chance after as many rejected rows as may be outliers were set aside, those
    #: that matter most
    remaining_p_value: float
    #: missing_before, missing: the share of missing values in training and in the new rows
    missing_before: float
    missing: float
    #: missing_p_value, missing_adjusted_p_value: the chance of such a difference between the two,
    #: and corrected
    missing_p_value: float
    missing_adjusted_p_value: float
    #: unreadable_before, unreadable: the share of cells that are no number, or no date, where there
    #: should be one
    unreadable_before: float
    unreadable: float
    #: unreadable_p_value, unreadable_adjusted_p_value: the chance of such a difference between the
    #: two, and corrected
    unreadable_p_value: float
    unreadable_adjusted_p_value: float
    #: median_before, median: of numbers, in the column's own units. None of others, and if no new
    #: row has a value.
    median_before: float | None
    median: float | None
    beyond: float | None  #: of numbers: the share of the new rows below or above all of training
    #: Of texts and dates: the classes whose shares differ by more than chance, at most three, those
    #: that differ most first
    moved: tuple[ClassShare, ...]
    #: Of texts: the most frequent values that training has not, at most three
    new_values: tuple[str, ...]
    #: Of texts: the share of rows with such a value; about, in columns of more than 65,536 values
    unseen: float | None
    #: The same if nothing has changed: the share of training rows with a value of their own
    unseen_expected: float | None
    differs: bool  #: the values or the share of missing ones differ by more than chance
    changed: bool  #: they do so even without outliers
    #: Numbers, also the medians, are standard deviations from what the context of a row lets
    #: expect; see ``docs/context.md``
    scored: bool = False

    @property
    def shift(self) -> float | None:
        """How far the median has moved, in the feature's own units."""
        if self.median is None or self.median_before is None:
            return None
        return min(max(self.median - self.median_before, -sys.float_info.max), sys.float_info.max)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the shift as plain Python values."""
        return {**plain_fields(self), "shift": self.shift}

    def __str__(self) -> str:
        return f"{printable(self.name)}: {self.how()}"

    def how(self) -> str:
        """Say how it differs, and how likely that is by chance."""
        chance = p_text(self.adjusted_p_value)
        text = f"{self._what()}distributions differ by {percent(self.distance)} ({chance})"
        text += self._new()
        for what in ("missing", "unreadable"):
            before, now = getattr(self, f"{what}_before"), getattr(self, what)
            if before or now:
                p = getattr(self, f"{what}_adjusted_p_value")
                text += f", {what} {percent(before)} → {percent(now)} ({p_text(p)})"
        return text + ("; outliers may explain it" if self.differs and not self.changed else "")

    def _new(self) -> str:
        """Say which values are new, where there are clearly more than one would expect."""
        if self.unseen is None or self.unseen_expected is None:
            return ""
        if self.unseen <= 2.0 * self.unseen_expected:
            return ""
        new = ", ".join(f"'{shown(value)}'" for value in self.new_values)
        share = f"{percent(self.unseen)}, {percent(self.unseen_expected)} expected"
        return f", new values such as {new} ({share})"

    def _what(self) -> str:
        """Say how numbers have moved, or which classes."""
        if self.median_before is None:
            return "".join(f"{share}, " for share in self.moved)
        median = "none" if self.median is None else number(self.median)
        beyond = f"{percent(self.beyond)} beyond all training rows, " if self.beyond else ""
        if self.scored:
            unit = "standard deviations from what was expected"
            return f"median {number(self.median_before)} → {median} {unit}, {beyond}"
        return f"median {number(self.median_before)} → {median}, {beyond}"


@dataclass(frozen=True)
class Drift:
    """New rows beside the training rows of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, drift
    >>> rng = np.random.default_rng(0)
    >>> model = REF(alpha=0.01).fit(rng.normal(size=(1000, 2)))
    >>> found = drift(model, rng.normal(size=(500, 2)) + [0.0, 1.0])
    >>> found.verdict, found.rows
    ('changed', 500)
    """

    rows: int  #: how many new rows there are
    empty: int  #: how many of them have no value at all: they count as missing and cannot be judged
    #: The share of the other rows that the model rejects; None if there are no others
    rejected: float | None
    #: The share of training-like rows that it rejects. None if the model is not calibrated: the
    #: rate then has nothing to be compared with.
    expected: float | None
    #: outlier_p_value, outlier_adjusted_p_value: the chance of so many rejected rows if nothing has
    #: changed, and corrected for the number of tests. None without `expected`.
    outlier_p_value: float | None
    outlier_adjusted_p_value: float | None
    #: The largest share of the rows that may be outliers, judging by how many are rejected
    set_aside: float
    alpha: float  #: the chance of a false alarm, over all tests together
    features: tuple[ColumnDrift, ...]  #: one per feature

    @property
    def more_rejected(self) -> bool:
        """Whether more rows are rejected than by chance."""
        p = self.outlier_adjusted_p_value
        return p is not None and p <= self.alpha

    @property
    def verdict(self) -> Verdict:
        """What has happened.

        ``"changed"``: some feature differs in a way that outliers cannot explain. More rejected
        rows are then what one would expect. ``"more outliers"``: more rows are rejected, and
        without them the rest is as in training. ``"changed or more outliers"``: features differ,
        rejected rows could explain it, but it is not proven that they are too many.
        """
        if any(feature.changed for feature in self.features):
            return "changed"
        if self.more_rejected:
            return "more outliers"
        if any(feature.differs for feature in self.features):
            return "changed or more outliers"
        return "same"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict and all fields as plain values, of each column also its shift."""
        return {"verdict": self.verdict, **plain_fields(self)}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a line per column as a dataframe of pandas, polars or pyarrow."""
        numbers = ["distance", "p_value", "adjusted_p_value", "missing_before", "missing"]
        numbers += ["median_before", "median", "shift", "beyond"]
        rows = [feature.to_dict() for feature in self.features]
        texts, flags = ("name", "kind"), ("changed", "differs")
        columns = {name: [row[name] for row in rows] for name in (*texts, *flags, *numbers)}
        return native_frame(columns, backend, texts=texts, booleans=flags)

    def __repr__(self) -> str:
        differing = sum(feature.differs for feature in self.features)
        return (
            f"Drift({self.verdict!r}, {self.rows} rows, "
            f"{differing} of {len(self.features)} columns differ)"
        )

    def __str__(self) -> str:
        lines = [self.meaning, self.rates()]
        if self.empty:
            lines.append(f"{plural(self.empty, 'row')} without any value could not be judged.")
        differing = self.differing()
        lines += [f"  {feature}" for feature in differing[:_SHOWN]]
        if len(differing) > _SHOWN:
            lines.append(f"  and {len(differing) - _SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html(self)

    @property
    def meaning(self) -> str:
        """The verdict, in a sentence."""
        few = self.verdict == "same" and self.rows < _FEW_ROWS
        more = f" With {plural(self.rows, 'row')} only a large one could be." if few else ""
        return _MEANING[self.verdict] + more

    def differing(self) -> list[ColumnDrift]:
        """Return the features that differ: those that have changed, and the farthest, first."""
        return sorted(
            (feature for feature in self.features if feature.differs),
            key=lambda feature: (not feature.changed, -feature.distance),
        )

    def rates(self) -> str:
        """Say how many columns differ, and how many rows are outliers."""
        differing = sum(feature.differs for feature in self.features)
        verb = "differs" if len(self.features) == 1 else "differ"
        columns = f"{differing:,} of {plural(len(self.features), 'column')} {verb}"
        text = f"{plural(self.rows, 'row')}; {columns}"
        if self.rejected is None:
            return f"{text}."
        text += f"; {percent(self.rejected)} are outliers"
        if self.expected is None or self.outlier_adjusted_p_value is None:
            return f"{text}, with nothing to compare it with: the model is not calibrated."
        chance = p_text(self.outlier_adjusted_p_value)
        return f"{text}, {percent(self.expected, 2)} expected ({chance})."


def _html(found: Drift) -> str:
    """Return what was found as HTML: columns that have changed first."""
    differing = found.differing()
    parts = [markup.paragraph(found.meaning, "head"), markup.paragraph(found.rates())]
    if found.empty:
        parts.append(
            markup.paragraph(f"{plural(found.empty, 'row')} without any value could not be judged.")
        )
    if differing:
        parts.append(_table(differing[:_SHOWN]))
    if rest := differing[_SHOWN:_MOST]:
        parts.append(markup.details(f"{len(rest):,} more columns", _table(rest)))
    if len(differing) > _MOST:
        parts.append(markup.paragraph(f"And {len(differing) - _MOST:,} more, not shown.", "soft"))
    return markup.box(*parts)


def _table(features: list[ColumnDrift]) -> str:
    rows = (
        (
            markup.escaped(feature.name),
            "changed" if feature.changed else "differs",
            markup.escaped(feature.how()),
        )
        for feature in features
    )
    return markup.grid(("column", "", "how"), rows)

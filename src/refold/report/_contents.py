"""What a report says, typed; nothing here knows how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Ranges
from refold.base.results import Backend, native_frame, numbered_reasons, plain_fields
from refold.cards import Card
from refold.checks import Findings
from refold.columns.encoding.column_info import ColumnInfo
from refold.explanation import LEADS, Reason
from refold.monitoring import ColumnDrift, Drift, Incidents
from refold.report._associations import Associations
from refold.report._in_context import InContext
from refold.report._run_chart import RunChart

Interval = tuple[float, float]


@dataclass(frozen=True)
class ExpectedRejections:
    """How many rows a model would reject if all of them were normal."""

    rate: float  #: the share, from the calibration
    rows: float  #: the same as a number of rows
    #: Between these lies the number, with a chance of 95 %: it varies by chance from one table to
    #: another, and the rate itself is known from finitely many rows
    interval: tuple[int, int]


@dataclass(frozen=True)
class MarkedShares:
    """How many training rows have each of a column's values, hours or weekdays."""

    heights: tuple[float, ...]
    at: int | None


@dataclass(frozen=True)
class FeatureBars:
    """The classes of a column of texts or dates, in training and in the new rows."""

    of: str
    labels: tuple[str, ...]
    training: tuple[float, ...]
    new: tuple[float, ...]
    named: int = 0


@dataclass(frozen=True)
class WorstRow:
    """An outlier."""

    row: int  #: its number in the table
    name: str  #: what the row is called: its number, or the name that was given
    distance: float  #: how far from normal
    #: How rare such a distance is among normal rows; None without calibration
    p_value: float | None
    #: Whether it remains when many looks are allowed for, see ``Report.selected``; None likewise
    selected: bool | None
    reasons: tuple[Reason, ...]  #: the most important first
    #: Of each reason that is a text or a date: where its value is among what is normal
    marks: tuple[MarkedShares | None, ...] = ()

    @property
    def together(self) -> bool:
        """Whether it is an outlier by a combination: no column says much by itself."""
        if any(reason.novel for reason in self.reasons):
            return False
        first = self.reasons[0] if self.reasons else None
        return first is None or first.share < LEADS or first.usual


@dataclass(frozen=True)
class AlarmGroup:
    """Outliers for the same reason."""

    feature: str  #: the feature that matters most in each of them
    how: str  #: where its values lie, in words
    #: The smallest and the largest of them; of texts those that come most often
    values: Interval | tuple[str, ...]
    rows: int  #: how many rows
    examples: tuple[str, ...]  #: what the first of them, the farthest out, are called


@dataclass(frozen=True, eq=False)
class FeatureHistogram:
    """Training and new values of a feature in the same bins."""

    edges: NDArray[np.float64]  #: ascending, in the feature's own units
    #: The share of training values in each bin, as far as their quantiles tell
    training: NDArray[np.float64]
    new: NDArray[np.float64]  #: the share of new values in each bin
    below: int  #: below, above: how many new values lie outside
    above: int


@dataclass(frozen=True, eq=False)
class Distances:
    """The distances of the new rows."""

    #: From 0, then in equal ratios up to the farthest row; the threshold is one of them
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]  #: how many rows lie in each bin, its upper edge included


@dataclass(frozen=True, eq=False)
class Feature:
    """One column: what is normal, what is new, and its part in outliers."""

    name: str  #: the column
    normal: Ranges  #: the range or ranges that were learned; empty unless it is a number
    histogram: FeatureHistogram | None  #: training and new values of a number
    drift: ColumnDrift  #: how they differ
    #: In how many of the ``Report.blamed`` rows it is a strong reason: no column matters more, or
    #: it has at least a fifth of the distance
    leads: int
    #: Training and new values of texts; hours and weekdays of dates
    bars: tuple[FeatureBars, ...] = ()
    about: str = ""  #: what is normal of a text or a date, in a few words
    column: ColumnInfo | None = None  #: what the column was taken for, where that was guessed
    #: The limits that the user's rules set for the numbers of all rows
    own_limits: tuple[float, ...] = ()
    own_text: str = ""  #: the same in words; empty if there are none


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What a model makes of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> report.rows, report.worst[0].name
    (200, '17')
    """

    title: str  #: what the page is called
    training_rows: int  #: how many rows the model learned from
    #: rows, empty: how many new rows there are, and how many of them have no value at all and are
    #: not judged
    rows: int
    empty: int
    rejected: int  #: how many are outliers
    #: The share of rejected rows that rows of this kind have in the long run, with a confidence of
    #: 95 % (Clopper-Pearson)
    interval: Interval
    threshold: float  #: rows up to this distance are normal
    alpha: float | None  #: the rate that the threshold was set for, if for one
    #: What would be rejected if all rows were normal; None without calibration
    expected: ExpectedRejections | None
    fdr: float  #: the share of false discoveries that `selected` allows for
    #: How many of the rejected rows, the farthest out, remain when many looks are allowed for; None
    #: without calibration
    selected: int | None
    #: How many rows it would take to calibrate on for a single row to be selected, if there were
    #: fewer: a p-value cannot be smaller than one in so many
    needed: int | None
    #: How many rows the pictures show and were looked through: all, or some drawn of very many
    pictured: int
    distances: Distances  #: how far from normal these rows are
    #: The worst rows, the farthest out first; never more than were asked for
    worst: tuple[WorstRow, ...]
    unexplained: str  #: why there are no reasons; empty if there are
    blamed: int  #: how many rows, the worst ones, the features' ``leads`` were counted over
    groups: tuple[AlarmGroup, ...]  #: the same rows by their reason, the largest group first
    features: tuple[Feature, ...]  #: in the order of the model's columns
    drift: Drift  #: the new rows beside the training rows
    #: What stands out in the table itself, whatever the model makes of it; rows by their names
    noticed: Findings
    card: Card  #: the small print
    #: Rows by their group, and columns beside what was expected; None without a context
    in_context: InContext | None
    incidents: Incidents  #: outliers that belong together; of very many those with most outliers
    n_incidents: int  #: how many there are
    run_chart: RunChart | None  #: how far out rows are, one after the other or over time
    associations: Associations  #: which columns of these rows tell of one another

    @property
    def judged(self) -> int:
        """How many rows were judged."""
        return self.rows - self.empty

    @property
    def rate(self) -> float:
        """The share of the judged rows that are outliers."""
        return self.rejected / self.judged

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the run chart, a picture, as plain values, ready for JSON."""
        said = plain_fields(self, but=("run_chart", "incidents"))
        return {**said, **self.incidents.to_dict(), "judged": self.judged, "rate": self.rate}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per row of `worst` as a dataframe; reasons are sentences."""
        names = ("row", "name", "distance", "p_value", "selected")
        columns = {name: [getattr(row, name) for row in self.worst] for name in names}
        reasons = numbered_reasons([list(map(str, row.reasons)) for row in self.worst])
        return native_frame(
            {**columns, **reasons},
            backend,
            integers=["row"],
            texts=["name", *reasons],
            booleans=["selected"],
        )

    def __repr__(self) -> str:
        return f"Report({self.rejected:,} outliers among {self.judged:,} rows)"

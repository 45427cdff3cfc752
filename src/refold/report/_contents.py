"""What a report says, typed; nothing here knows how it is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refold._typing import Ranges
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
    """How many rows a model would reject if all of them were normal.

    Parameters
    ----------
    rate : float
        The share, from the calibration.
    rows : float
        The same as a number of rows.
    interval : tuple of int
        Between these lies the number, with a chance of 95 %: it varies by chance from one table to
        another, and the rate itself is known from finitely many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> round(report.expected.rows, 6)
    2.0
    """

    rate: float
    rows: float
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
    """An outlier.

    Parameters
    ----------
    row : int
        Its number in the table.
    name : str
        What the row is called: its number, or the name that was given.
    distance : float
        How far from normal.
    p_value : float or None
        How rare such a distance is among normal rows; None without calibration.
    selected : bool or None
        Whether it remains when many looks are allowed for, see ``Report.selected``; None likewise.
    reasons : tuple of Reason
        The most important first.
    marks : tuple of (MarkedShares or None)
        Of each reason that is a text or a date: where its value is among what is normal.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> report.worst[0].name, report.worst[0].reasons[0].feature
    ('17', 'x1')
    """

    row: int
    name: str
    distance: float
    p_value: float | None
    selected: bool | None
    reasons: tuple[Reason, ...]
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
    """Outliers for the same reason.

    Parameters
    ----------
    feature : str
        The feature that matters most in each of them.
    how : str
        Where its values lie, in words.
    values : tuple of float or of str
        The smallest and the largest of them; of texts those that come most often.
    rows : int
        How many rows.
    examples : tuple of str
        What the first of them, the farthest out, are called.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> group = report.groups[0]
    >>> group.feature, group.rows, group.examples
    ('x1', 1, ('17',))
    """

    feature: str
    how: str
    values: Interval | tuple[str, ...]
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FeatureHistogram:
    """Training and new values of a feature in the same bins.

    Parameters
    ----------
    edges : ndarray of shape (bins + 1,)
        Ascending, in the feature's own units.
    training : ndarray of shape (bins,)
        The share of training values in each bin, as far as their quantiles tell.
    new : ndarray of shape (bins,)
        The share of new values in each bin.
    below, above : int
        How many new values lie outside.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> histogram = report.features[1].histogram
    >>> len(histogram.edges) - len(histogram.new), histogram.above
    (1, 1)
    """

    edges: NDArray[np.float64]
    training: NDArray[np.float64]
    new: NDArray[np.float64]
    below: int
    above: int


@dataclass(frozen=True, eq=False)
class Distances:
    """The distances of the new rows.

    Parameters
    ----------
    edges : ndarray of shape (bins + 1,)
        From 0, then in equal ratios up to the farthest row; the threshold is one of them.
    counts : ndarray of shape (bins,)
        How many rows lie in each bin, its upper edge included.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> int(report.distances.counts.sum())
    200
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Feature:
    """One column: what is normal, what is new, and its part in outliers.

    Parameters
    ----------
    name : str
        The column.
    normal : tuple of (low, high)
        The range or ranges that were learned; empty unless it is a number.
    histogram : FeatureHistogram or None
        Training and new values of a number.
    drift : ColumnDrift
        How they differ.
    leads : int
        In how many of the ``Report.blamed`` rows it is a strong reason: no column matters more,
        or it has at least a fifth of the distance.
    bars : tuple of FeatureBars
        Training and new values of texts; hours and weekdays of dates.
    about : str
        What is normal of a text or a date, in a few words.
    column : ColumnInfo or None
        What the column was taken for, where that was guessed.
    own_limits : tuple of float
        The limits that the user's rules set for the numbers of all rows.
    own_text : str
        The same in words; empty if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model, new = REF(alpha=0.01).fit(rng.normal(size=(500, 2))), rng.normal(size=(200, 2))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> [(feature.name, feature.leads) for feature in report.features]
    [('x0', 0), ('x1', 2)]
    """

    name: str
    normal: Ranges
    histogram: FeatureHistogram | None
    drift: ColumnDrift
    leads: int
    bars: tuple[FeatureBars, ...] = ()
    about: str = ""
    column: ColumnInfo | None = None
    own_limits: tuple[float, ...] = ()
    own_text: str = ""


@dataclass(frozen=True, eq=False)
class Report:
    """What a model makes of a table.

    Parameters
    ----------
    title : str
        What the page is called.
    training_rows : int
        How many rows the model learned from.
    rows, empty : int
        How many new rows there are, and how many of them have no value at all and are not judged.
    rejected : int
        How many are outliers.
    interval : tuple of float
        The share of rejected rows that rows of this kind have in the long run, with a confidence of
        95 % (Clopper-Pearson).
    threshold : float
        Rows up to this distance are normal.
    alpha : float or None
        The rate that the threshold was set for, if for one.
    expected : ExpectedRejections or None
        What would be rejected if all rows were normal; None without calibration.
    fdr : float
        The share of false discoveries that `selected` allows for.
    selected : int or None
        How many of the rejected rows, the farthest out, remain when many looks are allowed for;
        None without calibration.
    needed : int or None
        How many rows it would take to calibrate on for a single row to be selected, if there were
        fewer: a p-value cannot be smaller than one in so many.
    least_p : float or None
        The smallest p-value there can be; None without calibration.
    pictured : int
        How many rows the pictures show and were looked through: all, or some drawn of very many.
    distances : Distances
        How far from normal these rows are.
    worst : tuple of WorstRow
        The worst rows, the farthest out first; never more than were asked for.
    unexplained : str
        Why there are no reasons; empty if there are.
    blamed : int
        How many rows, the worst ones, the features' ``leads`` were counted over.
    groups : tuple of AlarmGroup
        The same rows by their reason, the largest group first.
    features : tuple of Feature
        In the order of the model's columns.
    drift : Drift
        The new rows beside the training rows.
    noticed : Findings
        What stands out in the table itself, whatever the model makes of it; rows by their names.
    card : Card
        The small print.
    in_context : InContext or None
        Rows by their group, and columns beside what was expected; None without a context.
    incidents : Incidents
        Outliers that belong together; of very many those with most outliers.
    n_incidents : int
        How many there are.
    run_chart : RunChart or None
        How far out rows are, one after the other or over time.
    associations : Associations
        Which columns of these rows tell of one another.

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

    title: str
    training_rows: int
    rows: int
    empty: int
    rejected: int
    interval: Interval
    threshold: float
    alpha: float | None
    expected: ExpectedRejections | None
    fdr: float
    selected: int | None
    needed: int | None
    least_p: float | None
    pictured: int
    distances: Distances
    worst: tuple[WorstRow, ...]
    unexplained: str
    blamed: int
    groups: tuple[AlarmGroup, ...]
    features: tuple[Feature, ...]
    drift: Drift
    noticed: Findings
    card: Card
    in_context: InContext | None
    incidents: Incidents
    n_incidents: int
    run_chart: RunChart | None
    associations: Associations

    @property
    def judged(self) -> int:
        """How many rows were judged."""
        return self.rows - self.empty

    @property
    def rate(self) -> float:
        """The share of the judged rows that are outliers."""
        return self.rejected / self.judged

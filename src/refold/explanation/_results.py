"""What an explanation says, typed, as a table and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import narwhals.stable.v2 as nw

from refold._typing import Ranges
from refold.base.words import ONLY_TOGETHER, number, printable, quoted, shortened
from refold.explanation._html import html_of
from refold.explanation._numbers import (
    as_read,
    digits_that,
    in_full,
    listed,
    ranges_text,
    split_unit,
)

# Less than this share of the training rows is worth a word.
_FEW = 0.05
# What matters less is no reason, unless it comes first.
_LEAST_SHARE = 0.01
# Changes that are all named; of more only some are.
_MOST_NAMED, _SOME = 6, 3


@dataclass(frozen=True)
class Cell:
    """A value of a feature.

    Attributes
    ----------
    feature : str
        Its name.
    value : float or str
        The value; a text as it was written.

    Examples
    --------
    >>> from refold.explanation import Cell
    >>> Cell("torque [Nm]", 75.2).text()
    'torque 75.2 Nm'
    """

    feature: str
    value: float | str

    def text(self, digits: Callable[[float], str] = in_full) -> str:
        """Return "torque 91.2 Nm", "carrier 'UA'"."""
        name, unit = split_unit(printable(self.feature))
        if isinstance(self.value, str):
            return f"{name} {quoted(self.value)}"
        return f"{name} missing" if math.isnan(self.value) else f"{name} {digits(self.value)}{unit}"

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class Reason:
    """One feature's part in a row's distance.

    Attributes
    ----------
    feature : str
        Its name.
    value : float or str
        What the row has; a text as it was written, NaN if missing.
    contribution : float
        Its part of the distance. REF's add up to the distance. CreasedREF's, how much the distance
        would drop had the feature the value that is expected, do not.
    share : float
        The same as a share of the distance.
    normal : tuple of (low, high)
        The range or ranges that were learned, without cells that are cut off; empty unless the
        feature is a number.
    inside : bool
        Whether the value was learned: it is in a range, and not between the values of a discrete
        feature; False if missing. Of texts and dates: whether it is usual.
    as_far : float
        The share of training rows that are as far out, on the same side, or as surprising.
    beside : tuple of Cell
        The other values of the row that this one is unlikely with, if the row is rejected.
    accepted_at : float or None
        The nearest value of this feature alone at which the row would be accepted: its own if it is
        accepted, None if there is none or it was not asked for.
    stated : float or None
        The same, with as few digits as are accepted too: what the text names.
    exact : bool
        Whether `accepted_at` was computed (fold abs) or searched for.
    expected : float or None
        CreasedREF: what the other values of the row lead to expect, of what was learned.
    role : str
        What the feature is: "number", "category", "text", "identifier" or "date".
    view : str
        Of a table that was encoded: in which respect the value is odd, such as "unseen", "value",
        "shape", "hour", "missing", "unreadable", or "beside" another; empty if it is usual.
    words : str
        The same as a sentence behind the feature and its value.
    novel : bool
        Whether the column seemed closed and never had such a value: the row is rejected for that.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold import explain
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> found = explain(model, [[0.1, 0.2], [0.3, 9.0]])
    >>> reason = found[1].reasons[0]
    >>> reason.feature, reason.value, reason.inside
    ('x1', 9.0, False)
    """

    feature: str
    value: float | str
    contribution: float
    share: float
    normal: Ranges
    inside: bool
    as_far: float
    beside: tuple[Cell, ...] = ()
    accepted_at: float | None = None
    stated: float | None = None
    exact: bool = False
    expected: float | None = None
    role: str = "number"
    view: str = ""
    words: str = ""
    novel: bool = False

    @property
    def missing(self) -> bool:
        """Whether the row has no value."""
        return not isinstance(self.value, str) and math.isnan(self.value)

    def matters(self, rank: int) -> bool:
        """Whether it is worth a line as the first (0), second (1), … reason of its row."""
        if rank == 0 or self.novel:
            return self.share > 0.0
        return self.share >= _LEAST_SHARE and bool(self.normal or self.view)

    def __str__(self) -> str:
        told = f"{self._what()}: {_percent(self.share)} of the distance"
        if not self.normal:
            return told
        digits, unit = self._digits(), split_unit(printable(self.feature))[1]
        expected = (
            "" if self.expected is None else f"expected {number(self.expected, digits)}{unit}, "
        )
        return f"{told}; {expected}normal {ranges_text(self.normal, digits)}{self._place()}"

    def _what(self) -> str:
        """Return the feature, its value, and what is odd about it."""
        name, unit = split_unit(printable(self.feature))
        if self.missing:
            return f"{name} missing{self.words and f'; {self.words}'}"
        if isinstance(self.value, str):
            plain = self.role == "date" and self.view != "unreadable"
            value = shortened(self.value) if plain else quoted(self.value)
        else:
            value = f"{number(self.value, self._digits())}{unit}"
        return f"{name} {value}{f' {self.words}' if self.words else self._with()}"

    def _with(self) -> str:
        if not self.beside:
            return ""
        return " with " + listed([cell.text(number) for cell in self.beside])

    def _place(self) -> str:
        """Say what the range and the value do not say themselves."""
        if not self.inside and _within(self.value, self.normal):
            return ", but never this value"
        if self.beside and self.as_far <= _FEW:
            return f", {_percent(self.as_far)} of them so far out"
        return ""

    def _digits(self) -> int:
        """Return how many digits show on which side of the ends the numbers are."""
        value = math.nan if isinstance(self.value, str) else self.value
        stated = value if self.stated is None else self.stated
        truth = [_within(v, self.normal) for v in (value, stated)]

        def shows(digits: int) -> bool:
            ends = [(as_read(low, digits), as_read(high, digits)) for low, high in self.normal]
            named = stated if self.stated is not None else as_read(stated, digits)  # in full
            return [_within(v, ends) for v in (as_read(value, digits), named)] == truth

        return digits_that(shows)


def _within(value: float | str, ranges: Sequence[tuple[float, float]]) -> bool:
    return not isinstance(value, str) and any(low <= value <= high for low, high in ranges)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "less than 1 %"


@dataclass(frozen=True)
class Explanation:
    """Why a row is normal or not.

    Attributes
    ----------
    row : int
        Its number in the table that was explained, from 0.
    label : int
        1 normal, -1 not, 0 if it has no value and cannot be judged.
    distance, threshold : float
        It is normal if the distance is at most the threshold; NaN if it cannot be judged.
    p_value : float or None
        How rare such a distance is among normal rows; None before any calibration.
    reasons : tuple of Reason
        Its features, the largest share first; a value that many training rows have comes after
        others.
    changes : tuple of Cell
        The smallest set of values found with which the row would be accepted; empty if it is
        accepted as it is, or if it was not asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold import explain
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> found = explain(model, [[0.1, 0.2], [0.3, 9.0]])
    >>> found[1].label, found[1].reasons[0].feature
    (-1, 'x1')
    """

    row: int
    label: int
    distance: float
    threshold: float
    p_value: float | None
    reasons: tuple[Reason, ...]
    changes: tuple[Cell, ...] = ()

    def text(self, reasons: int = 3) -> str:
        """Return what a person reads: the verdict and the first reasons, a line each."""
        return "\n  ".join([self.headline(), *(self.because(reasons) if self.label else [])])

    def headline(self) -> str:
        """Return the verdict as a line."""
        if self.label == 0:
            return f"row {self.row}: not judged, it has no value"
        verdict = "normal" if self.label == 1 else "NOT normal"
        rarity = "" if self.p_value is None else f", p = {self.p_value:.2g}"
        ends = [self.distance, self.threshold]
        digits = digits_that(
            lambda n: (as_read(ends[0], n) > as_read(ends[1], n)) == (ends[0] > ends[1])
        )
        distance, threshold = (number(end, digits) for end in ends)
        return f"row {self.row}: {verdict}, distance {distance} (normal up to {threshold}{rarity})"

    def because(self, reasons: int = 3) -> list[str]:
        """Return the first reasons, a sentence each, and what would have to change."""
        shown = self.first(reasons)
        said = [f"{reason}{self._remark(reason)}" for reason in shown]
        if self.label == -1 and not shown:
            said = self._without_shares()
        return [*said, *self._way_out(shown)]

    def _without_shares(self) -> list[str]:
        """Say what is odd where no expected value would bring the row nearer."""
        if len(self.reasons) == 1:
            return [f"{self.reasons[0]._what()}: hardly any row was learned there"]
        changed = {cell.feature for cell in self.changes}
        found = [reason._what() for reason in self.reasons if reason.feature in changed]
        if not found or len(found) > _SOME:
            return [ONLY_TOGETHER]
        return [f"{listed(found)}: unlikely only with the other values"]

    def first(self, reasons: int = 3) -> list[Reason]:
        """Return the first reasons that matter, and all for which alone the row is rejected."""
        return [
            reason
            for rank, reason in enumerate(self.reasons)
            if reason.matters(rank) and (rank < reasons or reason.novel)
        ]

    def _remark(self, reason: Reason) -> str:
        """Say what the verdict and the range do not make one expect."""
        if self.label == 1:
            outside = bool(reason.normal) and not reason.inside and not reason.missing
            return "; accepted all the same" if outside else ""
        remark = ""
        if not reason.normal:
            leads = reason is self.reasons[0] and not reason.view
            remark = "; unlikely only with the other values" if leads else ""
        elif reason.inside and not reason.beside and reason is self.reasons[0]:
            alone = reason.expected is None and reason.contribution > self.threshold
            remark = "by itself" if alone else "only with the other values"
            remark = f"; inside, too far out {remark}"
        if reason.stated is not None:
            named = (reason.stated, reason.stated) in reason.normal
            about = "" if reason.exact or named else "about "
            remark += f"; accepted from {about}{in_full(reason.stated)}"
            remark += "" if _within(reason.stated, reason.normal) else ", although outside"
        return remark

    def _way_out(self, shown: Sequence[Reason]) -> list[str]:
        """Name the smallest set of changes, unless a reason above has named its own."""
        if not self.changes or any(reason.stated is not None for reason in shown):
            return []
        if len(self.changes) <= _MOST_NAMED:
            return [f"would be accepted with {listed([str(cell) for cell in self.changes])}"]
        some = listed([str(cell) for cell in self.changes[:_SOME]])
        return [f"would be accepted with {len(self.changes)} values changed, among them {some}"]

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_of([self])


class Explanations(Sequence[Explanation]):
    """The explanations of a table's rows, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold import explain
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> found = explain(model, [[0.1, 0.2], [0.3, 9.0]])
    >>> len(found), found.worst(1)[0].row
    (2, 1)
    """

    def __init__(self, rows: Sequence[Explanation]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: int | slice) -> Explanation | Explanations:
        """Return the explanation of a row, or those of several."""
        if isinstance(index, slice):
            return Explanations(self._rows[index])
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self._rows)

    def worst(self, n: int) -> Explanations:
        """Return the n rows that are farthest out, the worst first."""
        judged = (row for row in self._rows if row.label)
        return Explanations(sorted(judged, key=lambda row: -row.distance)[:n])

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one entry per row and reason, as columns of plain values."""
        columns: dict[str, list[Any]] = {
            name: []
            for name in (
                *("row", "label", "distance", "p_value", "rank", "feature", "value"),
                *("contribution", "share", "normal", "accepted_at", "exact", "expected"),
                *("inside", "beside", "change_to", "role", "view", "words"),
            )
        }
        for row in self._rows:
            changes = {cell.feature: cell.value for cell in row.changes}
            for rank, reason in enumerate(row.reasons, start=1):
                entry = {
                    **{k: getattr(row, k) for k in ("row", "label", "distance", "p_value")},
                    **vars(reason),
                    "rank": rank,
                    "normal": ranges_text(reason.normal),
                    "beside": listed([cell.text(number) for cell in reason.beside]),
                    "change_to": changes.get(reason.feature),
                }
                for name, values in columns.items():
                    values.append(entry[name])
        return columns

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the same as a dataframe of pandas, polars or pyarrow."""
        columns = self.to_dict()
        types = {
            **dict.fromkeys(("row", "label", "rank"), nw.Int64()),
            **dict.fromkeys(("feature", "normal", "beside", "role", "view", "words"), nw.String()),
            **dict.fromkeys(("exact", "inside"), nw.Boolean()),
        }
        for name in ("value", "change_to"):  # numbers, unless there are texts among them
            if any(isinstance(value, str) for value in columns[name]):
                columns[name], types[name] = _written(columns[name]), nw.String()
        schema = {name: types.get(name, nw.Float64()) for name in columns}
        for name, values in columns.items():
            if schema[name] == nw.Float64():
                columns[name] = [math.nan if v is None else v for v in values]
        return nw.from_dict(columns, schema, backend=backend).to_native()

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._rows))

    def _repr_html_(self) -> str:
        return html_of(self._rows)


def _written(values: Sequence[float | str | None]) -> list[str | None]:
    """Return values as texts; None where there is none."""
    numbers = (v if isinstance(v, str) or v is None or v == v else None for v in values)
    return [f"{v:.17g}" if isinstance(v, float) else v for v in numbers]

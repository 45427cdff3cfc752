"""Why rows are outliers: typed, as plain values, as a table and as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refold.base.results import Backend, ResultSequence, native_frame, plain
from refold.base.words import ONLY_TOGETHER, number, p_text
from refold.explanation._reason import Cell, Reason, called, within
from refold.explanation.gauges import html_of
from refold.judgement.number_text import and_list, in_full, ranges_text

LEADS = 0.1  # what leads with less is a reason only together with others
# Changes that are all named; of more only some are.
_MOST_NAMED, _SOME, _FEWEST = 6, 3, 2
_NEAR, _FAR = 0.001, 1000.0  # times the limit: how many times exactly tells nobody anything


def times_limit(distance: float, threshold: float) -> str:
    """Say how far out a row is: "12 × the limit".

    >>> times_limit(12.11, 1.0), times_limit(5.3e11, 1.0)
    ('12 × the limit', 'more than 1,000 × the limit')
    """
    if not distance < _FAR * threshold:
        return f"more than {_FAR:,.0f} × the limit" if distance > threshold else "within the limit"
    times = distance / threshold
    if times < _NEAR:
        return "within the limit"
    if times >= 10.0:
        return f"{times:.0f} × the limit"
    shown = (f"{times:.{digits}g}" for digits in (2, 3, 4))
    told = next((text for text in shown if (float(text) > 1.0) == (distance > threshold)), None)
    return "just beyond the limit" if told is None else f"{told} × the limit"


@dataclass(frozen=True)
class Explanation:
    """Why a row is an outlier, or how far from it.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, explain
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)).round(1))
    >>> found = explain(model, [[0.1, 0.2], [0.3, 9.0]])
    >>> found[1].label, found[1].sentence()
    (-1, 'x1 9 is 5.9 above the highest normal value, 3.1')
    """

    row: int  #: its number in the table that was explained, from 0
    label: int  #: 1 normal, -1 outlier, 0 if it has no value and cannot be judged
    #: distance, threshold: it is normal if the distance is at most the threshold; NaN if it cannot
    #: be judged
    distance: float
    threshold: float
    #: How rare such a distance is among normal rows; None before any calibration
    p_value: float | None
    #: Its columns, the largest share first; :meth:`first` are those that matter
    reasons: tuple[Reason, ...]
    #: The smallest set of values found with which the row would be normal; empty if it is normal as
    #: it is, or if it was not asked for
    changes: tuple[Cell, ...] = ()
    #: What the row is called: the cell of the model's id column, or the label of a pandas index;
    #: None where it only has a number
    name: Any = None
    #: The rule of the user's that mutes the row, such as "machine = M17 until 2026-12-31"
    muted: str = ""
    #: The columns that are never named as a reason, by the user's rules
    unblamed: tuple[str, ...] = ()
    #: Whether the row is an outlier by a combination: no column says much by itself
    together: bool = False
    #: The columns of the combination, if they are known: those without which the row would be
    #: normal, else those outside their normal range
    combination: tuple[Reason, ...] = ()

    @property
    def row_label(self) -> str:
        """What people call the row: by its name, else by its number."""
        return f"row {self.row if self.name is None else self.name}"

    @property
    def _no_value(self) -> bool:
        return bool(self.reasons) and self.reasons[0].view == "empty"

    def sentence(self) -> str:
        """Return the verdict's cause in one sentence; empty for a row that is no outlier."""
        if self.label != -1:
            return ""
        if self._no_value:
            return self.reasons[0].words
        if self.unblamed and not self.first(1):
            return f"unusual by what your rules do not blame: {and_list(list(self.unblamed))}"
        if not self.together:
            return self.reasons[0].sentence()
        if len(self.combination) == 1 and self.combination[0].view:  # odd by itself
            return self.combination[0].sentence()
        named = [reason.cell() for reason in self.combination or self.first(_SOME)]
        if len(named) < _FEWEST and not self.combination:
            changed = {cell.feature for cell in self.changes}
            named += [
                r.cell() for r in self.reasons if r.feature in changed and r.cell() not in named
            ]
        if self.combination and len(named) < _FEWEST:
            named.append("the other values")
        if len(named) < _FEWEST:
            return ONLY_TOGETHER
        return f"unusual only together: {and_list(named[:_SOME])}"

    def limit(self) -> str:
        """Say how far from the limit the row is, and how rare that is."""
        rarity = "" if self.p_value is None else f", {p_text(self.p_value)}"
        return f"{times_limit(self.distance, self.threshold)}{rarity}"

    def headline(self) -> str:
        """Return the verdict as a line."""
        if self.label == 0:
            return f"{self.row_label}: not judged, it has no value"
        if self.muted:
            return f"{self.row_label}: normal, muted by your rule: {self.muted}"
        return f"{self.row_label}: {'normal' if self.label == 1 else 'outlier'}, {self.limit()}"

    def text(self, reasons: int = 3) -> str:
        """Return what a person reads: a sentence, then how far out, the reasons, a way out."""
        if self.label != -1:
            return "\n  ".join([self.headline(), *self.because(reasons)])
        lines = self.because(reasons)
        if not self.together and not self._no_value:
            lead = self.reasons[0]
            lines[0] = f"{called(lead.feature)[0]}: {lead.details()}{self._accepted(lead)}"
        else:
            lines = lines[1:]
        return "\n  ".join([f"{self.row_label}: outlier; {self.sentence()}", self.limit(), *lines])

    def because(self, reasons: int = 3) -> list[str]:
        """Return the reasons, a sentence each, and what would have to change.

        Of a normal row only what one would not expect: values outside their normal range.
        """
        if self.muted:
            return []
        if self.label != -1:
            return [
                f"{reason.sentence()}; the row is normal all the same"
                for reason in self.reasons
                if self.label and reason.normal and not reason.inside and not reason.missing
            ]
        shown = self.first(reasons)
        said = [f"{reason}{self._accepted(reason)}" for reason in shown]
        if self._no_value:
            return [self.sentence()]
        if self.together:
            said, shown = [self.sentence()], []
        return [*said, *self._way_out(shown)]

    def first(self, reasons: int = 3) -> list[Reason]:
        """Return the first reasons that matter, and all that make an outlier by themselves."""
        if self.label != -1:
            return []
        return [
            reason
            for rank, reason in enumerate(self.reasons)
            if reason.matters(rank) and (rank < reasons or reason.novel)
        ]

    def _accepted(self, reason: Reason) -> str:
        """Say from where on a value would be normal, unless that is what is expected."""
        if reason.stated is None or reason.expected is not None:
            return ""
        named = (reason.stated, reason.stated) in reason.normal
        about = "" if reason.exact or named else "about "
        outside = "" if within(reason.stated, reason.normal) else ", although outside"
        return f"; normal from {about}{in_full(reason.stated)}{outside}"

    def _way_out(self, shown: Sequence[Reason]) -> list[str]:
        """Name the smallest set of changes, unless a reason above has named its own."""
        if not self.changes or any(self._accepted(reason) for reason in shown):
            return []
        if len(self.changes) <= _MOST_NAMED:
            return [f"would be normal with {and_list([str(cell) for cell in self.changes])}"]
        some = and_list([str(cell) for cell in self.changes[:_SOME]])
        return [f"would be normal with {len(self.changes)} values changed, among them {some}"]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: the reasons that matter alone.

        Returns
        -------
        dict
            ``row``, ``name``, ``label`` (null if the row is not judged), ``verdict`` (the same in
            words), ``distance``, ``threshold``, ``p_value``, ``sentence``, ``reasons``,
            ``changes``, ``together``, ``combination`` (names of columns), ``muted`` (the rule that
            mutes the row, or null).
        """
        return {
            "row": self.row,
            "name": None if self.name is None else str(self.name),
            "label": self.label or None,
            "verdict": {1: "normal", -1: "outlier"}.get(self.label),
            "distance": plain(self.distance),
            "threshold": self.threshold,
            "p_value": plain(self.p_value),
            "sentence": self.sentence(),
            "reasons": [reason.to_dict() for reason in self.first(len(self.reasons))],
            "changes": [
                {"feature": cell.feature, "value": plain(cell.value)} for cell in self.changes
            ],
            "together": self.together,
            "combination": [reason.feature for reason in self.combination],
            "muted": self.muted or None,
        }

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_of([self])


class Explanations(ResultSequence[Explanation]):
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
        self._items = tuple(rows)

    def worst(self, n: int) -> Explanations:
        """Return the n rows that are farthest out, the worst first."""
        judged = (row for row in self._items if row.label)
        return Explanations(sorted(judged, key=lambda row: -row.distance)[:n])

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return everything as plain values, ready for JSON: ``rows``, one entry each."""
        return {"rows": [row.to_dict() for row in self._items]}

    def _columns(self) -> dict[str, list[Any]]:
        """Return one entry per row and column, as columns of plain values."""
        columns: dict[str, list[Any]] = {
            name: []
            for name in (
                *("row", "label", "distance", "p_value", "rank", "feature", "value"),
                *("contribution", "share", "normal", "accepted_at", "exact", "expected"),
                *("inside", "beside", "change_to", "role", "view", "sentence"),
            )
        }
        for row in self._items:
            changes = {cell.feature: cell.value for cell in row.changes}
            for rank, reason in enumerate(row.reasons, start=1):
                entry = {
                    **{k: getattr(row, k) for k in ("row", "label", "distance", "p_value")},
                    **vars(reason),
                    "rank": rank,
                    "normal": ranges_text(reason.normal),
                    "beside": and_list([cell.text(number) for cell in reason.beside]),
                    "change_to": changes.get(reason.feature),
                    "sentence": reason.sentence(),
                }
                for name, values in columns.items():
                    values.append(entry[name])
        return columns

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a line per row and column as a dataframe of pandas, polars or pyarrow."""
        columns = self._columns()
        texts = ["feature", "normal", "beside", "role", "view", "sentence"]
        for name in ("value", "change_to"):  # numbers, unless there are texts among them
            if any(isinstance(value, str) for value in columns[name]):
                columns[name] = _written(columns[name])
                texts.append(name)
        others = ("row", "label", "rank", "exact", "inside", *texts)
        for name in columns.keys() - {*others}:
            columns[name] = [math.nan if value is None else value for value in columns[name]]
        return native_frame(
            columns,
            backend,
            integers=("row", "label", "rank"),
            texts=texts,
            booleans=("exact", "inside"),
        )

    def __repr__(self) -> str:
        odd = sum(row.label == -1 for row in self._items)
        return f"Explanations({len(self)} rows, {odd} outliers)"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._items))

    def _repr_html_(self) -> str:
        return html_of(self._items)


def _written(values: Sequence[float | str | None]) -> list[str | None]:
    """Return values as texts; None where there is none."""
    numbers = (v if isinstance(v, str) or v is None or v == v else None for v in values)
    return [f"{v:.17g}" if isinstance(v, float) else v for v in numbers]

"""What an explanation says, typed, as a table and as text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import narwhals.stable.v2 as nw

from refold._typing import Ranges
from refold.base.words import printable


@dataclass(frozen=True)
class Reason:
    """One feature's part in a row's distance.

    Attributes
    ----------
    feature : str
        Its name.
    value : float
        What the row has; NaN if missing.
    contribution : float
        Its part of the distance; the contributions of a row add up to the distance.
    share : float
        The same as a share of the distance; the shares of a row add up to 1.
    normal : tuple of (low, high)
        The range or ranges in which nearly all training rows lie.
    accepted_at : float or None
        The nearest value of this feature alone at which the row would be accepted: its own if it is
        accepted, None if there is none.
    exact : bool
        Whether `accepted_at` was computed (fold abs) or searched for.
    expected : float or None
        CreasedREF: what the other values of the row lead to expect. Its contributions, how much the
        distance would drop had the feature this value, do not add up.
    """

    feature: str
    value: float
    contribution: float
    share: float
    normal: Ranges
    accepted_at: float | None
    exact: bool
    expected: float | None = None

    def __str__(self) -> str:
        name, unit = split_unit(printable(self.feature))
        value = "missing" if math.isnan(self.value) else f"{number(self.value)}{unit}"
        if self.expected is not None:
            return (
                f"{name}: expected {number(self.expected)}{unit}, got {value}; "
                f"normal {ranges_text(self.normal)}"
            )
        return (
            f"{name} {value}: {100 * self.share:.0f} % of the distance; "
            f"normal {ranges_text(self.normal)}"
        )


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
        Its features, the largest share first.
    """

    row: int
    label: int
    distance: float
    threshold: float
    p_value: float | None
    reasons: tuple[Reason, ...]

    def text(self, reasons: int = 3) -> str:
        """Return what a person reads: the verdict and the first reasons, a line each."""
        if self.label == 0:
            return f"row {self.row}: not judged, it has no value"
        verdict = "normal" if self.label == 1 else "NOT normal"
        rarity = "" if self.p_value is None else f", p = {self.p_value:.2g}"
        lines = [
            f"row {self.row}: {verdict}, distance {number(self.distance)} "
            f"(normal up to {number(self.threshold)}{rarity})"
        ]
        for reason in self.reasons[:reasons]:
            if reason.share > 0.0:
                lines.append(f"  {reason}{self._way_out(reason)}")
        return "\n".join(lines)

    def _way_out(self, reason: Reason) -> str:
        if self.label == 1 or reason.expected is not None:
            return ""
        if reason.accepted_at is None:
            return "; no value of it alone would do"
        about = "" if reason.exact else "about "
        return f"; accepted from {about}{number(reason.accepted_at)}"

    def __str__(self) -> str:
        return self.text()


class Explanations(Sequence[Explanation]):
    """The explanations of a table's rows, in their order."""

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
            )
        }
        for row in self._rows:
            for rank, reason in enumerate(row.reasons, start=1):
                entry = {
                    **{k: getattr(row, k) for k in ("row", "label", "distance", "p_value")},
                    **vars(reason),
                    "rank": rank,
                    "normal": ranges_text(reason.normal),
                }
                for name, values in columns.items():
                    values.append(entry[name])
        return columns

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the same as a dataframe of pandas, polars or pyarrow."""
        columns = self.to_dict()
        kinds = {name: nw.Float64() for name in ("p_value", "accepted_at", "expected")}
        types = {
            "row": nw.Int64(),
            "label": nw.Int64(),
            "rank": nw.Int64(),
            "feature": nw.String(),
            "normal": nw.String(),
            "exact": nw.Boolean(),
            **kinds,
        }
        schema = {name: types.get(name, nw.Float64()) for name in columns}
        for name in kinds:
            columns[name] = [math.nan if v is None else v for v in columns[name]]
        return nw.from_dict(columns, schema, backend=backend).to_native()

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._rows))


def number(value: float) -> str:
    """Return a number with the digits that a person reads."""
    return f"{value:.4g}" if abs(value) < 1e4 or abs(value) >= 1e15 else f"{value:,.0f}"


def split_unit(feature: str) -> tuple[str, str]:
    """Split "torque [Nm]" into the name and what follows a value of it."""
    match = re.fullmatch(r"(.+?)\s*\[([^\[\]]+)\]", feature)
    return (match[1], f" {match[2]}") if match else (feature, "")


def ranges_text(ranges: Ranges) -> str:
    """Return "70.1–78.4", "0 or 1", "0–5 or 20–30"."""
    return " or ".join(
        number(low) if low == high else f"{number(low)}–{number(high)}" for low, high in ranges
    )

"""One column's part in why a row is an outlier: typed, as plain values and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from refold._typing import Ranges
from refold.base.results import plain_fields
from refold.base.words import number, printable, quoted, shortened, whole_percent
from refold.judgement import LEAST_SHARE
from refold.judgement.number_text import (
    and_list,
    as_read,
    digits_that,
    in_data_digits,
    in_full,
    ranges_text,
    split_unit,
)

# Less than this share of the training rows is worth a word.
_FEW = 0.05

# What the measures of a column over a window are called.
_MEASURES = {
    "step": "step of {0}",
    "mean": "mean of {0} over {1}",
    "sd": "standard deviation of {0} over {1}",
    "unchanged": "rows with the same {0}",
}


@dataclass(frozen=True)
class Cell:
    """A value of a column."""

    feature: str  #: the column's name
    value: float | str  #: the value; a text as it was written
    unit: str = ""  #: the unit that its cells have, if the name has none
    decimals: int | None = None  #: how many digits the column's values have behind the point

    def text(self, digits: Callable[[float], str] = in_full) -> str:
        """Return "torque 91.2 Nm", "carrier 'UA'"."""
        name, unit = called(self.feature, self.unit)
        if isinstance(self.value, str):
            return f"{name} {quoted(self.value)}"
        if math.isnan(self.value):
            return f"{printable(self.feature)} missing"
        fits = self.decimals is not None and round(self.value, self.decimals) == self.value
        shown = in_data_digits(self.value, self.decimals) if fits else digits(self.value)
        return f"{name} {shown}{unit}"

    def __str__(self) -> str:
        return self.text()


def called(feature: str, unit: str = "") -> tuple[str, str]:
    """Return the name of a column without its unit, and the unit as it follows a value."""
    name, own = split_unit(printable(feature))
    return name, own or (f" {printable(unit)}" if unit else "")


@dataclass(frozen=True)
class Reason:
    """One column's part in a row's distance.

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

    feature: str  #: the column's name
    value: float | str  #: what the row has; a text as it was written, NaN if missing
    #: Its part of the distance. REF's add up to the distance. CreasedREF's, how much the distance
    #: would drop had the column the value that is expected, do not.
    contribution: float
    #: Its share of the distance. The shares of a row add up to at most 1; in an outlier a value
    #: that many training rows have, or that is as expected, has little or none.
    share: float
    #: The range or ranges that were learned, without cells that are cut off; empty unless the
    #: column is a number
    normal: Ranges
    #: Whether the value was learned: it is in a range, and not between the values of a discrete
    #: column; False if missing. Of texts and dates: whether it is usual.
    inside: bool
    #: The share of training rows that are as far out, on the same side, or as surprising
    as_far: float
    #: The other values of the row that this one is unlikely with, if the row is an outlier
    beside: tuple[Cell, ...] = ()
    #: A value of this column alone with which the row would be normal: its own if the row is, the
    #: nearest by REF, the expected one by CreasedREF; None if there is none or it was not asked for
    accepted_at: float | None = None
    #: The same, with as few digits as are accepted too: what the text names
    stated: float | None = None
    exact: bool = False  #: whether `accepted_at` was computed (fold abs) or searched for
    #: CreasedREF: what the other values of the row let expect. None if that is unknown, or the
    #: value itself.
    expected: float | None = None
    #: What the column is: "number", "category", "text", "identifier" or "date"
    role: str = "number"
    #: Of a table that was encoded: in which respect the value is odd, such as "unseen", "value",
    #: "shape", "hour", "missing", "unreadable", or "beside" another; empty if it is usual
    view: str = ""
    words: str = ""  #: the same as a sentence behind the column and its value
    #: Which limit of the user's own the value violates: "is outside the limit you set, 0–5"
    rule: str = ""
    #: Whether the column seemed closed and never had such a value: the row is an outlier for that
    novel: bool = False
    unit: str = ""  #: the unit that the column's cells have
    #: How many digits the column's values have behind the point; None if they have many
    decimals: int | None = None
    given: str = ""  #: the context that the value is judged in, such as "for machine M17"
    #: Of a measure of the last rows: "step", "mean", "sd" or "unchanged"; else empty
    measure: str = ""
    of: str = ""  #: of, window: the column that it is of, and the window, such as "30 rows"
    window: str = ""

    @property
    def missing(self) -> bool:
        """Whether the row has no value."""
        return not isinstance(self.value, str) and math.isnan(self.value)

    @property
    def usual(self) -> bool:
        """Whether nothing is odd about a text or a date by itself."""
        return not self.normal and not self.view

    def matters(self, rank: int) -> bool:
        """Whether it is a reason, as the first (0), second (1), … of its row."""
        if self.novel:
            return True
        return self.share >= LEAST_SHARE and (rank == 0 or not self.usual)

    def sentence(self) -> str:
        """Say what is odd about the value, in the column's own unit and digits.

        Returns
        -------
        str
            "weight 345 g is 34 g below the lowest normal value, 379 g".

        Examples
        --------
        >>> from refold.explanation import Reason
        >>> reason = Reason("weight_g", 345.0, 9.0, 1.0, ((379.0, 410.0),), False, 0.0)
        >>> reason.sentence()
        'weight 345 g is 34 g below the lowest normal value, 379 g'
        """
        cell = self.cell()
        if self.rule:
            return f"{printable(self.feature) if self.missing else cell} {self.rule}"
        if self.measure:
            return self._of_window()
        if isinstance(self.value, str):
            return f"{cell} {self.words}".rstrip()
        if self.missing:
            return f"{printable(self.feature)} is missing{self.words and f'; {self.words}'}"
        if not self.normal:
            return f"{cell} {self.words}".rstrip()
        low, high, unit = self.normal[0][0], self.normal[-1][1], self._unit
        given = f" {printable(self.given)}" if self.given else ""
        if self.value > high:
            off = self._difference(self.value, high)
            return (
                f"{cell} is {off}{unit} above the highest normal value{given}, {self._shown(high)}"
            )
        if self.value < low:
            off = self._difference(low, self.value)
            return f"{cell} is {off}{unit} below the lowest normal value{given}, {self._shown(low)}"
        if not self.inside:
            return f"{cell} is between the normal values {self._ranges()}"
        if self.words:
            return f"{cell} {self.words}"
        others = and_list([other.text(number) for other in self.beside])
        if self.expected is not None:
            beside = others or "the other values"
            return f"{cell} is unusual{given} with {beside}: expected {self._shown(self.expected)}"
        odd = "is far out" if self.as_far <= _FEW else "is unusual"
        return f"{cell} {odd} together with {others or 'the other values'}"

    def _of_window(self) -> str:
        """Say what is odd about the last rows."""
        value, given = float(self.value), f" {printable(self.given)}" if self.given else ""
        name, _ = called(self.of, self.unit)
        normal = f"normal{given}: {self._ranges()}"
        if self.measure == "unchanged":
            normal = f"normal{given}: at most {self._number(self.normal[-1][1])}"
        if self.inside and self.expected is not None:
            normal = f"expected with the other values{given}: {self._shown(self.expected)}"
        if self.measure == "unchanged" and value > 1.0:
            return f"{name} has not changed for {self._number(value)} rows ({normal})"
        if self.measure == "step":
            return f"{name} changed by {self._shown(value)} from the row before ({normal})"
        return f"{self.cell()} ({normal})"

    def details(self) -> str:
        """Say how much it matters, and what is normal."""
        parts = [f"{whole_percent(self.share)} of the distance"]
        if self.normal and self.rule:  # what is normal, the user has said
            parts.append(f"learned from {self._ranges()}")
        elif self.normal and self.inside:
            parts.append(f"inside its normal range {self._ranges()}")
            if self.as_far <= _FEW:
                parts.append(f"{whole_percent(self.as_far)} of the training rows are as far out")
        elif self.normal:
            parts.append(f"normal {self._ranges()}")
        told = self.normal and self.inside and not self.words
        if self.expected is not None and not told:
            parts.append(f"expected {self._shown(self.expected)}")
        return "; ".join(parts)

    def __str__(self) -> str:
        return f"{self.sentence()} – {self.details()}"

    def cell(self) -> str:
        """Return the column and its value: "weight 345 g", "weight missing"."""
        name, _ = called(self.of or self.feature, self.unit)
        if self.measure and not isinstance(self.value, str):
            return f"{_MEASURES[self.measure].format(name, self.window)} {self._shown(self.value)}"
        if self.missing:
            return f"{printable(self.feature)} missing"
        if isinstance(self.value, str):
            plain = self.role == "date" and self.view != "unreadable"
            return f"{name} {shortened(self.value) if plain else quoted(self.value)}"
        return f"{name} {self._shown(self.value)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the sentence as plain values; null where there is no number."""
        return {**plain_fields(self), "sentence": self.sentence()}

    @property
    def _unit(self) -> str:
        return "" if self.measure == "unchanged" else called(self.of or self.feature, self.unit)[1]

    def _number(self, value: float) -> str:
        return in_data_digits(value, self.decimals, self._digits())

    def _shown(self, value: float) -> str:
        return f"{self._number(value)}{self._unit}"

    def _difference(self, high: float, low: float) -> str:
        """Subtract numbers as they are read, so that who checks it comes to the same."""
        texts = [self._number(value).replace("−", "-").replace(",", "") for value in (high, low)]
        with localcontext(prec=40):
            difference = Decimal(texts[0]) - Decimal(texts[1])
        if abs(difference) >= 10**15 or "e" in "".join(texts) or self.decimals is None:
            return number(float(difference))
        text = f"{difference:,f}" if abs(difference) >= 10**4 else f"{difference:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

    def _ranges(self) -> str:
        return f"{ranges_text(self.normal, self._digits(), self.decimals)}{self._unit}"

    def _digits(self) -> int:
        """Return how many digits show on which side of the ends the numbers are."""
        value = math.nan if isinstance(self.value, str) else self.value
        stated = value if self.stated is None else self.stated
        truth = [within(v, self.normal) for v in (value, stated)]

        def shows(digits: int) -> bool:
            ends = [(as_read(low, digits), as_read(high, digits)) for low, high in self.normal]
            named = stated if self.stated is not None else as_read(stated, digits)  # in full
            return [within(v, ends) for v in (as_read(value, digits), named)] == truth

        return digits_that(shows)


def within(value: float | str, ranges: Sequence[tuple[float, float]]) -> bool:
    return not isinstance(value, str) and any(low <= value <= high for low, high in ranges)

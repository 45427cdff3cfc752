"""What was noticed about a table or a model, in words and in fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refold.base.advice import NO_ADVICE, Advice, Setting, in_python

if TYPE_CHECKING:
    from refold._typing import Integers

ONE_BY_ONE, _NAMED = 3, 5


class RateWarning(UserWarning):
    """A model will not keep the rate that it was asked for, or keeps it without seeing much.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from refold import REF, RateWarning
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(25, 12)))
    >>> [warning.category.__name__ for warning in said], model.noticed_[0].kind
    (['RateWarning'], 'too-few-rows')
    """


class RowText(str):
    """A sentence that names rows of a table, counted from 0, and can name them otherwise.

    >>> RowText.of("a is infinite in row ", 1234, ".").labelled(lambda row: f"P{row}")
    'a is infinite in row P1234.'
    """

    parts: tuple[str | int, ...]

    @classmethod
    def of(cls, *parts: str | int, label: Callable[[int], str] = "{:,}".format) -> RowText:
        """Join texts and rows."""
        text = cls("".join(part if isinstance(part, str) else label(part) for part in parts))
        text.parts = parts
        return text

    @property
    def is_numbered(self) -> bool:
        """Whether it calls rows by their numbers, counted from 0."""
        return self == RowText.of(*self.parts)

    def labelled(self, label: Callable[[int], str]) -> RowText:
        """Return the same with other names of rows."""
        return RowText.of(*self.parts, label=label)

    def moved(self, places: Integers) -> RowText:
        """Return the same about rows that are in other places."""
        return RowText.of(
            *(part if isinstance(part, str) else int(places[part]) for part in self.parts)
        )


@dataclass(frozen=True)
class Finding:
    """One thing that somebody who knows the table should look at.

    Examples
    --------
    >>> from refold.base.findings import Finding
    >>> print(Finding("constant", "gear", message="gear is always 5."))
    gear is always 5.
    """

    kind: str  #: what it is, for programs: ``"absurd-cell"``, ``"too-few-rows"``, …
    column: str | None = None  #: which column it is about, if one
    rows: tuple[int, ...] = ()  #: which training rows, from 0, as far as they are known
    values: tuple[float | str, ...] = ()  #: the values in question
    message: str = ""  #: what it is, for people: a sentence; a `RowText` where it names rows
    advice: Advice = NO_ADVICE  #: what to do about it, as data; false if there is none

    def __str__(self) -> str:
        return self.render(in_python)

    def render(self, setting: Setting) -> str:
        """Return message and advice; `setting` says how a surface sets what is advised."""
        return f"{self.message} {self.advice.render(setting)}".strip()

    def about(self, column: str) -> Finding:
        """Return the same about the column under another name; its message begins with it."""
        first, *rest = self.message.parts if isinstance(self.message, RowText) else [self.message]
        message = RowText.of(column + str(first).removeprefix(self.column or ""), *rest)
        advice = self.advice
        if advice.column is not None and advice.column == self.column:
            advice = replace(advice, column=column)
        return replace(self, column=column, message=message, advice=advice)

    def numbered(self, numbers: Integers) -> Finding:
        """Return the same about rows of a file, which its message counts from 1.

        `numbers` are theirs, from 1; `rows` stay counted from 0.
        """
        return self.renumbered(numbers - 1).one_based()

    def renumbered(self, places: Integers) -> Finding:
        """Return the same about rows that are in other places, in its message too."""
        text = self.message
        message = text.moved(places) if isinstance(text, RowText) else text
        return replace(self, rows=tuple(int(places[row]) for row in self.rows), message=message)

    def one_based(self) -> Finding:
        """Return the same in words for people who count rows from 1, as the command line does."""
        return self.with_row_labels(lambda row: f"{row + 1:,}")

    def with_row_labels(self, name: Callable[[int], str]) -> Finding:
        """Return the same in words that call rows, counted from 0, as `name` does."""
        text = self.message
        return replace(self, message=text.labelled(name) if isinstance(text, RowText) else text)


def told(
    findings: Iterable[Finding], setting: Setting = in_python, most: int = ONE_BY_ONE
) -> Iterator[str]:
    r"""Return what to tell people of findings: `most` of a kind, and where there are more.

    `setting` says how a surface sets what is advised.

    >>> found = [Finding("constant", c, message=f"{c} is always 5.") for c in "abcdefghij"]
    >>> print(*told(found), sep="\n")
    a is always 5.
    b is always 5.
    c is always 5.
    The same holds 7 more times, in d, e, f, g, h, ….
    """
    kinds: dict[str, list[Finding]] = {}
    for found in findings:
        kinds.setdefault(found.kind, []).append(found)
    for alike in kinds.values():
        yield from (found.render(setting) for found in alike[:most])
        rest = alike[most:]
        if rest:
            # What is about several columns has them as its values.
            about = ([found.column] if found.column else found.values for found in rest)
            columns = list(dict.fromkeys(str(column) for each in about for column in each))
            named = ", ".join(columns[:_NAMED]) + (", …" if len(columns) > _NAMED else "")
            times = "once more" if len(rest) == 1 else f"{len(rest)} more times"
            yield f"The same holds {times}, in {named}."


def rows_left_out(rows: Sequence[int], of: int, where: str = "") -> Finding:
    """Return a finding that says that somebody has left rows out, counted from 1.

    >>> print(rows_left_out([3], 100))
    1 of 100 rows was left out: somebody has looked at the rows that look least like the rest, and
    ticked it.
    """
    were, them = ("was", "it") if len(rows) == 1 else ("were", "them")
    return Finding(
        kind="left-out",
        rows=tuple(row - 1 for row in rows),
        message=f"{len(rows):,} of {of:,} rows {were} left out: somebody has looked at the rows "
        f"that look least like the rest, and ticked {them}{where and f' in {where}'}.",
    )

"""What was noticed about a table or a model, in words and in fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

_ONE_BY_ONE, _NAMED = 3, 5


class RateWarning(UserWarning):
    """A model will not keep the rate that it was asked for, or keeps it without seeing much."""


@dataclass(frozen=True)
class Finding:
    """One thing that somebody who knows the table should look at.

    Parameters
    ----------
    kind : str
        What it is, for programs: ``"absurd-cell"``, ``"too-few-rows"``, …
    message : str
        What it is, for people: a sentence.
    column : str or None
        Which column it is about, if one.
    rows : tuple of int
        Which training rows, from 0, as far as they are known.
    values : tuple of float or str
        The values in question.
    advice : str
        What to do about it; may be empty.

    Examples
    --------
    >>> from refold.base.findings import Finding
    >>> print(Finding("constant", "gear is always 5."))
    gear is always 5.
    """

    kind: str
    message: str
    column: str | None = None
    rows: tuple[int, ...] = ()
    values: tuple[float | str, ...] = ()
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()

    def about(self, column: str) -> Finding:
        """Return the same about the column under another name; its message begins with it."""
        message = column + self.message.removeprefix(self.column or "")
        return replace(self, column=column, message=message)

    def counting_from_one(self) -> Finding:
        """Return the same in words for people who count rows from 1, as the command line does."""
        message = self.message
        for row in self.rows:
            message = message.replace(f"in row {row:,} ", f"in row {row + 1:,} ")
        return replace(self, message=message)


def told(findings: Iterable[Finding]) -> Iterator[str]:
    r"""Return what to tell people of findings: three of a kind, and where there are more.

    Examples
    --------
    >>> from refold.base.findings import Finding, told
    >>> print(*told(Finding("constant", f"{c} is always 5.", c) for c in "abcdefghij"), sep="\n")
    a is always 5.
    b is always 5.
    c is always 5.
    So it is 7 more times, in d, e, f, g, h, ….
    """
    kinds: dict[str, list[Finding]] = {}
    for found in findings:
        kinds.setdefault(found.kind, []).append(found)
    for alike in kinds.values():
        yield from map(str, alike[:_ONE_BY_ONE])
        rest = alike[_ONE_BY_ONE:]
        if rest:
            columns = list(dict.fromkeys(str(found.column) for found in rest))
            named = ", ".join(columns[:_NAMED]) + (", …" if len(columns) > _NAMED else "")
            times = "once more" if len(rest) == 1 else f"{len(rest)} more times"
            yield f"So it is {times}, in {named}."

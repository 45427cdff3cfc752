"""What was noticed about a table or a model, in words and in fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

_NAMED = 5


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


def told(findings: Iterable[Finding]) -> Iterator[str]:
    """Return what to tell people of findings: what is alike in many columns, once.

    Examples
    --------
    >>> from refold.base.findings import Finding, told
    >>> [*told([Finding("constant", f"{c} is always 5.", c) for c in "abc"])]
    ['a is always 5. So it is with 2 other columns: b, c.']
    """
    kinds: dict[str, list[Finding]] = {}
    for found in findings:
        kinds.setdefault(found.kind, []).append(found)
    for first, *others in kinds.values():
        if not others:
            yield str(first)
        elif all(found.column is not None for found in others):
            named = ", ".join(str(found.column) for found in others[:_NAMED])
            more = ", …" if len(others) > _NAMED else ""
            columns = "column" if len(others) == 1 else "columns"
            yield f"{first} So it is with {len(others)} other {columns}: {named}{more}."
        else:
            yield from map(str, (first, *others))

"""What was noticed about a table or a model, in words and in fields."""

from __future__ import annotations

from dataclasses import dataclass


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

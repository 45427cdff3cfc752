"""Lines of totals at the end of a table, which are no rows of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

_WORD = re.compile(
    r"(?:grand |sub-?)?totals?(?: général)?|(?:gesamt|end|zwischen)?summen?|sums?|insgesamt|gesamt"
    r"(?:betrag|ergebnis|wert)?|totale|totaal|total(?:es)?|somme|suma|summa|[Σ∑]",
    re.IGNORECASE,
)
_MOST = 3  # lines of totals
_FEWEST, _FEWEST_UNSAID = 2, 5  # rows that a total is of, with and without its word
_FILLED = 0.9  # share of a column's cells


def is_total_word(cell: Any) -> bool:
    """Whether a cell says that its row has totals."""
    return isinstance(cell, str) and _WORD.fullmatch(cell.strip().rstrip(":.")) is not None


def count_totals(rows: Sequence[Sequence[Any]], number: Callable[[Any], float | None]) -> int:
    """Return how many of the last rows have totals of those above.

    A row of totals says so ("Summe", "Total"), which no row above does in that column, and has sums
    of columns, or nothing where the others have something. Without the word all its numbers, at
    least two, are sums, and some other cell is empty.

    Parameters
    ----------
    rows : sequence of sequence
        The cells of all rows at hand; an empty one is ``""`` or None.
    number : callable
        Returns the number in a cell; None if there is none.

    Examples
    --------
    >>> from refold.tabular.totals import count_totals
    >>> rows = [["A", "x", "1"], ["B", "y", "2"], ["Total", "", "3"]]
    >>> count_totals(rows, lambda cell: float(cell) if cell.isdigit() else None)
    1
    """
    totals = 0
    while totals < _MOST and _is_total(rows[len(rows) - totals - 1 :: -1], number):
        totals += 1
    return totals


def _is_total(upwards: Sequence[Sequence[Any]], number: Callable[[Any], float | None]) -> bool:
    last = upwards[0] if upwards else ()
    above = [row for row in upwards[1:] if len(row) == len(last)]
    if len(above) < _FEWEST:
        return False
    said = [k for k, cell in enumerate(last) if is_total_word(cell)]
    empty = [k for k, cell in enumerate(last) if _is_empty(cell)]
    numbers = {k: value for k, cell in enumerate(last) if (value := number(cell)) is not None}
    if not said and (not empty or len(numbers) < 2 or len(above) < _FEWEST_UNSAID):
        return False
    if any(is_total_word(row[k]) for row in above for k in said):
        return False
    enough = _FILLED * len(above)
    lacking = any(sum(not _is_empty(row[k]) for row in above) >= enough for k in empty)
    sums = (
        _is_sum(last[k], value, [number(row[k]) for row in above]) for k, value in numbers.items()
    )
    return (lacking or any(sums)) if said else (lacking and all(sums))


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_sum(cell: Any, value: float, above: Sequence[float | None]) -> bool:
    """Whether a number is the sum of others, as far as rounded ones can tell."""
    known = [other for other in above if other]
    if len(known) < _FEWEST:
        return False
    digits = re.search(r"[.,]([0-9]+)\s*$", cell) if isinstance(cell, str) else None
    last_digit = 10.0 ** -len(digits[1]) if digits else 1e-6 * max(1.0, abs(value))
    rounded = last_digit * math.sqrt(len(known))
    return math.isclose(math.fsum(known), value, rel_tol=1e-9, abs_tol=rounded)

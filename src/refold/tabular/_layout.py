"""Where a table begins and ends in a file: titles, names and units above it, totals below."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from refold.base.advice import Advice
from refold.columns.missing import is_missing
from refold.tabular._cell_text import cell_kind
from refold.tabular.errors import InputError, listed

Rows = Sequence[Sequence[str]]

_PREFIX = "(?:[yzafpnuµμmcdhkMGTP]|da)?"
_BASE = (
    "(?:m|g|s|A|K|mol|cd|Hz|N|Nm|Nmm|Ncm|Pa|J|W|C|V|F|Ω|Ohm|ohm|S|Wb|T|H|lm|lx|Bq|Gy|Sv|bar|l|L|t|eV|Wh|Ah|VA|"
    "var|dB|dBm|B|bit|rad|px)"
)
_OTHER = (
    "(?:°C|°F|°K|°|degC|degF|deg|grd|%|‰|ppm|ppb|psi|h|min|sec|d|a|y|rpm|U|1|pcs|pc|Stk|St|EUR|€|USD|"
    '\\$|GBP|£|CHF|in|inch|"|ft|yd|mi|mile|lb|lbs|lbf|oz|gal|mph|mmHg|atm|cal|kcal|count|counts|RH|'
    "rH|rF|VDC|VAC|AC|DC|a\\.u\\.|pH)"
)
_ONE = f"(?:{_OTHER}|{_PREFIX}{_BASE})(?:\\^?-?[0-9]|[²³¹⁻]+)?"
_UNIT = re.compile(f"{_ONE}(?:[ ]?[/*·.⋅ ][ ]?{_ONE})*(?: ?(?:RH|rH|abs|rel))?")
_FORMAT = re.compile(r"[dmyhsDMYHST]{1,4}([-/.: ][dmyhsDMYHSTf]{1,4}){1,6}")
_BRACKETS = re.compile(r"\[.{0,20}\]|\(.{0,20}\)|<.{0,20}>")
_MOMENT = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?|\d{1,2}:\d{2}(:\d{2}.*)?")
_MOST_TITLES = 100


def titles_above(rows: Rows, decimal: str) -> int:
    """Say how many records stand above the one that names the columns; 0 unless it is clear.

    It is clear if every column has a name that is no number, all that follows has as many cells,
    and above there is only a line of text, or a word and its value.
    """
    if not rows:  # the first record is already more than can be looked at
        return 0
    usual, _ = Counter(map(len, rows)).most_common(1)[0]
    most = max(_filled(row) for row in rows if len(row) == usual)
    for k, row in enumerate(rows[:_MOST_TITLES]):
        if abs(len(row) - usual) <= 1 < usual and _filled(row) == most:
            below = rows[k + 1 :]
            names = not any(cell_kind(cell, decimal) or is_moment(cell.strip()) for cell in row)
            even = bool(below) and all(len(other) == usual for other in below)
            short = all(len(title) < usual or _filled(title) <= 1 for title in rows[:k])
            return k if names and even and (short or _has_numbers(below, decimal)) else 0
        if any(cell.strip() for cell in row[2:]) or (row and not row[0].strip() and _filled(row)):
            return 0
    return 0


def joined_names(rows: Rows, decimal: str) -> list[str]:
    """Return the names that the first two rows give together; nothing unless it is clear.

    The upper one names groups of columns: some of its cells are empty (as merged ones are) or
    repeated. The lower one has no numbers, and stands above columns of numbers.
    """
    if len(rows) < 4:
        return []
    upper, lower = ([cell.strip() for cell in row] for row in rows[:2])
    below = [row for row in rows[2:] if len(row) == len(upper)]
    if len(lower) != len(upper) or len(below) < 2:
        return []
    named = [name for name in upper if name]
    titled = len(named) == 1 and upper[0] != ""  # a title stands at the beginning, alone
    grouped = 0 < len(set(named)) < len(upper) and not titled
    texts = all(not cell_kind(cell, decimal) and not is_moment(cell) for cell in (*named, *lower))
    complete = all(a or b for a, b in zip(upper, lower, strict=True)) and sum(map(bool, lower)) > 1
    numeric = [k for k, cell in enumerate(lower) if cell and not is_missing(cell)]
    if not (grouped and texts and complete and all(not is_missing(c) or not c for c in lower)):
        return []
    if not any(_mostly_numbers([row[k] for row in below], decimal) for k in numeric):
        return []
    names, group = [], ""
    for above, name in zip(upper, lower, strict=True):
        group = above or group
        names.append(" ".join(dict.fromkeys(filter(None, [group if name else above, name]))))
    return names if len(set(names)) == len(names) else []


def titles_and_names(rows: Rows, decimal: str) -> tuple[int, list[str]]:
    """Say how many records stand above the names, and what two of these say together, if so."""
    if above := titles_above(rows, decimal):
        return above, joined_names(rows[above:], decimal)
    for titles, row in enumerate(rows[:_MOST_TITLES]):
        if names := joined_names(_as_wide(rows[titles:]), decimal):
            return titles, names
        if _filled(row) > 1:
            break
    return 0, []


def _as_wide(rows: Rows) -> Rows:
    """Return rows in which the first is filled up with empty cells to the width of the second."""
    if len(rows) < 2 or len(rows[0]) >= len(rows[1]):
        return rows
    return [[*rows[0], *[""] * (len(rows[1]) - len(rows[0]))], *rows[1:]]


def _filled(row: Sequence[str]) -> int:
    return sum(cell != "" and not cell.isspace() for cell in row)


def _has_numbers(rows: Rows, decimal: str) -> bool:
    columns = zip(*rows, strict=True)
    return any(_mostly_numbers(column, decimal) for column in columns)


def units_below(rows: Rows, names: Sequence[str], decimal: str) -> dict[str, str]:
    """Return the units if the first of the rows has those of the columns; nothing if in doubt.

    They stand in columns of numbers; elsewhere is nothing, or what cannot be but a unit.
    """
    if len(rows) < 2 or len(rows[0]) != len(names):
        return {}
    units = {}
    numeric = 0
    for k, (name, cell) in enumerate(zip(names, map(str.strip, rows[0]), strict=True)):
        said = _is_unit(cell)
        is_numeric = _mostly_numbers([row[k] for row in rows[1:] if len(row) > k], decimal)
        if not (said or is_missing(cell)):
            return {}
        numeric += is_numeric and said
        if said:
            units[name] = cell.strip("[]()<>").strip()
    return units if numeric else {}


def _is_unit(cell: str) -> bool:
    return any(form.fullmatch(cell) for form in (_UNIT, _BRACKETS, _FORMAT)) and not cell.isdigit()


def _mostly_numbers(cells: Sequence[str], decimal: str) -> bool:
    known = [cell for cell in cells if not is_missing(cell)]
    return 2 * sum(cell_kind(cell, decimal) == "number" for cell in known) > len(known)


def is_moment(cell: str) -> bool:
    """Whether a cell looks like a date or a time."""
    return _MOMENT.fullmatch(cell) is not None


def distinct(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names of which those that appear again are numbered (a.2), and these alone."""
    taken, found, changed = set(names), list[str](), list[str]()
    times: Counter[str] = Counter()
    for name in names:
        times[name] += 1
        new = name
        while times[name] > 1 and new in taken:
            new = f"{name}.{times[name]}"
            times[name] += new in taken
        if new != name:
            changed.append(new)
        taken.add(new)
        found.append(new)
    return found, changed


def about_repeated(changed: Sequence[str]) -> str:
    """Say which columns were given another name."""
    return f"some columns have the same name; the later ones are called {listed(changed)}."


def about_joined(names: Sequence[str], where: str) -> str:
    """Say that two rows name the columns."""
    return f"two {where} name the columns; they were joined: {listed(names, 5)}."


def refuse_numbers_as_names(names: Sequence[str], decimal: str, where: str) -> None:
    """Refuse names that are all numbers, as those of rows without a header are."""
    if all(cell_kind(name, decimal) == "number" for name in names):
        raise InputError(
            f"{where}: the names of the columns are all numbers.",
            advice=Advice("Say which", "header"),
        )


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
    least two, are sums, and some other cell is empty. `number` gives the number in a cell, or None.

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

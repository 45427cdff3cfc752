"""Which mark of a number stands before its fraction, and which between its thousands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from refold.base.needs import needs

_SPACES = " '’\u00a0\u202f"
_PLAIN = re.compile(r"[+-]?([0-9]*)([.,])([0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([.,{_SPACES}])[0-9]{{3}}(?:\1[0-9]{{3}})*([.,][0-9]+)?")


@dataclass(frozen=True)
class Marks:
    """How the numbers of a column are written.

    Parameters
    ----------
    decimal : str
        What stands before a fraction.
    thousands : str, default=""
        What stands between thousands, if anything does.
    """

    decimal: str
    thousands: str = ""

    def without_thousands(self, texts: Any) -> Any:
        """Return a column of text without these marks, where they stand as they should."""
        if not self.thousands:
            return texts
        pc, mark = needs("pyarrow.compute", "parquet"), re.escape(self.thousands)
        fraction = rf"(?:{re.escape(self.decimal)}[0-9]*)?"
        grouped = rf"^\s*[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+{fraction}\s*$"
        found = pc.match_substring_regex(texts, grouped)
        return pc.if_else(found, pc.replace_substring(texts, self.thousands, ""), texts)

    def plain(self, texts: Any) -> Any:
        """Return a column of text with numbers as Python writes them; other cells stay."""
        texts, mark = self.without_thousands(texts), re.escape(self.decimal)
        if self.decimal == ".":
            return texts
        pc = needs("pyarrow.compute", "parquet")
        number = rf"^\s*[+-]?(?:[0-9]+{mark}[0-9]*|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
        found = pc.match_substring_regex(texts, number)
        return pc.if_else(found, pc.replace_substring(texts, self.decimal, "."), texts)


def evidence(cell: str) -> tuple[Marks | None, str]:
    """Say how a number must be written, and otherwise which mark leaves it open.

    ``1,5`` has a decimal comma and ``1,234,567`` or ``1,234.5`` none; ``1,234`` may or may not.
    """
    cell = cell.strip()
    grouped = _GROUPED.fullmatch(cell)
    if grouped:
        mark, fraction = grouped.groups()
        if fraction and fraction[0] != mark:
            return Marks(fraction[0], mark), ""
        if fraction is None and (mark in _SPACES or cell.count(mark) > 1):
            return Marks("." if mark == "," else ",", mark) if mark in ".," else None, ""
    plain = _PLAIN.fullmatch(cell)
    if not plain:
        return None, ""
    whole, mark, fraction = plain.groups()
    may_be_thousands = len(fraction) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    return (None, mark) if may_be_thousands and "e" not in cell.lower() else (Marks(mark), "")


def own_marks(
    names: Sequence[str], rows: Sequence[Sequence[str]], decimal: str, delimiter: str
) -> tuple[dict[str, Marks], dict[str, str]]:
    """Return the marks of columns that are not written as the file is, and what is to be said.

    Most of a column's own cells decide; where these leave open what a comma means, the rest of the
    file does. How ``1,234`` was read then is to be said, unless other columns prove it.
    """
    columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
    found = {name: _Column.of(cells) for name, cells in zip(names, columns, strict=False)}
    proven = {column.marks.decimal for column in found.values() if column.marks}
    own, readings = {}, {}
    for name, column in found.items():
        if column.marks and column.marks != Marks(decimal):
            own[name] = column.marks
        if column.marks or column.open != {","}:
            continue
        if decimal == "." and (proven == {"."} or delimiter == ","):
            own[name], readings[name] = Marks(".", ","), "1234"
        elif decimal == "," and proven != {","}:
            readings[name] = "1.234"
    return own, readings


@dataclass(frozen=True)
class _Column:
    """What the first cells of a column say of its marks, and which mark they leave open."""

    marks: Marks | None
    open: set[str]

    @classmethod
    def of(cls, cells: Iterable[str]) -> _Column:
        seen = [evidence(cell) for cell in cells]
        certain = [marks for marks, _ in seen if marks]
        decimals = Counter(marks.decimal for marks in certain)
        if not certain or 2 * max(decimals.values()) == len(certain):
            return cls(None, {mark for _, mark in seen if mark})
        decimal = decimals.most_common(1)[0][0]
        thousands = max(marks.thousands for marks in certain if marks.decimal == decimal)
        return cls(Marks(decimal, thousands), set())


def file_decimal(cells: Iterable[str]) -> str:
    """Return what stands before fractions in most cells; those that are certain count first."""
    seen = [evidence(cell) for cell in cells]
    certain = [marks.decimal for marks, _ in seen if marks]
    marks = certain or [mark for _, mark in seen if mark]
    return "," if 2 * marks.count(",") > len(marks) else "."

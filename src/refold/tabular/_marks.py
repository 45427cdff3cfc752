"""Which mark of a number stands before its fraction, and which between its thousands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from refold.columns.number_form import NumberForm

_SPACES = " '’\u00a0\u202f"
_KINDS = {"’": "'", "\u00a0": " ", "\u202f": " "}
_PLAIN = re.compile(r"[+-]?([0-9]*)([.,])([0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([.,{_SPACES}])[0-9]{{3}}(?:\1[0-9]{{3}})*([.,][0-9]+)?")


def evidence(cell: str) -> tuple[NumberForm | None, str]:
    """Say how a number must be written, and otherwise which mark leaves it open.

    ``1,5`` has a decimal comma and ``1,234,567`` or ``1,234.5`` none; ``1,234`` may or may not.
    """
    cell = cell.strip()
    grouped = _GROUPED.fullmatch(cell)
    if grouped:
        mark, fraction = grouped.groups()
        if fraction and fraction[0] != mark:
            return NumberForm(fraction[0], _KINDS.get(mark, mark)), ""
        if fraction is None and (mark in _SPACES or cell.count(mark) > 1):
            return NumberForm("." if mark == "," else ",", mark) if mark in ".," else None, ""
    plain = _PLAIN.fullmatch(cell)
    if not plain:
        return None, ""
    whole, mark, fraction = plain.groups()
    may_be_thousands = len(fraction) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    return (None, mark) if may_be_thousands and "e" not in cell.lower() else (NumberForm(mark), "")


def own_marks(
    names: Sequence[str], rows: Sequence[Sequence[str]], decimal: str, delimiter: str
) -> tuple[dict[str, NumberForm], dict[str, tuple[str, str]]]:
    """Return the forms of columns that are not written as the file is, and what stays open.

    Most of a column's own cells decide; where these leave open what a mark means, the other columns
    do. What they leave open too is to be said: an example, and how it was read.
    """
    columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
    found = {name: _evidence_of(cells) for name, cells in zip(names, columns, strict=False)}
    proven = {form.decimal for form, _ in found.values() if form}
    own, readings = {}, {}
    for name, (form, marks) in found.items():
        if form and form != NumberForm(decimal):
            own[name] = form
        if form or len(marks) != 1:
            continue
        (mark,) = marks
        known = next(iter(proven)) if len(proven) == 1 else ""
        if not proven and delimiter == ",":
            known = "."
        if known and mark != known:
            own[name] = NumberForm(known, mark)
        elif not known and decimal == mark:
            readings[name] = (f"1{mark}234", "1.234")
    return own, readings


def _evidence_of(cells: Iterable[str]) -> tuple[NumberForm | None, set[str]]:
    """Say how the first cells of a column write numbers, or which marks they leave open."""
    seen = [evidence(cell) for cell in cells]
    certain = [form for form, _ in seen if form]
    decimals = Counter(form.decimal for form in certain)
    if not certain or 2 * max(decimals.values()) == len(certain):
        return None, {mark for _, mark in seen if mark}
    decimal = decimals.most_common(1)[0][0]
    thousands = max(form.thousands for form in certain if form.decimal == decimal)
    return NumberForm(decimal, thousands), set()


def file_decimal(cells: Iterable[str]) -> str:
    """Return what stands before fractions in most cells; those that are certain count first."""
    seen = [evidence(cell) for cell in cells]
    certain = [marks.decimal for marks, _ in seen if marks]
    marks = certain or [mark for _, mark in seen if mark]
    return "," if 2 * marks.count(",") > len(marks) else "."

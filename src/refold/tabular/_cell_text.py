"""What is written in a cell, as a number, and which words stand for none."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from refold._typing import Floats
from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.frames import is_number, is_text
from refold.columns.missing import MISSING_WORDS, is_missing
from refold.columns.number_form import NumberForm
from refold.tabular.errors import cell_repr

Kind = Literal["number", "truth"]

_TRUTH = {"true": 1.0, "false": 0.0}
_FEW = 8  # cells that are quicker looked at one by one
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


class BadCellError(ValueError):
    """A cell that is no number: which one of a column, what is wrong with it, what to do."""

    def __init__(self, index: int, problem: str, advice: Advice | None = None) -> None:
        self.index, self.problem, self.advice = index, problem, advice
        super().__init__(index, problem, advice)  # all, so that it pickles

    def __str__(self) -> str:
        return self.problem


@cache
def missing_as_written() -> list[str]:
    """Return the words for missing values in all mixtures of small and capital letters."""
    both = [itertools.product(*zip(word, word.upper(), strict=True)) for word in MISSING_WORDS]
    return sorted({"".join(letters) for letters in itertools.chain(*both)})


def cell_kind(cell: str, decimal: str) -> Kind | None:
    """Say what a cell that is not missing holds; None is neither a number nor true or false."""
    cell = cell.strip()
    if cell.lower() in _TRUTH:
        return "truth"
    return "number" if _NUMBER.fullmatch(_with_point(cell, decimal)) else None


def cell_number(cell: str, decimal: str) -> float:
    """Return the number in a cell, NaN if missing; UserError says why it is none."""
    if is_missing(cell):
        return math.nan
    stripped = cell.strip()
    if _INFINITY.fullmatch(stripped):
        raise UserError(f"{cell_repr(stripped)} is not a finite number")
    if not _NUMBER.fullmatch(point := _with_point(stripped, decimal)):
        raise UserError(
            f"{cell_repr(stripped)} is not a number", advice=_other_mark(stripped, decimal)
        )
    if math.isinf(value := float(point)):
        raise UserError(f"{cell_repr(stripped)} is too large for a number")
    return value


def column_numbers(texts: Any, decimal: str) -> Floats:
    """Return an Arrow column of text as numbers, NaN where one is missing.

    What Arrow can do at once it does; where it cannot, cells are read one by one, and the first
    that is no number is an error.
    """
    pa = needs("pyarrow", "parquet")
    try:
        return _cast(texts, decimal)  # most columns have neither spaces nor words
    except pa.ArrowInvalid:
        pass
    try:
        return _cast(_known(texts), decimal)
    except pa.ArrowInvalid:
        return _one_by_one(texts, decimal)


def _cast(texts: Any, decimal: str) -> Floats:
    """Let Arrow read numbers, and null as missing; others are ArrowInvalid."""
    pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
    pointed = texts
    if decimal == ",":
        pointed = pc.if_else(pc.match_substring(texts, "."), "ambiguous", texts)
        pointed = pc.replace_substring(pointed, ",", ".", max_replacements=1)
    values: Floats = pc.cast(pointed, pa.float64()).to_numpy(zero_copy_only=False)
    if np.isinf(values).any() or int(np.isnan(values).sum()) != texts.null_count:
        raise pa.ArrowInvalid("infinite, or NaN by another name")
    return values


def column_truths(texts: Any) -> Floats:
    """Return a column of true and false as 1 and 0, NaN where one is missing."""
    pc = needs("pyarrow.compute", "parquet")
    lower = pc.utf8_lower(_known(texts))
    said = pc.is_in(lower, _words(frozenset(_TRUTH), lower.type))
    wrong = pc.and_(pc.is_valid(lower), pc.invert(said)).to_numpy(zero_copy_only=False)
    if wrong.any():
        index = int(wrong.argmax())
        raise BadCellError(index, _no_truth(texts[index].as_py()))
    values: Floats = pc.equal(lower, "true").cast("float64").to_numpy(zero_copy_only=False)
    return values


def readable_cells(texts: Any, decimal: str, kind: Kind) -> tuple[Floats, dict[int, str]]:
    """Return a column with NaN where a cell cannot be read, and what is wrong with these."""
    values, problems = np.full(len(texts), math.nan), dict[int, str]()
    for index, cell in enumerate(texts.to_pylist()):
        try:
            if cell is not None:
                values[index] = _truth(cell) if kind == "truth" else cell_number(cell, decimal)
        except UserError as error:
            problems[index] = error.args[0]
    return values, problems


def _truth(cell: str) -> float:
    if is_missing(cell):
        return math.nan
    if (lower := cell.strip().lower()) not in _TRUTH:
        raise UserError(_no_truth(cell))
    return _TRUTH[lower]


def _no_truth(cell: str) -> str:
    return f"{cell_repr(cell.strip())} is neither true nor false, as the cells before it are"


def first_known(texts: Any) -> tuple[int, str] | None:
    """Return the first cell of a column that is not missing, and its place."""
    for index, cell in enumerate(texts[:_FEW].to_pylist()):
        if cell is not None and not is_missing(cell):
            return index, cell
    pc = needs("pyarrow.compute", "parquet")
    valid = pc.is_valid(_known(texts)).to_numpy(zero_copy_only=False)
    if not valid.any():
        return None
    index = int(valid.argmax())
    return index, texts[index].as_py()


def without_missing(texts: Any, words: frozenset[str] = MISSING_WORDS) -> Any:
    """Return a column of text as it is written, null where a word says that a value is missing."""
    pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
    if pa.types.is_dictionary(texts.type):
        absent = pc.is_null(without_missing(texts.dictionary, words))
        codes = pc.if_else(pc.take(absent, texts.indices), None, texts.indices)
        return pa.DictionaryArray.from_arrays(codes, texts.dictionary, ordered=texts.type.ordered)
    missing = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(texts)), _words(words, texts.type))
    if not pc.any(missing).as_py():
        return texts
    return pc.if_else(missing, pa.scalar(None, texts.type), texts)


def ungrouped(texts: Any, form: NumberForm) -> Any:
    """Return a column of text without marks between thousands, where they stand as they should."""
    if not form.thousands:
        return texts
    pc = needs("pyarrow.compute", "parquet")
    fraction = rf"(?:{re.escape(form.decimal)}[0-9]*)?"
    found = pc.match_substring_regex(texts, rf"^\s*[+-]?{form.grouped}{fraction}\s*$")
    without = pc.replace_substring_regex(texts, form.mark, "")
    return pc.if_else(found, without, texts)


def plain_texts(texts: Any, form: NumberForm) -> Any:
    """Return a column of text with numbers as Python writes them; other cells stay."""
    texts, mark = ungrouped(texts, form), re.escape(form.decimal)
    if form.decimal == ".":
        return texts
    pc = needs("pyarrow.compute", "parquet")
    number = rf"^\s*[+-]?(?:[0-9]+{mark}[0-9]*|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
    found = pc.match_substring_regex(texts, number)
    return pc.if_else(found, pc.replace_substring(texts, form.decimal, "."), texts)


def _known(texts: Any) -> Any:
    """Return the cells without the space around them, null where a value is missing."""
    pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
    trimmed = pc.utf8_trim_whitespace(texts)
    missing = pc.is_in(pc.utf8_lower(trimmed), _words(MISSING_WORDS, trimmed.type))
    return pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed)


@cache
def _words(words: frozenset[str], kind: Any) -> Any:
    return needs("pyarrow", "parquet").array(sorted(words), kind)


def _one_by_one(texts: Any, decimal: str) -> Floats:
    values = np.empty(len(texts))
    for index, cell in enumerate(texts.to_pylist()):
        try:
            values[index] = math.nan if cell is None else cell_number(cell, decimal)
        except UserError as error:
            raise BadCellError(index, error.args[0], error.advice) from None
    return values


def _with_point(cell: str, decimal: str) -> str:
    """Write a number as Python does; with decimal commas a point is left for the error."""
    if decimal == ".":
        return cell
    return "ambiguous" if "." in cell else cell.replace(",", ".", 1)


def _other_mark(cell: str, decimal: str) -> Advice | None:
    """Return the advice to name the decimal mark with which a cell is a number."""
    if decimal == "." and cell_kind(cell, ",") == "number":
        return Advice("If numbers have decimal commas", "decimal", value=",")
    if decimal == "," and cell_kind(cell, ".") == "number":
        return Advice("Other numbers here have decimal commas. Otherwise", "decimal", value=".")
    return None


class MissingWords:
    """Words and numbers that say that a value is missing, beside those that always do.

    Small and capital letters are alike, and space around them does not matter. A number is meant
    however it is written: -999 is also -999.0 and -999,00.
    """

    def __init__(self, words: Sequence[str]) -> None:
        stripped = [word.strip() for word in words]
        numbers = [w for w in stripped if cell_kind(w, ".") == "number"]
        self._values = sorted({cell_number(word, ".") for word in numbers})
        forms = [*map(re.escape, stripped), *map(_forms, numbers)]
        self._pattern = rf"(?i)^\s*(?:{'|'.join(forms)})\s*$"
        self._any = bool(stripped)

    def __bool__(self) -> bool:
        return self._any

    def without(self, column: Any) -> Any:
        """Return an Arrow column with null in such cells."""
        pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if is_text(column.type):
            said = pc.match_substring_regex(column, self._pattern)
        elif is_number(column.type) and self._values and not pa.types.is_boolean(column.type):
            said = pc.is_in(column.cast(pa.float64(), safe=False), pa.array(self._values))
        else:
            return column
        return pc.if_else(pc.fill_null(said, False), pa.scalar(None, column.type), column)


def _forms(number: str) -> str:
    """Return a pattern of other ways to write a number; one with an exponent has none."""
    if "e" in number.lower():
        return re.escape(number)
    whole, _, fraction = number.partition(".")
    sign, digits = r"\+?", whole.lstrip("+-").lstrip("0")
    if whole.startswith("-"):
        sign = "-"
    fraction = fraction.rstrip("0")
    tail = f"[.,]{fraction}0*" if fraction else "(?:[.,]0*)?"
    return f"{sign}0{'*' if digits or fraction else '+'}{digits}{tail}"

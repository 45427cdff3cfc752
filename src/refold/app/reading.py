"""A file that may be read again: what was guessed of it, and what somebody says instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from refold.app.browser import one
from refold.base.advice import Advice, in_words
from refold.base.words import names_in, shortened
from refold.service import RequestError
from refold.tabular import TableSource
from refold.tabular.csv_dialect import DELIMITERS, Dialect
from refold.tabular.files import is_text_file
from refold.tabular.table_source import ReadOptions

# What may stand between the cells of a text file and in its numbers, as the page offers it.
MARKS = {
    "delimiter": {**DELIMITERS, " ": "spaces"},
    "decimal": {".": "a point: 1.5", ",": "a comma: 1,5"},
    "thousands": {
        ",": "a comma: 1,000",
        ".": "a point: 1.000",
        " ": "a space: 1 000",
        "'": "an apostrophe: 1'000",
    },
}
_WORDS = 1000  # characters
_DIGITS = 6


@dataclass(frozen=True)
class TableFile:
    """A file that somebody has given, as long as it may be read again."""

    path: Path  # where it is
    name: str  # what people call it
    step: str  # the address of the step that it was given to
    sample: str = ""  # which of the samples it is; empty if none
    ours: bool = True  # whether it is removed when nobody needs it any more
    how: ReadOptions = field(default_factory=ReadOptions)  # what somebody has said about reading it
    format: str = ""  # what it was found to be, in words; empty if nobody knows
    dialect: Dialect | None = None  # how its cells and numbers are written, if it is text
    sheets: tuple[str, ...] = ()  # the sheets, if it is a workbook
    sheet: str = ""  # the one that was read

    def opened(self, table: TableSource) -> TableFile:
        """Return the same with what was found when it was opened."""
        return replace(
            self,
            format=table.format,
            dialect=table.dialect,
            sheets=tuple(table.sheets),
            sheet=table.sheet,
        )

    @property
    def is_text(self) -> bool:
        """Whether separators matter; of a file that could not be opened, its first bytes say so."""
        return self.dialect is not None if self.format else is_text_file(self.path)

    @property
    def mendable(self) -> bool:
        """Whether another way to read it could help, if it could not be used."""
        return bool(self.format) or self.is_text

    def options(self) -> dict[str, Any]:
        """Return what somebody has said, as `open_table` takes it."""
        unsaid = ReadOptions()
        return {
            name: value
            for name, value in vars(self.how).items()
            if name != "say" and value != getattr(unsaid, name)
        }


def how_of(form: Mapping[str, list[str]], file: TableFile) -> ReadOptions:
    """Read what a form says about reading a file; what is left empty is guessed."""
    skipped = one(form, "skip_rows", "").strip()
    if skipped and not (skipped.isascii() and skipped.isdigit() and len(skipped) <= _DIGITS):
        raise RequestError(400, "Lines are counted by a whole number.")
    return ReadOptions(
        header=not form.get("no_header"),
        delimiter=_chosen(form, "delimiter", tuple(MARKS["delimiter"])),
        decimal=_chosen(form, "decimal", tuple(MARKS["decimal"])),
        thousands=_chosen(form, "thousands", tuple(MARKS["thousands"])),
        sheet=_chosen(form, "sheet", file.sheets),
        skip_rows=int(skipped) if skipped else None,
        missing=_words(one(form, "missing", "")),
    )


def _chosen(form: Mapping[str, list[str]], name: str, known: Sequence[str]) -> str | None:
    """Return one of several, by its place; none where nothing was chosen."""
    place = one(form, name, "")
    if not place:
        return None
    if not (place.isascii() and place.isdigit() and len(place) <= _DIGITS):
        raise RequestError(400, f"The form has no such {name}.")
    if int(place) >= len(known):
        raise RequestError(400, "The page is older than the file: open it again.")
    return known[int(place)]


def _words(text: str) -> tuple[str, ...]:
    if len(text) > _WORDS or "\n" in text or "\r" in text:
        raise RequestError(400, f"Words for missing values are one line of {_WORDS:,} characters.")
    return tuple(names_in(text))


def as_control(advice: Advice) -> str:
    """Return what is advised as it is done on the page."""
    if advice.kind == "role":
        role = "leave out" if advice.role == "ignore" else advice.role
        return f"choose “{role}” for {shortened(advice.column or '')}"
    if advice.kind == "header":
        return "tick “The columns have no names” below, or read it again if these are names"
    if advice.kind == "sheet":
        return "choose another one below"
    if advice.kind == "missing" and advice.value is not None:
        return f"name {advice.value} as missing where the file is read"
    if advice.kind in ("decimal", "thousands"):
        mark = "the mark" if advice.value is None else str(advice.value)
        return f"choose {mark} where the file is read"
    if advice.kind == "method":
        return "choose to judge each column by itself in the step Learn"
    if advice.kind == "without":
        return "take model-simple.onnx, or leave the column out"
    if advice.kind == "alpha":
        return "choose a larger false alarm rate"
    return in_words(advice)

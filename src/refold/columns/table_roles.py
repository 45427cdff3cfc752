"""What the columns of a table are, each beside the others, and words for missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from refold.base.progress import steps
from refold.columns import role_findings as findings
from refold.columns.form_guess import common_mark
from refold.columns.missing import MISSING_WORDS, masked_texts, missing_word
from refold.columns.parsing import clear
from refold.columns.roles import Guess, as_role, guess
from refold.columns.table import Column, Table, TextColumn


def guess_roles(table: Table, roles: Mapping[str, str]) -> list[Guess]:
    """Guess what the columns of a table are, but for those whose roles the user has said.

    Where the numbers of a column leave open what a mark means, the other columns decide.
    """
    found = [_taken(name, column, roles, table, "") for name, column in steps([*table.items()])]
    shown = common_mark(each.decimal for each in found)
    likely = table.written.decimal_mark or shown or table.written.likely
    if not likely:
        return found
    return [
        _taken(name, column, roles, table, likely)
        if each.is_open or (likely == "," and each.role == "number" and not each.decimal)
        else each
        for (name, column), each in zip(table.items(), found, strict=True)
    ]


def _taken(name: str, column: Column, roles: Mapping[str, str], table: Table, likely: str) -> Guess:
    """Take a column for something, and words in it for missing values or for values."""
    written, column = table.written, column.raw
    counts = _missing_words(column)
    said = [missing_word(word) for word in written.missing]
    kept = {missing_word(word) for word in written.keep} | (
        set() if written.by_people else counts.keys() - set(said)
    )

    def guessed(kept: set[str]) -> Guess:
        cleared = clear(column, frozenset(written.words - kept))
        if name in roles:
            return as_role(name, cleared, roles[name], likely)
        return guess(name, cleared, likely) if table.guessed else Guess("number", None, ())

    found = guessed(kept)
    # A word that most rows have is a value, unless the others are numbers or dates.
    usual = {w for w, rows in counts.items() if 2 * rows > len(column) and w not in said} - kept
    if usual and found.role not in ("number", "date"):
        kept |= usual
        found = guessed(kept)
    missing = {word: rows for word, rows in counts.items() if word not in kept}
    noticed = [*found.noticed]
    if found.role != "ignore":
        noticed += findings.missing_words(name, missing, counts.keys() & usual & kept, len(column))
    taken = tuple(sorted({*said, *missing}))
    return replace(found, noticed=tuple(noticed), missing=taken, kept=tuple(sorted(kept)))


def _missing_words(column: Column) -> Counter[str]:
    """Count the rows of a column that have words such as NA."""
    counts: Counter[str] = Counter()
    if isinstance(column, TextColumn):
        for code in np.flatnonzero(masked_texts(column.values, MISSING_WORDS)).tolist():
            if rows := int(column.counts[code]):
                counts[missing_word(column.values[code])] += rows
    return counts

"""Values and their counts in a model file: the most frequent ones for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from refold.columns.encoding.tally import MOST_VALUES, Tally
from refold.modelfile import arrays, texts
from refold.modelfile.fields import Field

# One value in 2**64 would be in the sample.
_MOST_LEVELS = 64
# What Python takes for a number and its place in a dictionary.
_OVERHEAD = 136


def written(tally: Tally) -> dict[str, Any]:
    """Return a tally as the document has it."""
    return {
        "rows": tally.rows,
        "missing": tally.missing,
        "level": tally.level,
        "error": tally.error,
        **counts_written(tally.counts),
    }


def counts_written(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return counts as the document has them, the largest first."""
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    often, rest = order[: texts.READABLE], order[texts.READABLE :]
    return {
        "counts": dict(often),
        "rest": {
            "texts": texts.written([text for text, _ in rest]),
            "counts": arrays.written(np.array([count for _, count in rest], dtype=np.int64)),
        }
        if rest
        else None,
    }


def read(field: Field, most: int) -> Tally:
    """Return a checked tally of at most so many rows."""
    total, missing, level, error, counts, rest = field.members(
        "rows", "missing", "level", "error", "counts", "rest"
    )
    rows = total.integer(0, most)
    tally = Tally(
        read_counts(counts, rest, rows, MOST_VALUES),
        rows,
        missing.integer(0, rows),
        level.integer(0, _MOST_LEVELS),
        error.integer(0, rows),
    )
    counted = sum(tally.counts.values()) + tally.missing
    if tally.level == 0 and counted != rows:
        counts.refuse(f"and what is missing add up to {counted}, there are {rows} rows")
    return tally


def read_counts(counts: Field, rest: Field, rows: int, most: int) -> dict[str, int]:
    """Return checked counts of at most so many texts, each of which some of the rows have."""
    found = {text: count.integer(1, rows) for text, count in counts.entries()}
    if not rest.is_null():
        listed, numbers = rest.members("texts", "counts")
        others = texts.read(listed, most)
        how_many = arrays.integers(numbers, len(others))
        within = (how_many >= 1) & (how_many <= rows)
        arrays.require(numbers, how_many, within, f"must be from 1 to {rows}")
        rest.budget.charge(_OVERHEAD * len(others), "The counts", rest.path)
        for number, text in enumerate(others):
            if text in found:
                listed.at(number).refuse("is counted already")
        found |= zip(others, how_many.tolist(), strict=True)
    if len(found) > most:
        counts.refuse(f"and the rest are {len(found)} texts; at most {most} are kept")
    return found

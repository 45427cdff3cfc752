"""The rows left out of training in a model file: where the cut is, how many, and which."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from refold._typing import Integers
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field
from refold.models.trim import MOST_TRIM, Cut


def written(cut: Cut) -> dict[str, Any]:
    """Return a cut as the document has it."""
    return asdict(cut)


def read(field: Field) -> Cut:
    """Return a checked cut."""
    limit, seen, left_out = field.members("limit", "seen", "left_out")
    if not 0.0 <= left_out.number() <= seen.number():
        left_out.refuse("must be from 0 to all that were seen")
    if limit.number() < 0.0:
        limit.refuse("must not be negative")
    return Cut(float(limit.number()), float(seen.number()), float(left_out.number()))


def read_share(field: Field) -> float:
    """Return the share of rows to leave out."""
    if not 0.0 <= field.number() < MOST_TRIM:
        field.refuse(f"must be from 0 to below {MOST_TRIM}")
    return float(field.number())


def read_dropped(field: Field) -> Integers:
    """Return the numbers of the rows that were left out."""
    rows: Integers = arrays.integers(field, arrays.length_of(field, LARGEST_INTEGER, least=0))
    arrays.require(field, rows, rows >= 0, "must be a row")
    return rows

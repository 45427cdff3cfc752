"""Words for missing values become null, whatever is around them and however they are written."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from refold.columns.missing import MISSING_WORDS, is_missing
from refold.tabular._cell_text import without_missing

PADS = ("", " ", "\t", "\u00a0", "\u2003")
WORDS = ("", "-", "?", "na", "NaN", "Null", "<NA>", "#n/a", "None", "n/a")
OTHERS = (
    "0",
    "-1",
    "-0.25",
    "nano",
    "n",
    "--",
    "??",
    "nullo",
    "é",
    "N",
    "#",
    "<na",
    "1e5",
    "\u212a",
)


def cleared(cells):
    return [None if cell is None or is_missing(cell) else cell for cell in cells]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_word_for_missing_is_null_and_nothing_else_is(kind):
    assert {word.lower() for word in WORDS} <= MISSING_WORDS
    for cell in itertools.chain(WORDS, OTHERS):
        for before, after in itertools.product(PADS, PADS):
            column = ["1.25", before + cell + after, "abcdef"]
            assert without_missing(pa.array(column, kind)).to_pylist() == cleared(column)


def test_columns_with_nulls_and_parts_of_columns_are_read_in_their_place(rng):
    cells = [*WORDS, *OTHERS, *(pad + word for pad in PADS for word in WORDS), None, "3.5", "-7"]
    for _ in range(300):
        column = rng.choice(np.array(cells, dtype=object), size=8).tolist()
        begin, length = rng.integers(0, 5), rng.integers(0, 4)
        part = pa.array(column, pa.string()).slice(begin, length)
        expected = cleared(column[begin : begin + length])
        assert without_missing(part).to_pylist() == expected


def test_numbers_are_handed_on_as_they_are():
    column = pa.array(["-0.5", "12", "-3", "1e-7"])
    assert without_missing(column) is column

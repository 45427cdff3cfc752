"""Views of a column of texts, counted one by one."""

import math
from collections import Counter

import numpy as np
import pytest

from refold.columns.conversion import texts_of
from refold.columns.encoding.texts import TextCounts

TIMES = {"A-12": 30, "A-7": 12, "B-12": 3, "é-1": 2, "Ω": 1, "": 4, "x y": 11, "q9": 1}
CELLS = [cell for cell, times in TIMES.items() for _ in range(times)]


def rows_with_characters(cells):
    """How many rows have each character, and how rare the rarest of each row is."""
    rows = Counter(character for cell in cells for character in set(cell))
    return rows, [min(rows[character] for character in cell) for cell in cells if cell]


def share(rarest, r):
    return np.mean([min(1.0, (r + 1) / each) for each in rarest])


def test_the_rarest_character_surprises_by_how_rare_it_is_in_other_rows():
    counts = TextCounts.of(texts_of(CELLS))
    rows, rarest = rows_with_characters(CELLS)
    assert counts.characters == rows
    new = ["A-12", "A", "é", "Ω", "ж", "x", "A-12ж", "q"]
    views = counts.views(texts_of(new))
    for k, text in enumerate(new):
        have = min(rows.get(character, 0) for character in text)
        r = have - 1 if have > 10 else have
        assert views[k, 3] == pytest.approx(-math.log(share(rarest, r)))
    assert views[-1, 3] == 0.0  # a missing one has no character
    left_out = counts.views(texts_of(CELLS), left_out=True)
    different = list(dict.fromkeys(cell for cell in CELLS if cell))
    for k, text in enumerate(different):
        have = min(rows[character] for character in text)
        assert left_out[k, 3] == pytest.approx(-math.log(share(rarest, have - 1)))


def test_left_out_exactly_is_what_the_other_rows_say():
    cells = [cell for cell in CELLS if cell]
    counts = TextCounts.of(texts_of(cells))
    different = list(dict.fromkeys(cells))
    exactly = counts.views(texts_of(cells), left_out="exactly")
    for k, text in enumerate(different):
        others = cells.copy()
        others.remove(text)
        views = TextCounts.of(texts_of(others)).views(texts_of([text]))
        have = min(rows_with_characters(cells)[0][character] for character in text)
        if have > 11:  # elsewhere what is left may have another rarest character
            assert exactly[k, 3] == pytest.approx(views[0, 3], abs=0.02)
        assert exactly[k, 0] == pytest.approx(views[0, 0])


def test_rows_are_added_and_taken_away_with_their_characters():
    first, rest = texts_of([*CELLS[:20], "ü", ""]), texts_of(CELLS[20:])
    both = TextCounts.of(first).plus(TextCounts.of(rest))
    whole = TextCounts.of(texts_of([*CELLS, "ü", ""]))
    assert (both.characters, both.missing) == (whole.characters, 5)
    for name in ("values", "shapes", "collapsed"):
        assert getattr(both, name).counts == getattr(whole, name).counts
    back = both.minus(TextCounts.of(first))
    assert back.characters == TextCounts.of(rest).characters
    assert "ü" not in back.characters
    nothing = both.minus(both)
    assert (nothing.characters, nothing.missing) == ({}, 0)
    assert nothing.views(texts_of(["a"]))[0, 3] == 0.0


def test_texts_never_seen_are_new_and_do_not_surprise_in_views_that_cannot_be_told():
    counts = TextCounts.of(texts_of(CELLS))
    column = texts_of(["A-12", "C-3", "ж"])
    assert counts.new(column).tolist() == [False, True, True, False]
    views = counts.views(column)
    without = counts.views(column, without=("shape", "character"))
    np.testing.assert_array_equal(without[:, [0, 2]], views[:, [0, 2]])
    np.testing.assert_array_equal(without[[0, 3]], views[[0, 3]])
    assert (without[1:3][:, [1, 3]] == 0.0).all()
    assert (views[1:3, 3] > 0.0).all()


def test_people_are_shown_a_text_of_the_usual_form():
    shape, collapsed = TextCounts.of(texts_of(CELLS)).usual_forms
    assert shape in ("A-12", "B-12")
    assert collapsed in ("A-12", "A-7", "B-12")


def test_of_many_values_some_tell_how_rare_characters_are():
    cells = [f"{k:05d}" for k in range(6_000)] + ["é"] * 300
    counts = TextCounts.of(texts_of(cells))
    assert len(counts.rarest.counts) == 2**12
    rows, rarest = rows_with_characters(cells)
    found = counts.views(texts_of(["é", "ж"]))[:2, 3]
    expected = [-math.log(share(rarest, r)) for r in (rows["é"] - 1, 0)]
    np.testing.assert_allclose(found, expected, rtol=0.1)
    np.testing.assert_array_equal(counts.views(texts_of(["é", "ж"]))[:2, 3], found)

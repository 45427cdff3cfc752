"""Texts as they are remembered: bounded, and such that any file can hold them."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Detector
from refold.columns.conversion import LONGEST_TEXT as LONGEST
from refold.columns.conversion import remembered as kept
from refold.columns.conversion import texts_of


@given(st.text(st.characters(), max_size=2 * LONGEST))
def test_a_text_is_short_and_can_be_written_and_stays_so(text):
    once = kept(text)
    assert len(once) <= LONGEST
    once.encode()
    assert kept(once) == once


def test_usual_texts_stay_as_they_are():
    for text in ("AA", "Größe 😀", "a\0b", "x" * LONGEST):
        assert kept(text) == text


def test_long_texts_are_told_apart_by_their_end():
    long = [f"{'page ' * 1000}{k}" for k in range(3)]
    assert len(texts_of(long).values) == 3


def test_a_very_long_blank_is_missing():
    assert texts_of([" " * 10**5, "a"]).codes.tolist() == [-1, 0]


@pytest.mark.parametrize("end", ["", "!"])
def test_a_long_text_that_was_learned_is_known_again(end):
    pages = [f"{'page ' * 500}{k % 3}" for k in range(90)]
    model = Detector().fit(pd.DataFrame({"page": pages, "size": [k % 7 for k in range(90)]}))
    label = model.predict(pd.DataFrame({"page": [pages[0] + end], "size": [3]}))
    assert label.tolist() == [-1 if end else 1]

"""Words and numbers that stand for missing values, and how a source is written."""

import numpy as np

from refold.columns.missing import SourceFormat, masked_numbers, masked_texts

WORDS = frozenset({"", "na", "-999", "x y"})


def test_words_and_numbers_stand_for_missing_values():
    cells = [" NA ", "nan", "-999", "-999.0", "-999,00", "-9.99e2", "- 999", "X Y", "", "1,000,0"]
    found = masked_texts(cells, WORDS)
    assert found.tolist() == [True, False, True, True, True, True, False, True, True, False]
    assert masked_texts(["na" + " " * 99], frozenset({"na"})).tolist() == [True]
    assert masked_texts(["-999".rjust(64, "0")], WORDS).tolist() == [False]
    assert masked_texts(["-" + "999".rjust(63, "0")], WORDS).tolist() == [True]
    assert masked_texts(["-" + "999".rjust(64, "0")], WORDS).tolist() == [False]
    numbers = masked_numbers(np.array([-999.0, 999.0, np.nan]), WORDS)
    assert numbers.tolist() == [True, False, False]
    assert not masked_numbers(np.array([-999.0]), frozenset({"na"})).any()
    assert masked_texts(["", "a"], frozenset()).tolist() == [False, False]


def test_how_a_source_is_written():
    assert SourceFormat().words == {""}
    people = SourceFormat(by_people=True, missing=("X ", "-9"), keep=("NA",))
    assert {"x", "-9", "n/a", ""} <= people.words
    assert "na" not in people.words
    assert SourceFormat(keep=("",)).words == {""}
    marks = [SourceFormat(thousands=t).decimal_mark for t in (".", ",", "'", "")]
    assert marks == [",", ".", "", ""]
    assert SourceFormat(decimal=".", thousands=".").decimal_mark == "."
    assert SourceFormat.of_metadata(people.metadata()) == people
    for odd in (None, {}, {b"refold.written": b"x"}, {b"refold.written": b"{}"}):
        assert SourceFormat.of_metadata(odd) == SourceFormat()
    assert SourceFormat().metadata() == {}

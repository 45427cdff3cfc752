"""What a terminal would obey is written out; numbers are as people write them."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.base.words import outliers_among, percent, printable

FILLERS = "\u034f\u115f\u1160\u3164\uffa0"  # letters by their category, but nothing is seen


def test_no_control_gets_through():
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        shown = printable(letter)
        kind = unicodedata.category(letter)
        bidi = unicodedata.bidirectional(letter)
        steers = kind in ("Cc", "Cs", "Zl", "Zp") or bidi in (
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
        )
        if steers:
            assert shown == f"\\u{code:04x}"
        elif kind != "Cf" and letter not in FILLERS:
            assert shown == letter


def test_what_has_no_width_is_written_out_but_joiners_of_letters():
    for letter in "\xad\u180e\u200b\u2060\u2064\ufeff\ufff9" + FILLERS:
        assert printable(f"a{letter}b") == f"a\\u{ord(letter):04x}b"
    assert printable("\U000e0041") == r"\udb40\udc41"
    persian, hindi = "\u0645\u06cc\u200c\u062e", "\u0915\u094d\u200d\u0937"
    for text in (persian, hindi, "\u2764\ufe0f", "\u845b\U000e0100"):
        assert printable(text) == text


@given(st.text())
def test_a_document_means_the_same(text):
    document = json.dumps({text: [text]}, ensure_ascii=False, indent=1)
    assert json.loads(printable(document, lines=True)) == {text: [text]}


def test_line_feeds_stay_by_choice():
    assert printable("a\nb\r", lines=True) == "a\nb\\u000d"
    assert printable("a\nb") == "a\\u000ab"


@given(st.floats(0.0, 1.0))
def test_percents_are_written_without_an_exponent_and_are_near(share):
    for digits, off in ((2, 0.05), (3, 0.005)):
        text = percent(share, digits)
        assert text.endswith(" %")
        assert "e+" not in text
        assert float(text[:-2]) == pytest.approx(100.0 * share, rel=off)


def test_one_row_is_an_outlier_and_several_are():
    assert outliers_among(1, 60) == "1 of 60 rows is an outlier"
    assert outliers_among(0, 60) == "0 of 60 rows are outliers"
    assert outliers_among(1200, 60000, "2 %") == "1,200 of 60,000 rows (2 %) are outliers"

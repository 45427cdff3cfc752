"""Shapes: the kernel and Python agree on every text."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.algorithm import kernels
from refold.columns.encoding.shapes import LOOKED_AT, example_of, shape_of, shapes_of
from refold.columns.encoding.texts import TextCounts
from refold.columns.table import TextColumn

any_text = st.text(max_size=200) | st.from_regex(r"[A-Za-z0-9 +._-]{0,40}", fullmatch=True)


def by_definition(text, collapsed):
    shape = "".join(
        "9"
        if c.isdecimal()
        else ("A" if c.isupper() else "a")
        if c.isalpha()
        else " "
        if c.isspace()
        else c
        for c in text[:LOOKED_AT]
    )
    return re.sub(r"([Aa9 ])\1+", r"\1+", shape) if collapsed else shape


@given(st.lists(any_text, max_size=20), st.booleans())
def test_many_texts_have_the_shapes_of_each(texts, collapsed):
    codes, shapes = shapes_of(texts, collapsed=collapsed)
    assert len(set(shapes)) == len(shapes)
    assert [shapes[code] for code in codes] == [by_definition(t, collapsed) for t in texts]
    assert [shape_of(t, collapsed=collapsed) for t in texts] == [shapes[code] for code in codes]


@given(st.lists(any_text, min_size=1, max_size=20, unique=True))
def test_rows_with_each_character_are_counted(values):
    counts = np.arange(1, len(values) + 1)
    texts = TextColumn(values, np.repeat(np.arange(len(values)), counts))
    expected = {}
    for value, count in zip(values, counts.tolist(), strict=True):
        for character in set(value[:LOOKED_AT]):
            expected[character] = expected.get(character, 0) + count
    assert TextCounts.of(texts).characters == expected


def test_a_page_is_looked_at_from_its_beginning_only():
    assert shape_of("a" * 10**6) == "a" * LOOKED_AT
    assert shapes_of(["a" * 10**6 + "é"])[1] == ["a" * LOOKED_AT]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: kernels.shapes([1], collapsed=False, looked_at=8), "must be strings"),
        (lambda: kernels.shapes(["a"], collapsed=False, looked_at=0), "looked_at"),
        (lambda: kernels.characters(["a"], np.arange(2), looked_at=8), "a count for each text"),
        (lambda: kernels.rarest(["a"], np.arange(3), looked_at=8), "count for each character"),
    ],
)
def test_the_kernel_checks_what_it_is_given(call, problem):
    with pytest.raises(ValueError, match=problem):
        call()


@pytest.mark.parametrize(
    ("shape", "example"),
    [
        ("9", "1"),
        ("99", "12"),
        ("99.99.99.99.99", "12.11.10.09.12"),
        ("9999", "2026"),
        ("9+", "123"),
        ("9" * 12, "123456789"),
        ("A", "A"),
        ("aaa", "abc"),
        ("A+-a+", "ABC-abc"),
        ("a" * 30, "abcdefghijklmnopqrstuvwxyz"),
        ("9A9", "1T1"),
        ("9A", "1Z"),
        ("9a", "1a"),
        ("A   a", "A   a"),
        (" +", "   "),
        ("-", "-"),
    ],
)
def test_an_example_is_made_up_for_people_to_read(shape, example):
    assert example_of(shape) == example


@pytest.mark.parametrize(("before", "found"), [(1_999, "Q-71"), (2_000, "A-12")])
def test_an_example_is_looked_for_in_two_thousand_texts(before, found):
    assert example_of("A-99", ["x"] * before + ["Q-71"]) == found

"""Values that are names: by how they are written, at their bounds."""

import numpy as np
import pytest

from refold.columns.conversion import texts_of
from refold.columns.identifiers import (
    are_named_as_codes,
    are_written_as_codes,
    count_up,
    look_like_identifiers,
)
from refold.columns.table import TextColumn


@pytest.mark.parametrize(
    ("name", "texts", "codes"),
    [
        ("x", ["123456789", "987654321"], True),
        ("x", ["12345678", "87654321"], False),  # shorter than a telephone number
        ("x", ["123456789", "9876543210"], False),
        ("x", ["123456789"], False),
        ("time", ["1600000000", "1600000001"], False),
        ("x", ["007", "123"], True),
        ("x", ["0", "123"], False),
        ("x", ["01"] * 2 + ["12"] * 98, True),
        ("x", ["01"] + ["12"] * 99, False),  # one in a hundred is a slip of the pen
        ("x", ["007"] * 99 + ["a"], True),
        ("x", ["007"] * 98 + ["a"] * 2, False),
    ],
)
def test_numbers_are_written_as_codes_with_zeros_or_all_very_long(name, texts, codes):
    assert are_written_as_codes(name, texts) == codes


def test_whole_numbers_of_three_values_and_more_may_be_codes():
    assert are_named_as_codes("zip", np.array([0.0, 1.0, 2.0]))
    for values in ([0.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [0.5, 1.0, 2.0]):
        assert not are_named_as_codes("zip", np.array(values))


def test_identifiers_are_single_words_nearly_all_with_digits():
    assert look_like_identifiers(["a1"] * 9 + ["ab"])
    assert not look_like_identifiers(["a1"] * 8 + ["ab"] * 2)
    assert not look_like_identifiers(["a1"] * 9 + ["a 1"])
    assert look_like_identifiers(["1" * 64])
    assert not look_like_identifiers(["1" * 65])


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        ([f"ID-{k}" for k in range(20)], True),
        ([f"{k}" for k in range(30, 9, -1)], True),
        ([f"ID-{k * k}" for k in range(20)], True),
        ([f"ID-{k % 19}" for k in range(20)], False),
        ([*(f"ID-{k}" for k in range(19)), "OD-19"], False),
        ([*(f"ID-{k}" for k in range(19)), "ID-"], False),
        (["", *(f" ID-{k} " for k in range(20)), ""], True),
        ([f"{'x' * 63}{k}" for k in range(9)], True),
        ([f"{'x' * 64}{k}" for k in range(9)], False),
    ],
)
def test_texts_count_up_if_their_numbers_do(texts, counts):
    assert count_up(texts_of(texts)) == counts


@pytest.mark.parametrize(("first", "counts"), [(49_999, False), (50_000, True)])
def test_whether_texts_count_up_is_seen_in_the_first_fifty_thousand_rows(first, counts):
    values = [*(f"ID-{k}" for k in range(first)), "none"]
    column = TextColumn(values, np.array([-1, *range(first + 1)]))
    assert count_up(column) == counts

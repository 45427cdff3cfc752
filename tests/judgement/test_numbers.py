"""Numbers that people read are true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.summary import decimals_of
from refold.judgement.number_text import (
    and_list,
    as_read,
    digits_that,
    in_data_digits,
    in_full,
    ranges_text,
    rounded,
    split_unit,
)

VALUES = st.floats(-1e14, 1e14, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-9)


def read(text):
    return float(text.replace("−", "-").replace(",", ""))


@given(VALUES)
def test_a_number_in_full_is_the_number_itself_or_has_all_digits(value):
    assert read(in_full(value)) == pytest.approx(value, rel=1e-15)
    if as_read(value) == value:
        assert in_full(value) == in_full(as_read(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1234.5678, "1234.5678"),
        (-0.1, "−0.1"),
        (12345.0, "12,345"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_in_full_no_digit_is_superfluous(value, text):
    assert in_full(value) == text


def test_no_more_digits_are_shown_than_a_double_has():
    assert digits_that(lambda digits: False) == 17
    assert digits_that(lambda digits: digits >= 6) == 6


@given(VALUES, VALUES)
def test_what_is_rounded_comes_no_nearer_and_goes_no_farther_than_one_step(value, other):
    out = rounded(np.array([value]), np.array([other]))[0]
    assert abs(out - other) >= abs(value - other) * (1 - 1e-12)
    step = 1.0 if abs(value) >= 1e4 else 10.0 ** (np.floor(np.log10(abs(value) or 1.0)) - 3)
    assert abs(out - value) <= 1.51 * step + 1e-12 * abs(value)


@pytest.mark.parametrize(
    ("value", "other", "out"),
    [
        (0.12344, 0.1, 0.1235),
        (0.12344, 1.0, 0.1234),
        (123.44, 0.0, 123.5),
        (-123.44, 0.0, -123.5),
        (12344.4, 0.0, 12345.0),
        (9999.6, 0.0, 10000.0),
        (10000.4, 0.0, 10001.0),
        (1.23444e-9, 0.0, 1.235e-9),
        (0.12346, 1.0, 0.1234),
        (0.5, 0.0, 0.5),
    ],
)
def test_rounding_away_from_a_number(value, other, out):
    assert rounded(np.array([value]), np.array([other])).tolist() == [out]


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_the_digits_behind_the_point_of_a_column(rng, decimals):
    values = rng.integers(10 ** (decimals + 3), size=50) + 1.0
    column = np.append(np.round(values / 10**decimals, decimals), [np.nan, np.inf])
    column[0] = 10**-decimals
    assert decimals_of(column) == decimals


def test_no_few_digits_are_enough_unless_all_but_one_in_fifty_have_them():
    assert decimals_of(np.array([0.1234] * 10)) is None
    whole = np.arange(100.0)
    whole[:1] = 0.5
    assert decimals_of(whole) == 0
    whole[:2] = 0.5
    assert decimals_of(whole) == 1


def test_more_digits_are_those_of_a_column_whose_values_are_near_each_other():
    assert decimals_of(48.85 + np.arange(50) / 1e5) == 5


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("torque [Nm]", ("torque", " Nm")),
        ("what [any thing]", ("what", " any thing")),
        ("weight (g)", ("weight", " g")),
        ("body_mass_g", ("body_mass", " g")),
        ("share (%)", ("share", " %")),
        ("speed_kmh", ("speed", " kmh")),
        ("length_mm", ("length", " mm")),
        ("size (m)", ("size (m)", "")),
        ("sold_in", ("sold_in", "")),
        ("first (second)", ("first (second)", "")),
        ("plain", ("plain", "")),
        ("age_cl", ("age_cl", "")),
    ],
)
def test_the_unit_in_the_name_of_a_column(name, parts):
    assert split_unit(name) == parts


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (9999.0, 0, "9999"),
        (10000.0, 0, "10,000"),
        (-10000.5, 1, "−10,000.5"),
        (1048.36, 2, "1048.36"),
        (100.0, 2, "100"),
        (100.0, 0, "100"),
        (2.0471, 0, "2.047"),
        (2.0471, None, "2.047"),
        (999999999999999.0, 0, "999,999,999,999,999"),
        (1e15, 0, "1e+15"),
    ],
)
def test_a_number_has_the_digits_of_its_column(value, decimals, text):
    assert in_data_digits(value, decimals) == text


def test_ranges_and_lists_in_words():
    assert ranges_text(((0.0, 5.0), (20.0, 30.0))) == "0–5 or 20–30"
    assert ranges_text(((-1.0, 5.0),)) == "−1 to 5"
    assert ranges_text(((3.0, 3.0), (4.0, 4.0))) == "3 or 4"
    assert [and_list(list("abc")[:k]) for k in range(4)] == ["", "a", "a and b", "a, b and c"]

"""Numbers as people write them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.number_form import NumberForm
from tests.growth import assert_linear


def seconds(texts):
    return NumberForm(kind="duration").read(texts)


MARKS = [(".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'")]


def written(value, form):
    """A second way round: Python groups by commas, then marks are exchanged."""
    text = f"{value:,.3f}" if form.thousands else f"{value:.3f}"
    return text.translate(str.maketrans({",": form.thousands or ",", ".": form.decimal}))


@given(st.floats(-1e12, 1e12), st.sampled_from(MARKS), st.sampled_from(["", "$", "kr"]))
def test_what_is_written_in_a_form_is_read_in_it(value, marks, unit):
    form = NumberForm(*marks, prefix=unit)
    expected = round(value, 3)
    text = written(value, form)
    for cell in (text, f" {text} ", f"{unit} {text}"):
        assert form.read([cell])[0] == pytest.approx(expected, abs=1e-3)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30))
def test_plain_numbers_are_those_that_python_reads(values):
    assert NumberForm().plain
    np.testing.assert_array_equal(NumberForm().read([repr(v) for v in values]), values)


@pytest.mark.parametrize(
    "text", ["1_000", "１２３", "inf", "-inf", "1e400", "0x10", "1,5", "", "-"]
)
def test_what_is_no_plain_finite_number_is_nan(text):
    assert np.isnan(NumberForm().read([text, "7"])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(12.50)", -12.5),
        ("12-", -12.0),
        ("−12", -12.0),
        ("+12", 12.0),
        ("$(1,200)", -1200.0),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("1.5E3", 1500.0),
        ("12,34,567", 1234567.0),
    ],
)
def test_negative_and_grouped_numbers_as_accountants_write_them(text, value):
    assert NumberForm(thousands=",", prefix="$").read([text])[0] == value


@pytest.mark.parametrize("text", ["(12", "12)", "--5", "1,23", "1,2345", "$", "5 €", "5 5"])
def test_what_is_not_written_in_the_form_is_nan(text):
    assert np.isnan(NumberForm(thousands=",", prefix="$").read([text])[0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("01:30:00", 5400.0),
        ("26:00:00", 93600.0),
        ("1:23.456", 83.456),
        ("2h 15min", 8100.0),
        ("2h15m", 8100.0),
        ("1 day 02:00", 93600.0),
        ("0 days 00:00:01.5", 1.5),
        ("PT1H30M", 5400.0),
        ("P1DT0.5S", 86400.5),
        ("90 min", 5400.0),
        ("1,5 Std", 5400.0),
        ("-00:00:10", -10.0),
    ],
)
def test_durations_are_read_as_seconds(text, value):
    assert seconds([text])[0] == pytest.approx(value)


@pytest.mark.parametrize("text", ["5 m", "5", "P", "PT", "1:75:00", "min", "5 min 3 h", "3 cats"])
def test_what_is_no_duration_is_nan(text):
    assert np.isnan(seconds([text])[0])


@pytest.mark.parametrize(
    "form",
    [NumberForm(), NumberForm(",", ".", "", "€"), NumberForm(kind="duration")],
)
def test_a_form_comes_back_from_json(form):
    assert NumberForm.from_dict(json.loads(json.dumps(form.as_dict()))) == form


@pytest.mark.parametrize(
    "changed",
    [{"decimal": "x"}, {"thousands": "."}, {"suffix": "a" * 99}, {"kind": "date"}, {"prefix": 1}],
)
def test_a_form_that_cannot_be_is_refused(changed):
    with pytest.raises(ValueError, match=r"decimal|thousands|unit|kind|form"):
        NumberForm.from_dict(NumberForm().as_dict() | changed)


@pytest.mark.growth
@pytest.mark.parametrize(
    "form", [NumberForm(), NumberForm(thousands=",", suffix="kg"), NumberForm(kind="duration")]
)
@pytest.mark.parametrize("piece", ["9", "1,", "(", "1:", " "])
def test_a_long_text_is_no_number_and_takes_no_longer_than_its_length(form, piece):
    def read(text):
        assert np.isnan(form.read([text] * 5)).all()

    assert_linear(read, lambda n: piece * n + "x", 5_000)


@pytest.mark.parametrize("text", ["9" * 10**6, "\0", "😀"])
def test_hostile_texts_are_no_numbers(text):
    assert np.isnan(NumberForm().read([text] * 20)).all()


@pytest.mark.growth
def test_many_plain_numbers_are_read_in_linear_time(rng):
    texts = [repr(value) for value in rng.normal(size=40_000).tolist()]
    assert_linear(NumberForm().read, lambda n: texts[:n], 10_000)

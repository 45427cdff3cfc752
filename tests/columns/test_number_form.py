"""Numbers as people write them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.missing import SourceFormat
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


FORMS = [
    NumberForm(),
    *(NumberForm(*marks, prefix=unit) for marks in MARKS for unit in ("", "€")),
    NumberForm(",", ".", "", "kg"),
    NumberForm(kind="duration"),
]
cells = st.text("0123456789.,' -+()eE€kg:h\u00a0", max_size=9) | st.sampled_from(
    ["1.234,5", "1,5", "1.234", "12", "1 234", "1'234.5", "5 kg", "€ 7", "1:30", "2h", "1e3", "1_0"]
)


@given(st.lists(cells, max_size=12), st.sampled_from(FORMS))
def test_a_number_is_read_as_by_itself_whatever_is_beside_it(texts, form):
    alone = [form.read([text])[0] for text in texts]
    np.testing.assert_array_equal(form.read(texts), alone)


@pytest.mark.parametrize("form", [NumberForm(), NumberForm(","), NumberForm(kind="duration")])
def test_a_number_with_the_space_around_it_has_at_most_64_letters(form):
    text = "30 s" if form.kind == "duration" else "30"
    for beside in ([], ["é"]):
        read = form.read([text.rjust(64), text.rjust(65), *beside])
        np.testing.assert_array_equal(read[:2], [30.0, np.nan])
    assert NumberForm(suffix="k" * 24).read(["3 " + "k" * 24])[0] == 3.0
    with pytest.raises(ValueError, match="at most 24 characters"):
        NumberForm(suffix="k" * 25)


@pytest.mark.parametrize(
    ("form", "said", "marks"),
    [
        (NumberForm(), "decimal points", ""),
        (NumberForm(suffix="kg"), "decimal points, kg", ""),
        (NumberForm(","), "decimal commas", "decimal commas"),
        (
            NumberForm(",", ".", "€"),
            "decimal commas, points between thousands, €",
            "decimal commas, points between thousands",
        ),
        (NumberForm(kind="duration"), "durations", "durations"),
    ],
)
def test_a_form_is_said_in_words(form, said, marks):
    assert (str(form), form.marks_text) == (said, marks)


@pytest.mark.parametrize(
    ("form", "written", "read_as"),
    [
        (NumberForm(), SourceFormat(), NumberForm()),
        (NumberForm(","), SourceFormat(likely="."), NumberForm(",")),
        (NumberForm(suffix="kg"), SourceFormat(decimal=","), NumberForm(",", ".", "", "kg")),
        (NumberForm(","), SourceFormat(decimal="."), NumberForm(".", ",")),
        (NumberForm(), SourceFormat(thousands="."), NumberForm(",", ".")),
        (NumberForm(","), SourceFormat(thousands="'"), NumberForm(",", "'")),
        (NumberForm(kind="duration"), SourceFormat(decimal=","), NumberForm(kind="duration")),
    ],
)
def test_marks_that_the_user_says_of_a_file_hold_for_its_numbers(form, written, read_as):
    assert form.in_file(written) == read_as


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 weeks 1 day 3 hours", 1_306_800.0),
        ("250 ms", 0.25),
        ("+5 min", 300.0),
        ("−5 min", -300.0),
        ("- 5 min", None),
        ("1:05", 65.0),
        ("1:60", None),
        ("3 days, 4:05", 273_900.0),
        ("-1 day, 23:00:00", -3600.0),
        ("P2W", 1_209_600.0),
        ("P1DT2H3M4,5S", 93_784.5),
        ("-PT1M", -60.0),
        ("1 h 2 h", None),
        ("1 s 2 h", None),
        ("5 m", None),  # metres
        ("1 h 5 m", 3900.0),
        ("10 ms.", 0.01),
    ],
)
def test_durations_have_units_from_large_to_small(text, value):
    np.testing.assert_allclose(seconds([text]), [np.nan if value is None else value])

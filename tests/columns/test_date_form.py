"""Dates and times as people write them, against Python's own strptime."""

import json
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.date_form import DateForm
from tests.growth import assert_linear

EPOCH = datetime(1970, 1, 1)
FORMATS = [
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%y %I:%M:%S %p",
    "%b %d, %Y %I:%M:%S %p",
    "%a, %d %b %Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%Y%m%dT%H%M%S",
]
moments = st.datetimes(datetime(1970, 1, 1), datetime(2068, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)


def since_1970(moment):
    return (moment - EPOCH) / timedelta(seconds=1)


@pytest.mark.parametrize("form", FORMATS)
@given(st.lists(moments, max_size=150))
def test_what_strftime_writes_is_read(form, some):
    read = DateForm(form, True, True).read([moment.strftime(form) for moment in some])
    np.testing.assert_array_equal(read, [since_1970(moment) for moment in some])


@given(st.lists(st.datetimes(datetime(1, 1, 1)), max_size=150), st.sampled_from("T "))
def test_iso_is_read_with_and_without_fractions(some, joint):
    read = DateForm("iso", True, True).read([moment.isoformat(joint) for moment in some])
    np.testing.assert_allclose(read, [since_1970(moment) for moment in some], rtol=0, atol=1e-5)


@given(st.lists(st.text("0123456789/-", max_size=10), max_size=120))
def test_what_python_refuses_is_nan(texts):
    def exists(text):
        try:
            return since_1970(datetime.strptime(text, "%d/%m/%Y"))
        except ValueError:
            return np.nan

    read = DateForm("%d/%m/%Y", True, False).read(texts)
    np.testing.assert_array_equal(read, [exists(text) for text in texts])


@pytest.mark.parametrize(
    "zone", ["", "Z", " UTC", "+02:00", "-0730", " CET", "+02:00[Europe/Berlin]", " Europe/Berlin"]
)
def test_a_zone_does_not_shift_the_hour(zone):
    texts = [f"1970-01-01 10:{minute:02}:00{zone}" for minute in range(60)] * 3
    expected = [36000 + 60 * minute for minute in range(60)] * 3
    assert DateForm("iso", True, True).read(texts).tolist() == expected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("3. März 2020", "%d. %b %Y"),
        ("3 mars 2020", "%d %b %Y"),
        ("3 de marzo de 2020", "%d de %b de %Y"),
        ("Tuesday, March 3, 2020", "%a, %b %d, %Y"),
        ("03-Mar-20", "%d-%b-%y"),
    ],
)
def test_months_have_names_in_four_languages(text, form):
    assert DateForm(form, True, False).read([text])[0] == since_1970(datetime(2020, 3, 3))


def test_times_are_counted_from_midnight():
    read = DateForm("%I:%M:%S %p", False, True).read(["12:00 AM", "5:30 PM", "13:00 PM"])
    np.testing.assert_array_equal(read, [0.0, 63000.0, np.nan])
    read = DateForm("%H:%M:%S", False, True).read(["05:30", "23:59:59.5", "24:10"])
    np.testing.assert_array_equal(read, [19800.0, 86399.5, np.nan])


def test_many_texts_are_read_as_each_alone(rng):
    days = [EPOCH + timedelta(minutes=int(m)) for m in rng.integers(0, 10**7, 400)]
    texts = [f"{d.month}/{d.day}/{d.year} {d.hour}:{d.minute:02}" for d in days]
    texts[7], texts[50], texts[99] = "no date", " 1/2/2000 ", "2/30/2000 0:00"
    form = DateForm("%m/%d/%Y %H:%M:%S", True, True)
    np.testing.assert_array_equal(form.read(texts), [form.read([text])[0] for text in texts])


def test_numbers_are_days_or_counts():
    days = DateForm("%Y%m%d", True, False).of_numbers(np.array([20200303.0, 20200230.0, np.nan]))
    np.testing.assert_array_equal(days, [since_1970(datetime(2020, 3, 3)), np.nan, np.nan])
    assert DateForm("unix-ms", True, True).read(["1583193600000"])[0] == days[0]
    assert DateForm("%Y%m%d", True, False).read(["20200303.0"])[0] == days[0]
    assert np.isnan(DateForm("unix", True, True).read(["1e300", "-", "x"])).all()


@pytest.mark.parametrize("form", [DateForm("iso", True, True), DateForm("Q%q %Y", True, False)])
def test_a_form_comes_back_from_json(form):
    assert DateForm.from_dict(json.loads(json.dumps(form.as_dict()))) == form


@pytest.mark.parametrize("form", ["", "dd.mm.yyyy", "%k", "%Y %Y", "%d" * 40])
def test_a_format_that_cannot_be_is_refused(form):
    with pytest.raises(ValueError, match=r"format|unknown|twice"):
        DateForm.from_dict({"format": form, "has_date": True, "has_clock": False})


@pytest.mark.parametrize("text", ["1" * 10**6, "\0", "😀", "２０２０-01-01"])
def test_hostile_texts_are_no_dates(text):
    read = DateForm("iso", True, True).read([text] * 200 + ["2020-01-01"] * 200)
    assert np.isnan(read).tolist() == [True] * 200 + [False] * 200


@pytest.mark.growth
@pytest.mark.parametrize(("begin", "piece"), [("", "1"), ("2020-01-01", "Z")])
def test_a_long_text_takes_no_longer_than_its_length(begin, piece):
    form = DateForm("iso", True, True)
    assert_linear(lambda text: form.read([text] * 50), lambda n: begin + piece * n, 5_000)


@pytest.mark.growth
def test_many_iso_timestamps_are_read_in_linear_time(rng):
    times = np.datetime64("2000-01-01", "ms") + rng.integers(0, 10**12, 40_000)
    texts = np.datetime_as_string(times).tolist()
    form = DateForm("iso", True, True)
    read = form.read(texts)
    assert_linear(form.read, lambda n: texts[:n], 10_000)
    np.testing.assert_allclose(read, times.astype(np.int64) / 1000, rtol=0, atol=1e-6)

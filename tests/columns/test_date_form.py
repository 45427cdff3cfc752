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
        ("3.  März 2020", "%d. %b %Y"),  # of two spaces one may be for a digit
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


def test_the_days_of_each_month_are_those_of_python():
    def exists(*day):
        try:
            return since_1970(datetime(*day))
        except ValueError:
            return np.nan

    days = [
        (y, m, d)
        for y in (0, 1, 1899, 1900, 1970, 2000, 2023, 2024, 9999)
        for m in (0, 1, 2, 3, 4, 12, 13)
        for d in (0, 1, 28, 29, 30, 31, 32)
    ]
    expected = [exists(*day) for day in days]
    read = DateForm("iso", True, True).read([f"{y:04}-{m:02}-{d:02}" for y, m, d in days])
    np.testing.assert_array_equal(read, expected)
    numbers = np.array([10_000.0 * y + 100.0 * m + d for y, m, d in days])
    np.testing.assert_array_equal(DateForm("%Y%m%d", True, False).of_numbers(numbers), expected)
    quarters = DateForm("%Y Q%q", True, False).read(["2023 Q1", "2023 Q4", "2023 Q5", "0000 Q1"])
    expected = [since_1970(datetime(2023, 1, 1)), since_1970(datetime(2023, 10, 1)), np.nan, np.nan]
    np.testing.assert_array_equal(quarters, expected)


def test_years_of_two_digits_are_those_of_posix():
    texts = [f"3.2.{year:02}" for year in range(100)]
    expected = [since_1970(datetime.strptime(text, "%d.%m.%y")) for text in texts]
    np.testing.assert_array_equal(DateForm("%d.%m.%y", True, False).read(texts), expected)


@pytest.mark.parametrize(
    ("form", "text", "hours"),
    [
        ("%H:%M:%S", "0:00", 0.0),
        ("%H:%M:%S", "23:59:60", 24.0),  # a leap second
        ("%H:%M:%S", "23:59:61", None),
        ("%H:%M:%S", "23:60", None),
        ("%H:%M:%S", "24:00", None),
        ("%H:%M:%S", "12:30:00,9", 12.50025),
        ("%I:%M:%S %p", "12:30 AM", 0.5),
        ("%I:%M:%S %p", "12:30 p.m.", 12.5),
        ("%I:%M:%S %p", "1:30PM", 13.5),
        ("%I:%M:%S %p", "11:30:36 am", 11.51),
        ("%I:%M:%S %p", "13:30 AM", None),
        ("%I.%M", "7.30", 7.5),
        ("%I.%M", "12.30", 12.5),
    ],
)
def test_times_of_day_at_their_bounds(form, text, hours):
    for many in ([text, f" {text}"], [text, f" {text}"] * 40):
        read = DateForm(form, False, True).read(many)
        np.testing.assert_allclose(read, np.nan if hours is None else 3600.0 * hours)


def test_counts_since_1970_are_of_the_years_1_to_9999_and_days_are_whole():
    first, last = since_1970(datetime(1, 1, 1)), since_1970(datetime(9999, 12, 31, 23, 59, 59))
    for name, unit in (("unix", 1.0), ("unix-ms", 1e3)):
        seconds = np.array([first - 1.0, first, 0.0, last, last + 1.0])
        read = DateForm(name, True, True).of_numbers(seconds * unit)
        np.testing.assert_array_equal(read, [np.nan, first, 0.0, last, np.nan])
    days = np.array([10101.0, 10100.0, 20200303.5, 99991231.0, 1e8 + 101.0, -20200303.0])
    read = DateForm("%Y%m%d", True, False).of_numbers(days)
    expected = [first, np.nan, np.nan, since_1970(datetime(9999, 12, 31)), np.nan, np.nan]
    np.testing.assert_array_equal(read, expected)
    with pytest.raises(ValueError, match="not dates of the form"):
        DateForm("iso", True, True).of_numbers(days)


@pytest.mark.parametrize("copies", [1, 80])
def test_a_date_with_the_space_around_it_has_at_most_64_letters(copies):
    form = DateForm("%d %b %Y", True, False)
    for spaces, fits in ((53, True), (54, False)):
        text = " " * spaces + "03 Mar 2020"
        assert form.fits_any([text]) == fits
        assert (~np.isnan(form.read([text] * copies))).tolist() == [fits] * copies


def test_behind_a_date_the_time_may_be_missing_elsewhere_not():
    day = since_1970(datetime(2020, 3, 2))
    for form in ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y, %H:%M:%S", "%d.%m.%YT%H:%M:%S"):
        texts = ["2.3.2020", datetime(2020, 3, 2, 7).strftime(form), "2.3.2020 ,", "7:00:00"]
        expected = [day, day + 25_200.0, np.nan, np.nan]
        np.testing.assert_array_equal(DateForm(form, True, True).read(texts), expected)
    first = DateForm("%H:%M:%S %d.%m.%Y", True, True)
    read = first.read(["07:00 2.3.2020", "2.3.2020", "07:00"])
    np.testing.assert_array_equal(read, [day + 25_200.0, np.nan, np.nan])


def test_a_format_has_at_most_40_letters():
    text = "%Y" + "-" * 38
    assert DateForm(text, True, False).read(["1970" + "-" * 38])[0] == 0.0
    with pytest.raises(ValueError, match="is not a date format"):
        DateForm(text + "-", True, False)


LAYOUTS = {
    "iso": ("2020-03-04", "2020-03-04T05:06", "2020-11-14 15:16:17.25+02:00", "2020-01-01 1:02Z"),
    "%d.%m.%y %I:%M:%S %p": ("1.2.03 4:05 PM", "11.12.13 04:05:16,125 am", "01.02.03 4:05:06P.M."),
    "%a, %d %b %Y %H:%M:%S": ("Mon, 03 May 2021 10:11:12 GMT", "Di., 3 Mai 2021 9:08:07"),
}


@pytest.mark.parametrize("form", LAYOUTS)
@given(st.data())
def test_each_of_many_texts_is_read_as_by_itself(form, data):
    letters = st.sampled_from(sorted(set("0159 -+:.,APaTzMé" + "".join(LAYOUTS[form]))))
    changes = st.tuples(st.sampled_from(LAYOUTS[form]), st.integers(0, 40), letters)
    texts = [
        text[: place % len(text)] + letter + text[place % len(text) + 1 :]
        for text, place, letter in data.draw(st.lists(changes, min_size=10, max_size=30))
    ]
    texts = [*texts, *LAYOUTS[form] * 25]  # more than are read one by one
    read = DateForm(form, True, True)
    np.testing.assert_array_equal(read.read(texts), [read.read([text])[0] for text in texts])


@pytest.mark.parametrize(
    ("month", "names"),
    [
        (1, "January Jan. Januar Jänner janvier enero"),
        (2, "february FEB Februar février févr. febrero"),
        (8, "August aug août agosto"),
        (12, "December Dez. décembre déc dic diciembre"),
    ],
)
def test_the_names_of_a_month_are_known_in_four_languages(month, names):
    texts = [f"5 {name} 1971" for name in names.split()]
    expected = since_1970(datetime(1971, month, 5))
    assert set(DateForm("%d %b %Y", True, False).read(texts).tolist()) == {expected}
    assert np.isnan(DateForm("%d %b %Y", True, False).read(["5 Juvember 1971"])[0])


def test_halves_of_the_day_may_come_first():
    texts = [
        f"{half} {hour}.{minute:02}"
        for minute in range(60)
        for half, hour in (("PM", 5), ("am", 7))
    ]
    expected = [3600.0 * hour + 60.0 * minute for minute in range(60) for hour in (17, 7)]
    assert DateForm("%p %I.%M", False, True).read(texts).tolist() == expected


@pytest.mark.parametrize(
    ("form", "date"),
    [("iso", "2020-01-01"), ("%Y%m%d", "20200101"), ("unix", "1600000000"), ("%H:%M:%S", "10:30")],
)
def test_one_text_is_enough_to_try_a_form(form, date):
    read = DateForm(form, form != "%H:%M:%S", form in ("unix", "%H:%M:%S"))
    assert read.fits_any(["x", date])
    assert not read.fits_any(["x", "?" + date])

"""In which form a column's texts are dates or times of day, if they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from refold._typing import Floats
from refold.columns.date_form import LONGEST, UNIX, DateForm
from refold.columns.text_sample import FormReading, TextSample, disagree

_CLOCK, _HALVES = "%H:%M:%S", "%I:%M:%S %p"
# The first is taken of those that read as much: month first only with slashes.
_DAYS = (
    *("%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m.%d.%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%m-%y", "%m-%d-%y"),
    *("%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%b/%Y", "%d.%b.%Y", "%d %b, %Y"),
    *("%b %d, %Y", "%b %d %Y", "%b-%d-%Y", "%Y-%b-%d", "%Y %b %d", "%d de %b de %Y", "%d%b%Y"),
    *("%a, %d %b %Y", "%a %d %b %Y", "%a, %b %d, %Y", "%a %b %d %Y", "%a, %d. %b %Y"),
    *("%a, %d de %b de %Y",),
)
_WITH_CLOCK = [
    f"{day}{joint}{clock}"
    for day in _DAYS
    for clock in (_CLOCK, _HALVES)
    for joint in (" ", ", ", "T")
]
_OTHERS = (
    *("%Y-%m-%d %I:%M:%S %p", "%a %b %d %H:%M:%S %Y", "%Y%m%d", "%Y%m%d%H%M%S", "%Y%m%dT%H%M%S"),
    *(
        "%Y-%m",
        "%b %Y",
        "%b-%Y",
        "%m/%Y",
        "%YQ%q",
        "%Y-Q%q",
        "%Y Q%q",
        "Q%q %Y",
        "%d/%b/%Y:%H:%M:%S",
    ),
)
_FIRST = 12  # texts that show which forms are worth a trial
_LEAST_DIGITS = 3  # of 1:23 and of 1-Jan-26
_HAS_CLOCK = re.compile("[0-9]:[0-9]")
_FROM, _TO = 631152000.0, 2208988800.0  # 1990 and 2040


@cache
def _forms() -> tuple[DateForm, ...]:
    """Make the forms when a column of text comes: they take longer than many a program runs."""
    return (
        DateForm("iso", True, True),
        DateForm(_CLOCK, False, True),
        DateForm(_HALVES, False, True),
        *(DateForm(form, True, "%M" in form) for form in (*_OTHERS, *_WITH_CLOCK)),
    )


def read_as_dates(sample: TextSample, form: str = "") -> FormReading[DateForm] | None:
    """Return the form in which most of the cells are dates or times, or None.

    The form may be given. Counts since 1970 are not tried otherwise: what tells them from other
    numbers is the column's name.
    """
    hopeful = [_given(form)] if form else _hopeful(sample.texts[:_FIRST])
    if not hopeful:
        return None
    values = {each: each.read(sample.texts) for each in hopeful}
    shares = {each: sample.share(values[each]) for each in hopeful}
    best = max(hopeful, key=shares.__getitem__)
    ties = [other for other in hopeful if shares[other] == shares[best]]
    other = next((other for other in ties if disagree(values[other], values[best])), None)
    return FormReading(_as_seen(best, sample), shares[best], other and _as_seen(other, sample))


def _hopeful(texts: Sequence[str]) -> list[DateForm]:
    """Return the forms in which one of a few texts is a date, in their order."""
    if all(sum(map(str.isdecimal, text[:LONGEST])) < _LEAST_DIGITS for text in texts):
        return []
    fitting = [form for form in _forms() if form.fits_any(texts)]
    return [form for form in fitting if not np.isnan(form.read(texts)).all()]


def numbers_as_dates(values: Floats) -> FormReading[DateForm]:
    """Return the form in which most of the numbers are dates: 20230131, or counts since 1970."""
    day = DateForm("%Y%m%d", True, False)
    century = (values >= 19000101.0) & (values <= 21001231.0)
    counted = {DateForm(name, True, True): values * unit for name, unit in UNIX.items()}
    shares = {form: float(np.mean((s >= _FROM) & (s <= _TO))) for form, s in counted.items()}
    shares[day] = float(np.mean(century & ~np.isnan(day.of_numbers(values))))
    best = max(shares, key=shares.__getitem__)
    return FormReading(best, shares[best])


def _given(form: str) -> DateForm:
    counted = form == "iso" or form in UNIX
    date, clock = bool(re.search("%[Yy]", form)), bool(re.search("%[HI]", form))
    return DateForm(form, counted or date, counted or clock)


def _as_seen(form: DateForm, sample: TextSample) -> DateForm:
    """Return the form without the clock if no cell has one."""
    if not form.has_date or not form.has_clock or any(map(_HAS_CLOCK.search, sample.texts)):
        return form
    if form.format not in ("iso", *_WITH_CLOCK):
        return form
    day = re.split("[ ,T]*%[HI]:", form.format)[0]
    return DateForm(day, True, False)

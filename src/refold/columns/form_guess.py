"""In which form the texts of a column are numbers, durations or dates, if they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

import numpy as np

from refold._typing import Booleans, Floats
from refold.columns.date_form import UNIX, DateForm
from refold.columns.missing import MISSING_WORDS
from refold.columns.name_hints import word_set
from refold.columns.number_form import GROUPED_POINTS, LONGEST, MINUS, SPACES, NumberForm
from refold.columns.table import TextColumn
from refold.columns.units import SCALES, is_currency, is_unit

Form = TypeVar("Form")

_FREQUENT, _DRAWN = 500, 2000


@dataclass(frozen=True, eq=False)
class TextSample:
    """Different texts without the space around them, and how many rows each speaks for."""

    texts: list[str]
    weights: Floats  # (n,): they add up to the rows that have a value

    @classmethod
    def of(cls, column: TextColumn) -> TextSample:
        """Return the most frequent texts and some of the others, always the same."""
        counts = column.counts.astype(np.float64)
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] > 0.0]
        often, rest = order[:_FREQUENT], order[_FREQUENT:]
        if len(rest) > _DRAWN:
            drawn = np.random.default_rng(0).choice(rest, _DRAWN, replace=False)
            scale = counts[rest].sum() / counts[drawn].sum()
        else:
            drawn, scale = rest, 1.0
        texts = [column.values[place].strip() for place in [*often.tolist(), *drawn.tolist()]]
        return cls(texts, np.concatenate([counts[often], scale * counts[drawn]]))

    def share(self, values: Floats) -> float:
        """Return the share of the rows that have a number, given one for each text."""
        return float(self.weights[~np.isnan(values)].sum() / self.weights.sum())


@dataclass(frozen=True)
class FormReading(Generic[Form]):
    """A form, the share of cells that it reads, and another that reads as many as other values."""

    form: Form
    share: float
    rival: Form | None = None


def disagree(a: Floats, b: Floats) -> bool:
    """Whether two readings of the same texts give one of them different values."""
    both = ~np.isnan(a) & ~np.isnan(b)
    return bool((a[both] != b[both]).any())


# ---- numbers -----------------------------------------------------------------------------------

# The first is taken of those that read as much: only then the order matters.
_MARKS = (
    (".", ""),
    (".", ","),
    (",", ""),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
)
_KINDS = dict.fromkeys(SPACES, " ") | {"’": "'"}
_DIGITS = frozenset("0123456789")
_USUAL, _ALL = 0.5, 0.99  # the share of the cells that have to have the unit
_SOME, _VARIOUS = 0.1, 5  # the share of cells, and how many different, that have to be numbers
_GROUPED_POINTS = re.compile(GROUPED_POINTS)
# A point behind a letter belongs to the currency: Rs.500 is 500 rupees.
_AROUND = re.compile(
    rf"[+({MINUS}]?[{SPACES}]?([^0-9{SPACES}(+]{{0,8}}?(?:(?<=[^\W0-9_])\.)?)[{SPACES}]?[+({MINUS}]?"
    rf"[{SPACES}]?\.?[0-9](?:[0-9.,'’]|[{SPACES}](?=[0-9]))*(?:[eE][+-]?[0-9]{{1,4}})?([{SPACES}]?)"
    r"(.{0,30})"
)
# In place of a number: above or below what can be measured, or none.
_BOUND = re.compile(rf"[<>≤≥~≈]=?[{SPACES}]?(.*)")
_IN_PLACE = MISSING_WORDS | word_set(
    ". .. ... -- --- n.a. n.d. nd n/d k.a. missing unknown #div/0! #value! #ref! #num! #name? inf "
    "-inf +inf infinity -infinity"
)


def read_as_numbers(
    sample: TextSample, decimal: str = "", likely: str = ""
) -> FormReading[NumberForm]:
    """Return the form in which most of the cells are numbers; the share may be 0.

    The decimal mark may be given, or be `likely` because other columns have it: then it decides
    what the cells leave open. Cells such as ``<0.05`` or ``n.d.`` are no numbers, but in a column
    of them: they count neither for nor against it.
    """
    plain = _plain_form(sample.texts)
    if plain is not None and decimal in ("", plain.decimal):
        return FormReading(plain, 1.0)
    forms = _forms(sample, decimal)
    aside = _aside(sample, forms)
    values = {form: form.read(sample.texts) for form in forms}
    shares = {form: _share(sample, values[form], aside) for form in forms}
    best = max(forms, key=lambda form: (shares[form], form.decimal == likely))
    ties = [form for form in forms if shares[form] == shares[best] and form != best]
    other = next((form for form in ties if disagree(values[form], values[best])), None)
    if other is None:
        return FormReading(best, shares[best])
    return _settled(sample.texts, best, other, shares[best], likely)


def _plain_form(texts: Sequence[str]) -> NumberForm | None:
    """Return the form of numbers with no marks, or with one that cannot stand between thousands."""
    pointed = [text.replace(",", ".") for text in texts]
    mark = "." if pointed == texts else ","
    marked = [text for text in pointed if "." in text]
    if mark == "," and any("." in text for text in texts):
        return None
    if marked and all(map(_GROUPED_POINTS.fullmatch, marked)):
        return None
    return None if np.isnan(NumberForm().read(pointed)).any() else NumberForm(mark)


def common_mark(marks: Iterable[str]) -> str:
    """Return the decimal mark that more columns show than the other; "" if none does."""
    shown = Counter(filter(None, marks)).most_common(2)
    return shown[0][0] if shown and (len(shown) == 1 or shown[0][1] > shown[1][1]) else ""


def decimal_mark(texts: Sequence[str], form: NumberForm) -> str:
    """Return the decimal mark that numbers of this form show, or ""; thousands show it too."""
    marks = {form.decimal, form.thousands} & {".", ","}
    shown = re.compile(f"[0-9][{''.join(sorted(marks))}][0-9]")
    return form.decimal if any(shown.search(text[:LONGEST]) for text in texts) else ""


def read_as_durations(sample: TextSample) -> FormReading[NumberForm]:
    """Return the share of the cells that are durations."""
    form = NumberForm(kind="duration")
    return FormReading(form, sample.share(form.read(sample.texts)))


def _forms(sample: TextSample, decimal: str) -> list[NumberForm]:
    """Return the forms whose marks occur, with and without the unit."""
    if decimal not in ("", ".", ","):
        raise ValueError(f"the decimal mark is a point or a comma, not {decimal!r}")
    letters = set("".join(text[:LONGEST] for text in sample.texts))
    seen = {_KINDS.get(letter, letter) for letter in letters}
    marks = [pair for pair in _MARKS if not decimal or pair[0] == decimal]
    # The first reads what Python reads, the second also (12.50) and 12-.
    there = [pair for pair in marks[2:] if seen.issuperset(pair[1]) and seen & set("".join(pair))]
    usual = marks[:1] if seen <= _DIGITS else marks[:2]
    return [
        NumberForm(*pair, *unit) for unit in [("", ""), *_unit(sample)] for pair in usual + there
    ]


def _share(sample: TextSample, values: Floats, aside: Booleans) -> float:
    """Return the share of the cells that are numbers, without those that stand in place of one."""
    read, weights = ~np.isnan(values), sample.weights
    if read.sum() < _VARIOUS or weights[read].sum() < _SOME * weights.sum():
        return sample.share(values)
    return float(weights[read].sum() / weights[~aside].sum())


def _aside(sample: TextSample, forms: list[NumberForm]) -> Booleans:
    """Say which cells stand in place of a number."""
    aside = np.array([text.lower() in _IN_PLACE for text in sample.texts], dtype=np.bool_)
    bounds = [_BOUND.fullmatch(text[:LONGEST]) for text in sample.texts]
    rest = {k: found[1] for k, found in enumerate(bounds) if found}
    if rest:
        read = np.any([~np.isnan(form.read([*rest.values()])) for form in forms], axis=0)
        aside[[*rest]] |= read
    return aside


def _unit(sample: TextSample) -> list[tuple[str, str]]:
    """Return what stands before and behind most numbers, if that is a unit."""
    weights: dict[tuple[str, str], float] = {}
    for text, weight in zip(sample.texts, sample.weights.tolist(), strict=True):
        if len(text) <= LONGEST and (found := _AROUND.fullmatch(text)):
            before, space, behind = found.groups()
            behind = behind.strip(f"{SPACES}{MINUS})")
            good = not behind or is_unit(behind, spaced=bool(space))
            if (before or behind) and good and (not before or is_currency(before)):
                weights[before, behind] = weights.get((before, behind), 0.0) + weight
    if not weights:
        return []
    unit = max(weights, key=weights.__getitem__)
    needed = _ALL if unit[1] in SCALES else _USUAL
    return [unit] if weights[unit] >= needed * sample.weights.sum() else []


def _settled(
    texts: list[str], best: NumberForm, other: NumberForm, share: float, likely: str
) -> FormReading[NumberForm]:
    """Choose between thousands and a fraction where every number has three digits behind a mark.

    The decimal mark of other columns decides. Without it, numbers of which only those from a
    thousand on have the mark are thousands: of a fraction nobody leaves three digits away only
    sometimes. What is taken for less reason has the other reading as its rival.
    """
    grouped, fraction = (best, other) if best.thousands else (other, best)
    mark = grouped.thousands
    digits = [re.sub(f"[^0-9{re.escape(mark)}]", "", text[:LONGEST]) for text in texts]
    marked = [text for text in digits if mark in text]
    bare = [text for text in digits if text and mark not in text]
    long = any(len(text) > 3 for text in bare)
    if likely:
        taken, rival = (fraction, grouped) if mark == likely else (grouped, fraction)
        return FormReading(taken, share, rival if long and taken is grouped else None)
    if long:
        return FormReading(fraction, share, grouped if mark == "," else None)
    if bare and any(text.endswith("0") for text in marked) and mark == ",":
        return FormReading(grouped, share)
    taken, rival = (grouped, fraction) if bare or mark == "," else (fraction, grouped)
    return FormReading(taken, share, rival)


# ---- dates -------------------------------------------------------------------------------------

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
def _date_forms() -> tuple[tuple[tuple[str, bool, bool], Mapping[str, int]], ...]:
    """Return what the forms are made of, and the marks that each needs; few are ever made."""
    forms = (
        ("iso", True, True),
        (_CLOCK, False, True),
        (_HALVES, False, True),
        *((form, True, "%M" in form) for form in (*_OTHERS, *_WITH_CLOCK)),
    )
    return tuple((form, _marks_of(form[0])) for form in forms)


def _marks_of(form: str) -> Mapping[str, int]:
    """Return how often a date so written has each mark; behind a date the time may be missing."""
    if form == "iso":
        return {"-": 2}
    if form in (_CLOCK, _HALVES):
        return {":": 1}
    day = re.split("[ ,T]*%[HI]:", form)[0]
    return Counter(re.sub("%.|[^-/.,]", "", day))


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
    some = [t for t in texts if sum(map(str.isdecimal, t[:LONGEST])) >= _LEAST_DIGITS]
    if not some:
        return []
    fitting = [
        form
        for parts, needed in _date_forms()
        if (few := [text for text in some if _has(text, needed)])
        and (form := DateForm(*parts)).fits_any(few)
    ]
    return [form for form in fitting if not np.isnan(form.read(texts)).all()]


def _has(text: str, needed: Mapping[str, int]) -> bool:
    """Whether a text has the marks of a form: most texts can be told from dates by these alone."""
    return all(text.count(mark) >= times for mark, times in needed.items())


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

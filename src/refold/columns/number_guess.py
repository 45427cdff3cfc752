"""In which form a column's texts are numbers, if they are."""

from __future__ import annotations

import re

import numpy as np

from refold._typing import Booleans, Floats
from refold.columns.number_form import LONGEST, MINUS, SPACES, NumberForm
from refold.columns.text_cells import word_set
from refold.columns.text_sample import FormReading, TextSample, disagree
from refold.columns.units import SCALES, is_currency, is_unit

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
_AROUND = re.compile(
    rf"[+({MINUS}]?[{SPACES}]?([^0-9{SPACES}(+]{{0,8}}?)[{SPACES}]?[+({MINUS}]?[{SPACES}]?"
    rf"[0-9.](?:[0-9.,'’]|[{SPACES}](?=[0-9]))*(?:[eE][+-]?[0-9]{{1,4}})?([{SPACES}]?)(.{{0,30}})"
)
# In place of a number: above or below what can be measured, or none.
_BOUND = re.compile(rf"[<>≤≥~≈]=?[{SPACES}]?(.*)")
_NONE = word_set(
    ". .. ... -- --- n.a. n.d. nd n/d k.a. missing unknown #div/0! #value! #ref! #num! #name? inf "
    "-inf +inf infinity -infinity"
)


def read_as_numbers(sample: TextSample, decimal: str = "") -> FormReading[NumberForm]:
    """Return the form in which most of the cells are numbers; the share may be 0.

    The decimal mark may be given. Cells such as ``<0.05`` or ``n.d.`` are no numbers, but in a
    column of them: they count neither for nor against it.
    """
    forms = _forms(sample, decimal)
    aside = _aside(sample, forms)
    values = {form: form.read(sample.texts) for form in forms}
    shares = {form: _share(sample, values[form], aside) for form in forms}
    best = max(forms, key=shares.__getitem__)
    ties = [form for form in forms if shares[form] == shares[best] and form != best]
    other = next((form for form in ties if disagree(values[form], values[best])), None)
    if other is None:
        return FormReading(best, shares[best])
    return _settled(sample.texts, best, other, shares[best])


def read_as_durations(sample: TextSample) -> FormReading[NumberForm]:
    """Return the share of the cells that are durations."""
    form = NumberForm(kind="duration")
    return FormReading(form, sample.share(form.read(sample.texts)))


def _forms(sample: TextSample, decimal: str) -> list[NumberForm]:
    """Return the forms whose marks occur, with and without the unit."""
    if decimal not in ("", ".", ","):
        raise ValueError(f"the decimal mark is a point or a comma, not {decimal!r}")
    seen = {_KINDS.get(letter, letter) for text in sample.texts for letter in text[:LONGEST]}
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
    bounds = [_BOUND.fullmatch(text[:LONGEST]) for text in sample.texts]
    rest = [found[1] if found else "" for found in bounds]
    read = np.any([~np.isnan(form.read(rest)) for form in forms], axis=0)
    none = [text.lower() in _NONE for text in sample.texts]
    return np.asarray(read | np.array(none, bool))


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
    texts: list[str], best: NumberForm, other: NumberForm, share: float
) -> FormReading[NumberForm]:
    """Choose between thousands and a fraction where every number has three digits behind a mark.

    Numbers of which only those from a thousand on have the mark, and that end in 0 behind it, are
    thousands: of a fraction nobody writes such a 0 only sometimes.
    """
    grouped, fraction = (best, other) if best.thousands else (other, best)
    mark = re.escape(grouped.thousands)
    digits = [re.sub(f"[^0-9{mark}]", "", text[:LONGEST]) for text in texts]
    marked = [text for text in digits if grouped.thousands in text]
    bare = [text for text in digits if text and grouped.thousands not in text]
    long = any(len(text) > 3 for text in bare)
    thousands = bool(bare) and not long and any(text.endswith("0") for text in marked)
    if grouped.thousands == ".":  # otherwise it is as Python writes it
        return FormReading(grouped, share, fraction) if thousands else FormReading(fraction, share)
    if thousands:
        return FormReading(grouped, share)
    return FormReading(fraction, share, grouped) if long else FormReading(grouped, share, fraction)

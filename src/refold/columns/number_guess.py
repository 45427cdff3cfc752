"""In which form a column's texts are numbers, if they are."""

from __future__ import annotations

import re

import numpy as np

from refold._typing import Booleans, Floats
from refold.columns.number_form import LONGEST, MINUS, SPACES, NumberForm
from refold.columns.text_sample import Reading, TextSample, disagree
from refold.columns.units import SCALES, is_currency, is_unit
from refold.columns.word_set import word_set

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
_USUAL, _ALL = 0.5, 0.99  # the share of the cells that have to have the unit
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


def read_as_numbers(sample: TextSample, decimal: str = "") -> Reading[NumberForm]:
    """Return the form in which most of the cells are numbers; the share may be 0.

    The decimal mark may be given.

    Cells such as ``<0.05`` or ``n.d.`` are no numbers, but in a column of them: they count
    neither for nor against it.
    """
    units = [("", ""), *_unit(sample)]
    marks = [pair for pair in _MARKS if not decimal or pair[0] == decimal]
    if not marks:
        raise ValueError(f"the decimal mark is a point or a comma, not {decimal!r}")
    forms = [NumberForm(*pair, *unit) for unit in units for pair in marks]
    aside = _aside(sample, forms)
    values = {form: form.read(sample.texts) for form in forms}
    shares = {form: _share(sample, values[form], aside) for form in forms}
    best = max(forms, key=shares.__getitem__)
    ties = [form for form in forms if shares[form] == shares[best] and form != best]
    other = next((form for form in ties if disagree(values[form], values[best])), None)
    if other is None:
        return Reading(best, shares[best])
    return _settled(sample.texts, best, other, shares[best])


def read_as_durations(sample: TextSample) -> Reading[NumberForm]:
    """Return the share of the cells that are durations."""
    form = NumberForm(kind="duration")
    return Reading(form, sample.share(form.read(sample.texts)))


def _share(sample: TextSample, values: Floats, aside: Booleans) -> float:
    seen, read = sample.weights[~aside].sum(), sample.weights[~np.isnan(values)].sum()
    return float(read / seen) if read >= _USUAL * sample.weights.sum() else sample.share(values)


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
) -> Reading[NumberForm]:
    """Choose between thousands and a fraction where every number has three digits behind a mark.

    Numbers below and above a thousand of which only these have the mark, and that end in 0
    behind it, are thousands: of a fraction nobody writes such a 0 only sometimes.
    """
    mark = best.decimal if not best.thousands else best.thousands
    digits = [re.sub(f"[^0-9{re.escape(mark)}]", "", text[:LONGEST]) for text in texts]
    marked = [text for text in digits if mark in text]
    bare = [text for text in digits if text and mark not in text]
    long = any(len(text) > 3 for text in bare)
    thousands = not long and bool(bare) and any(text.endswith("0") for text in marked)
    grouped, fraction = (best, other) if best.thousands else (other, best)
    if best.decimal == "." and not best.thousands:  # as Python writes it
        return Reading(grouped, share, fraction) if thousands else Reading(best, share)
    return Reading(fraction, share, grouped) if long else Reading(grouped, share, fraction)

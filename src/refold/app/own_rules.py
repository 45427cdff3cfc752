"""Rules of the user's: a line of the form for each column, and what the form says.

They are the same mapping as a file of rules has. What the form does not show stays as it was.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refold.app.browser import one
from refold.app.profile import Choice, ColumnProfile
from refold.decisions.rules import rules_in_words
from refold.decisions.rules_reading import is_mute, read_rules
from refold.service import RequestError

MOST_LINES = 300  # columns that the form shows; a page of more takes seconds
# What may be said of columns by their role, and of all of them.
_BY_ROLE = {"number": ("min", "max", "direction", "tolerance"), "date": ("min", "max")}
_OTHERWISE = ("allowed", "format")
_TEXTS = ("min", "max", "allowed", "format", "tolerance")
_LISTS = ("allowed", "format")
_SHOWN = (*_TEXTS, "direction", "blame", "required")
_MUTE = "mute"


@dataclass(frozen=True)
class RuleLine:
    """What the form shows of one column."""

    place: int  # of the column in the table
    name: str
    texts: Mapping[str, str]  # what its fields hold; what has no field does not fit the column
    blame: bool
    required: bool
    others: tuple[str, ...]  # rules that have no field, in words

    @property
    def said(self) -> bool:
        """Whether there is a rule."""
        return not self.blame or self.required or bool(self.others) or any(self.texts.values())


def roles_learned(columns: Sequence[ColumnProfile], choice: Choice) -> dict[str, str]:
    """Return the columns that are learned, with their roles."""
    out = ("", "ignore", "identifier")
    return {
        each.name: each.role
        for each in columns
        if each.role not in out and each.name != choice.id_column
    }


def rule_lines(
    columns: Sequence[ColumnProfile], rules: Mapping[str, Any], choice: Choice
) -> list[RuleLine]:
    """Return the lines of the form: columns that are learned, and those that have a rule."""
    lines: list[RuleLine] = []
    roles = roles_learned(columns, choice)
    for place, column in enumerate(columns):
        said = rules.get(column.name, {})
        said = said if isinstance(said, Mapping) else {}
        learned = column.name in roles
        if not said and (not learned or len(lines) >= MOST_LINES):
            continue
        fields = dict.fromkeys(_BY_ROLE.get(column.role, _OTHERWISE), "") if learned else {}
        held = {key: _as_text(said[key]) for key in (*_TEXTS, "direction") if key in said}
        blame, required = said.get("blame", True), said.get("required", False)
        others = {key: value for key, value in said.items() if key not in _SHOWN}
        words = tuple(_words({column.name: others}))
        lines.append(
            RuleLine(place, column.name, {**fields, **held}, blame, required is True, words)
        )
    return lines


def mute_lines(rules: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the conditions of rows that are muted: those as they were typed, others in words."""
    found = _muted(rules)
    typed = [each for each in found if isinstance(each, str)]
    return typed, list(_words({_MUTE: [each for each in found if not isinstance(each, str)]}))


def _words(rules: Mapping[str, Any]) -> Iterator[str]:
    """Say what rules of a file say that have no field in the form."""
    for _, texts in rules_in_words(read_rules(rules)):
        yield from texts


def rules_from_form(
    form: Mapping[str, list[str]], names: Sequence[str], before: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the rules that a form says; `before` are those of columns that it does not show."""
    rules = {k: v for k, v in before.items() if k != _MUTE or not is_mute(v)}
    shown = set(form.get("rule", []))
    for place, name in enumerate(names):
        if str(place) in shown:
            kept = {k: v for k, v in rules.pop(name, {}).items() if k not in _SHOWN}
            if said := {**kept, **dict(_line(form, place, name))}:
                rules[name] = said
    mutes = _muted(before)
    if _MUTE in form:
        typed = [line.strip() for line in one(form, _MUTE).splitlines() if line.strip()]
        mutes = [*typed, *(each for each in mutes if not isinstance(each, str))]
    if mutes and _MUTE in rules:
        raise RequestError(
            400, "The table has a column called mute: it cannot have rules where rows are muted."
        )
    return {**rules, _MUTE: mutes} if mutes else rules


def _muted(rules: Mapping[str, Any]) -> list[Any]:
    found = rules.get(_MUTE, [])
    if not is_mute(found):  # a column is called so
        return []
    return list(found) if isinstance(found, list | tuple) else [found]


def _line(form: Mapping[str, list[str]], place: int, name: str) -> Iterator[tuple[str, Any]]:
    """Return what the form says of one column; what cannot be understood is refused later."""
    for key in _TEXTS:
        text = one(form, f"{key}-{place}", "").strip()
        if text:
            yield key, _values(text, name) if key in _LISTS else _number(text)
    direction = one(form, f"direction-{place}", "")
    if direction:
        yield "direction", direction
    if one(form, f"unblamed-{place}", ""):
        yield "blame", False
    if one(form, f"required-{place}", ""):
        yield "required", True


def _number(text: str) -> float | str:
    """Return a number; a text if it is none: a date, a percentage, or a slip."""
    try:
        return float(text)
    except ValueError:
        return text


def _values(text: str, name: str) -> list[str]:
    """Return values with commas between them; one that has a comma is in quotes."""
    try:
        (values,) = csv.reader([text], skipinitialspace=True)
    except (csv.Error, ValueError) as error:
        raise RequestError(400, f"{name}: the values cannot be read: {error}.") from None
    return [value.strip() for value in values if value.strip()]


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        out = io.StringIO()
        csv.writer(out, lineterminator=", ").writerows([each] for each in value)
        return out.getvalue().removesuffix(", ").replace("\r", " ").replace("\n", " ")
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

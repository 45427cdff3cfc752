"""Rules of the user's: a line of the form for each column, and what the form says.

They are the same mapping as a file of rules has. What the form does not show stays as it was.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refold.app.browser import one
from refold.app.looking import ColumnLook
from refold.base.findings import Finding
from refold.service import RequestError

MOST_LINES = 300  # columns that the form shows; a page of more takes seconds
# What may be said of columns by their role, and of all of them.
_BY_ROLE = {"number": ("min", "max", "direction", "tolerance"), "date": ("min", "max")}
_OTHERWISE = ("allowed",)
_TEXTS = ("min", "max", "allowed", "tolerance")
_SHOWN = (*_TEXTS, "direction", "blame")
_NOT_LEARNED = ("", "ignore", "identifier")
_MUTE = "mute"


@dataclass(frozen=True)
class RuleLine:
    """What the form shows of one column."""

    place: int  # of the column in the table
    name: str
    texts: Mapping[str, str]  # what its fields hold; what has no field does not fit the column
    blame: bool

    @property
    def said(self) -> bool:
        """Whether there is a rule."""
        return not self.blame or any(self.texts.values())


def rule_lines(
    columns: Sequence[ColumnLook], rules: Mapping[str, Any], id_column: str
) -> list[RuleLine]:
    """Return the lines of the form: columns that are learned, and those that have a rule."""
    lines: list[RuleLine] = []
    for place, column in enumerate(columns):
        said = rules.get(column.name, {})
        said = said if isinstance(said, Mapping) else {}
        learned = column.role not in _NOT_LEARNED and column.name != id_column
        if not said and (not learned or len(lines) >= MOST_LINES):
            continue
        fields = dict.fromkeys(_BY_ROLE.get(column.role, _OTHERWISE), "") if learned else {}
        held = {key: _as_text(said[key]) for key in (*_TEXTS, "direction") if key in said}
        lines.append(RuleLine(place, column.name, {**fields, **held}, said.get("blame", True)))
    return lines


def mute_lines(rules: Mapping[str, Any]) -> list[str]:
    """Return the conditions of rows that are muted, as they were typed."""
    return [each for each in _muted(rules) if isinstance(each, str)]


def rules_of(
    form: Mapping[str, list[str]], names: Sequence[str], before: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the rules that a form says; `before` are those of columns that it does not show."""
    rules = {name: said for name, said in before.items() if isinstance(said, Mapping)}
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
    if isinstance(found, Mapping):  # a column is called so
        return []
    return list(found) if isinstance(found, list | tuple) else [found]


def _line(form: Mapping[str, list[str]], place: int, name: str) -> Iterator[tuple[str, Any]]:
    """Return what the form says of one column; what cannot be understood is refused later."""
    for key in _TEXTS:
        text = one(form, f"{key}-{place}", "").strip()
        if text:
            yield key, _values(text, name) if key == "allowed" else _number(text)
    direction = one(form, f"direction-{place}", "")
    if direction:
        yield "direction", direction
    if one(form, f"unblamed-{place}", ""):
        yield "blame", False


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
        raise RequestError(400, f"{name}: the allowed values cannot be read: {error}.") from None
    return [value.strip() for value in values if value.strip()]


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(value)
        return out.getvalue().replace("\r", " ").replace("\n", " ")
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def about_rules(noticed: Iterable[Finding]) -> list[Finding]:
    """Return what was noticed of rules when they were learned with."""
    return [each for each in noticed if each.kind in ("idle-rule", "outside-rule")]

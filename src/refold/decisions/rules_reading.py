"""Reading rules: from a mapping, or from a file of TOML or JSON; what is wrong is said by place."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

from refold.base.errors import UserError
from refold.base.words import number, quoted, shortened, suggestion
from refold.decisions.rules import (
    ColumnRule,
    Condition,
    Mute,
    Rules,
    Specification,
    Tolerance,
)

_LIMITS = ("min", "max", "allowed", "format", "required")
# What learned rules say of themselves; it has no meaning as a rule.
_NOTES = ("support", "false_alarms")
_KEYS = ("direction", *_LIMITS, "tolerance", "blame", "mute", "if", *_NOTES)
_MUTE_KEYS = ("when", "until")
_MOST_BYTES = 1 << 20

_UNTIL = re.compile(r"^(?:(?P<rest>.*\S)\s+)?until\s+(?P<day>\S+)$", re.DOTALL)
_EQUALS = re.compile(r"^(?P<column>.+?)\s*(?:==|=|\bis\b)\s*(?P<value>.+)$", re.DOTALL)
_HAS = re.compile(r"^row has\s+(?P<column>.+?)\s+(?P<value>'[^']*'|\"[^\"]*\"|\S+)$", re.DOTALL)
_TOLERANCE = re.compile(r"^\s*(?P<amount>[0-9.eE+-]+)\s*(?P<unit>%|ulp)\s*$")


def read_rules(given: Mapping[str, Any] | None) -> Rules:
    """Return rules that were given as a mapping of columns to what is said of them."""
    if not given:
        return Rules()
    if not isinstance(given, Mapping):
        raise UserError(f"rules={given!r} is not a mapping of columns to what is said of them.")
    columns: list[ColumnRule] = []
    mutes: tuple[Mute, ...] = ()
    for name, said in given.items():
        if name == "mute" and is_mute(said):
            mutes = _mutes(said, "mute")
        elif isinstance(said, Mapping):
            columns.append(_column(str(name), said))
        else:
            raise UserError(
                f"rules: {name}: {said!r} is not a mapping such as {{'min': 0, 'max': 5}}."
            )
    return Rules(tuple(columns), mutes, dict(given))


def is_mute(said: Any) -> bool:
    """Whether what stands under "mute" are rows that are muted, and no rules of such a column."""
    return not isinstance(said, Mapping) or (bool(said) and set(said) <= set(_MUTE_KEYS))


def load_rules(path: str | os.PathLike[str], name: str | None = None) -> dict[str, Any]:
    """Return what a file of rules says: TOML, or JSON if its name ends in .json; dates as texts."""
    file = Path(path if name is None else name)
    with Path(path).open("rb") as content:
        raw = content.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise UserError(f"{file}: a file of rules has at most {_MOST_BYTES >> 20} MB.")
    try:
        text = raw.decode("utf-8-sig")
        found = json.loads(text) if file.suffix.lower() == ".json" else tomllib.loads(f"{text}\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: byte {error.start} is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise UserError(f"{file}, line {error.lineno}: {error.msg}.") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{file}: {error}.") from None
    except RecursionError:
        raise UserError(f"{file}: it is nested too deeply.") from None
    except ValueError as error:  # a number of thousands of digits
        raise UserError(f"{file}: {error}.") from None
    if not isinstance(found, dict):
        raise UserError(f"{file}: it must map columns to what is said of them.")
    try:
        read_rules(found)
    except UserError as error:
        raise error.about(str(file)) from None
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain


def _column(name: str, said: Mapping[str, Any]) -> ColumnRule:
    _check_keys(said, _KEYS, name)
    direction, blame = said.get("direction"), said.get("blame", True)
    if direction not in (None, "high", "low"):
        raise UserError(f"rules: {name}: direction is {direction!r}; it is 'high' or 'low'.")
    if not isinstance(blame, bool):
        raise UserError(f"rules: {name}: blame is {blame!r}; it is true or false.")
    specifications = []
    own = _specification(said, name)
    if own != Specification():
        specifications.append((Condition(), own))
    for place, each in enumerate(_listed(said.get("if", [])), start=1):
        where = f"{name}: if {place}"
        if not isinstance(each, Mapping) or "when" not in each:
            raise UserError(f"rules: {where}: it needs 'when', such as {{'machine': 'M17'}}.")
        _check_keys(each, ("when", *_LIMITS, *_NOTES), where)
        found = _specification(each, where)
        if found == Specification():
            raise UserError(f"rules: {where}: it sets no limit: min, max, allowed, format.")
        specifications.append((_condition(each["when"], where), found))
    tolerance = None if "tolerance" not in said else _tolerance(said["tolerance"], name)
    mutes = _mutes(said.get("mute", []), f"{name}: mute")
    return ColumnRule(name, direction, tolerance, blame, tuple(specifications), mutes)


def _specification(said: Mapping[str, Any], place: str) -> Specification:
    low, high = (_limit(said.get(key), f"{place}: {key}") for key in ("min", "max"))
    if low is not None and high is not None:
        if isinstance(low, str) != isinstance(high, str):
            raise UserError(f"rules: {place}: min {low!r} and max {high!r} are not of one kind.")
        if low > high:  # type: ignore[operator]
            raise UserError(
                f"rules: {place}: the limits are the wrong way round: min {_shown(low)} is above "
                f"max {_shown(high)}."
            )
    allowed, formats = (
        None if key not in said else _texts(said[key], f"{place}: {key}")
        for key in ("allowed", "format")
    )
    for each in _listed(said.get("format", [])):
        if not isinstance(each, str) or not each:
            raise UserError(f"rules: {place}: format is {each!r}; it is a text such as 'AA-9999'.")
    required = said.get("required", False)
    if not isinstance(required, bool):
        raise UserError(f"rules: {place}: required is {required!r}; it is true or false.")
    return Specification(low, high, allowed, formats, required)


def _limit(value: Any, place: str) -> float | str | None:
    if value is None:
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return _day(value, place)
    if not _is_finite(value):
        raise UserError(f"rules: {place} is {_brief(value)}; it must be a number or a date.")
    return float(value)


def _is_finite(value: Any) -> bool:
    """Whether this is a number that a double can hold."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
    except OverflowError:
        return False


def _brief(value: Any) -> str:
    return shortened(repr(value))


def _day(text: str, place: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f"rules: {place} is {quoted(text)}; it must be a number or a date such as 2026-12-31."
        ) from None
    return text


def _tolerance(value: Any, name: str) -> Tolerance:
    kind, amount = "absolute", value
    if isinstance(value, str):
        found = _TOLERANCE.match(value)
        if found:
            kind = "percent" if found["unit"] == "%" else "places"
            try:
                amount = float(found["amount"])
            except ValueError:
                found = None
        if not found:
            raise UserError(
                f"rules: {name}: tolerance is {quoted(value)}; it is a number, a percentage such "
                "as '2%', or units of the last place such as '1 ulp'."
            )
    if not _is_finite(amount) or amount < 0.0:
        raise UserError(f"rules: {name}: tolerance is {_brief(value)}; it must be 0 or more.")
    return Tolerance(float(amount), kind)  # type: ignore[arg-type]


def _mutes(said: Any, place: str) -> tuple[Mute, ...]:
    return tuple(_mute(each, place) for each in _listed(said))


def _mute(said: Any, place: str) -> Mute:
    if isinstance(said, str) and not said.strip():
        raise UserError(f"rules: {place}: it is empty, and would mute every row. Leave it out.")
    if isinstance(said, str):
        rest: str | None = said.strip()
        found, until = _UNTIL.match(said.strip()), None
        if found:
            rest, until = found["rest"], _date(found["day"], place)
        return Mute(_condition(rest, place) if rest else Condition(), until)
    if not isinstance(said, Mapping) or not said:
        raise UserError(
            f"rules: {place}: {said!r} is not a condition such as 'machine = M17 until 2026-12-31'."
        )
    _check_keys(said, _MUTE_KEYS, place)
    until = None if "until" not in said else _date(said["until"], place)
    condition = Condition() if "when" not in said else _condition(said["when"], place)
    return Mute(condition, until)


def _date(value: Any, place: str) -> str:
    try:
        day = value if isinstance(value, date) else date.fromisoformat(str(value))
    except ValueError:
        raise UserError(
            f"rules: {place}: until {quoted(str(value))} is not a day such as 2026-12-31."
        ) from None
    return day.strftime("%Y-%m-%d")


def _condition(said: Any, place: str) -> Condition:
    """Read a condition: a mapping of columns to values, or a text."""
    if isinstance(said, str):
        said = dict(_clause(each.strip(), place) for each in re.split(r"\s+and\s+", said.strip()))
    if not isinstance(said, Mapping) or not said:
        raise UserError(
            f"rules: {place}: {said!r} is not a condition such as {{'machine': 'M17'}}."
        )
    tests, words = [], []
    for name, value in said.items():
        if isinstance(value, Mapping):
            _check_keys(value, _LIMITS, f"{place}: {name}")
            test = _specification(value, f"{place}: {name}")
            words.append(f"{name} {_said(test)}")
        else:
            test = Specification(allowed=_texts(value, f"{place}: {name}"))
            assert test.allowed is not None
            words.append(f"{name} = {' or '.join(test.allowed)}")
        tests.append((str(name), test))
    return Condition(tuple(tests), " and ".join(words))


def _clause(text: str, place: str) -> tuple[str, str]:
    found = _HAS.match(text) or _EQUALS.match(text)
    if not found:
        raise UserError(
            f"rules: {place}: {quoted(text)} is not a condition such as machine = M17, or row has "
            "status 'maintenance'."
        )
    return _unquoted(found["column"]), _unquoted(found["value"])


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _said(test: Specification) -> str:
    if test.allowed is not None:
        return f"= {' or '.join(test.allowed)}"
    return test.range_text() if test.low is not None or test.high is not None else "as set"


def _texts(value: Any, place: str) -> tuple[str, ...]:
    """Return one or several values as columns have them."""
    for each in _listed(value):
        if not isinstance(each, str | Real | date):
            raise UserError(f"rules: {place} is {_brief(each)}; it is a list of values.")
    if not _listed(value):
        raise UserError(f"rules: {place} names no value.")
    return tuple(map(_text, _listed(value)))


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else number(value)


def _listed(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def _check_keys(said: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for key in said:
        if key not in known:
            raise UserError(
                f"rules: {place}: there is no rule {key!r}.{suggestion(str(key), known)}"
            )

"""Rules that were learned: for people, and as files that other tools read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.base.needs import needs
from refold.base.results import Backend, ResultSequence, native_frame
from refold.base.words import number, percent, printable, quoted

_SHOWN = 6  # values that are named
_LIMITS = ("min", "max", "allowed", "format", "required")


@dataclass(frozen=True)
class LearnedRule:
    """What is normal of a column, in all rows or in some."""

    column: str  #: column, role: the column, and what it is
    role: str
    support: int  #: the training rows that it was learned from
    false_alarms: float  #: the share of these that would violate it, each left out in turn
    #: In which rows it holds: a column and its value; empty if in all
    when: Mapping[str, str] = field(default_factory=dict)
    min: float | str | None = None  #: min, max: the range; of dates the first and the last day
    max: float | str | None = None
    #: allowed, format: the values, and the forms, that there are
    allowed: tuple[str, ...] | None = None
    format: tuple[str, ...] | None = None
    required: bool = False  #: whether there always was a value

    @property
    def limits(self) -> dict[str, Any]:
        """What it sets, by the keys of a rule."""
        found = {key: getattr(self, key) for key in _LIMITS}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in found.items()
            if value not in (None, False)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``Detector(rules=...)`` takes it of its column."""
        where = {"when": dict(self.when)} if self.when else {}
        notes = {"support": self.support, "false_alarms": round(float(self.false_alarms), 6)}
        return {**where, **self.limits, **notes}

    def __str__(self) -> str:
        said = []
        if self.min is not None and self.max is not None:
            said.append(f"{_shown(self.min)}–{_shown(self.max)}")
        for several in (self.allowed, self.format):
            if several is not None:
                more = f" and {len(several) - _SHOWN} more" if len(several) > _SHOWN else ""
                said.append(f"{', '.join(map(quoted, several[:_SHOWN]))}{more}")
        if self.required:
            said.append("never missing")
        where = "".join(
            f" if {printable(name)} = {printable(value)}" for name, value in self.when.items()
        )
        return f"{printable(self.column)}{where}: {', '.join(said) or 'anything'}"


def _shown(end: float | str) -> str:
    return end if isinstance(end, str) else number(end)


class LearnedRules(ResultSequence[LearnedRule]):
    """What a model takes as normal: one rule per column, and what goes with other columns.

    Examples
    --------
    >>> from refold import Detector
    >>> model = Detector().fit([{"weight": 2 + k % 7} for k in range(200)])
    >>> model.rules_.to_dict()
    {'weight': {'min': 2.0, 'max': 8.0, 'required': True, 'support': 200, 'false_alarms': 0.0}}
    """

    def __init__(self, rules: tuple[LearnedRule, ...], left_out: tuple[str, ...] = ()) -> None:
        self._items, self.left_out = rules, left_out

    def __getitem__(self, key: Any) -> Any:
        """Return a rule by number, or that of a column by name."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [rule for rule in self if rule.column == key and not rule.when]
        if not found:
            raise KeyError(f"There is no rule of the column {key!r}.")
        return found[0]

    def to_dict(self) -> dict[str, Any]:
        """Return all rules as ``Detector(rules=...)`` takes them."""
        out: dict[str, Any] = {}
        for rule in self._items:
            if rule.when:
                out.setdefault(rule.column, {}).setdefault("if", []).append(rule.to_dict())
            else:
                out[rule.column] = rule.to_dict()
        return out

    def to_json(self) -> str:
        """Return the same as JSON, a file for ``refold fit --rules``."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_toml(self) -> str:
        """Return the same as TOML, a file for ``refold fit --rules``."""
        lines = []
        for name, said in self.to_dict().items():
            lines.append(f"[{_literal(name)}]")
            lines += [f"{key} = {_literal(value)}" for key, value in said.items() if key != "if"]
            for each in said.get("if", ()):
                lines += ["", f"[[{_literal(name)}.if]]"]
                lines += [f"{key} = {_literal(value)}" for key, value in each.items()]
            lines.append("")
        return "\n".join(lines)

    def to_sql(self, table: str, dialect: str = "duckdb") -> str:
        """Return a query that counts the rows of a table that violate each rule.

        Parameters
        ----------
        table : str
            The table.
        dialect : str, default="duckdb"
            The database, as sqlglot calls it.

        Returns
        -------
        str
            Columns ``rule`` and ``violations``, a line per rule.
        """
        from refold.checks._rules_sql import checks_query

        needs("sqlglot", "sql")
        return checks_query(self._items, table, dialect)

    def to_pandera(self) -> str:
        """Return a module of Python with a pandera schema, ``schema``."""
        columns, checks = [], []
        for rule in self._items:
            if rule.when:
                checks.append(_conditional_check(rule))
            else:
                own = ", ".join(_column_checks(rule))
                nullable = not rule.required
                columns.append(
                    f"        {rule.column!r}: pa.Column(checks=[{own}], nullable={nullable}),"
                )
        lines = ["import pandera.pandas as pa", "", "schema = pa.DataFrameSchema(", "    {"]
        lines += [*columns, "    },"]
        if checks:
            lines += ["    checks=[", *(f"        {check}," for check in checks), "    ],"]
        return "\n".join([*lines, ")", ""])

    def to_odcs(self, table: str) -> str:
        """Return a data contract by the Open Data Contract Standard, 3.1.0, as JSON."""
        properties: dict[str, dict[str, Any]] = {}
        quality = []
        for rule in self._items:
            if rule.when:
                query = LearnedRules((rule,)).to_sql("${object}")
                query = f"SELECT SUM(violations) FROM ({query}) AS rules"
                quality.append(
                    {"type": "sql", "description": str(rule), "query": query, "mustBe": 0}
                )
            else:
                properties[rule.column] = _property(rule)
        schema = {"name": table, "logicalType": "object", "properties": [*properties.values()]}
        if quality:
            schema["quality"] = quality
        document = {
            "apiVersion": "v3.1.0",
            "kind": "DataContract",
            "id": table,
            "version": "1.0.0",
            "status": "draft",
            "schema": [schema],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a line per rule: column, rule, support, false_alarms."""
        columns: dict[str, list[Any]] = {
            "column": [rule.column for rule in self],
            "rule": [str(rule) for rule in self],
            "support": [rule.support for rule in self],
            "false_alarms": [rule.false_alarms for rule in self],
        }
        return native_frame(columns, backend, integers=["support"], texts=["column", "rule"])

    def __repr__(self) -> str:
        return f"LearnedRules({len(self)} rules of {len({rule.column for rule in self})} columns)"

    def __str__(self) -> str:
        lines = [
            f"{rule} ({rule.support:,} rows, {percent(rule.false_alarms)} false alarms)"
            for rule in self._items
        ]
        if self.left_out:
            named = ", ".join(map(printable, self.left_out))
            lines.append(f"Normal by what is expected in their context, not by a range: {named}.")
        return "\n".join(lines)


def _literal(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(k)} = {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)


def pattern(shapes: Sequence[str]) -> str:
    """Return forms such as AA-9999 as a regular expression of whole texts."""
    classes = {"A": "[A-Z]", "a": "[a-z]", "9": "[0-9]", " ": r"\s"}
    either = []
    for shape in shapes:
        runs = re.finditer(r"(.)\1*", shape, re.DOTALL)
        either.append(
            "".join(
                classes.get(run[1], re.escape(run[1]))
                + (f"{{{len(run[0])}}}" if len(run[0]) > 1 else "")
                for run in runs
            )
        )
    return f"^({'|'.join(either)})$"


def _column_checks(rule: LearnedRule) -> Iterator[str]:
    if rule.min is not None and rule.max is not None:
        ends = [repr(end) for end in (rule.min, rule.max)]
        if isinstance(rule.max, str):  # a day is over at its end
            ends[1] = repr(f"{rule.max} 23:59:59")
        yield f"pa.Check.in_range({', '.join(ends)})"
    if rule.allowed is not None:
        yield f"pa.Check.isin({_values(rule.allowed)!r})"
    if rule.format is not None:
        yield f"pa.Check.str_matches({pattern(rule.format)!r})"


def _values(texts: Sequence[str]) -> list[Any]:
    """Return values as they may be in a dataframe: whole numbers and truths too."""
    truths = {"True": True, "False": False}
    whole = [int(text) for text in texts if re.fullmatch(r"-?\d{1,15}", text)]
    return [*texts, *whole, *(truths[text] for text in texts if text in truths)]


def _conditional_check(rule: LearnedRule) -> str:
    own, [(other, value)] = f"df[{rule.column!r}]", rule.when.items()
    holds = (
        f"{own}.isin({_values(rule.allowed)!r})"
        if rule.allowed is not None
        else f"{own}.between({rule.min!r}, {rule.max!r})"
    )
    return (
        f"pa.Check(lambda df: ~df[{other!r}].isin({_values([value])!r}) | {own}.isna() | {holds}, "
        f"name={str(rule)!r})"
    )


_LOGICAL = {"number": "number", "date": "date"}


def _property(rule: LearnedRule) -> dict[str, Any]:
    """Return a property of a data contract."""
    kind = _LOGICAL.get(rule.role, "string")
    out: dict[str, Any] = {"name": rule.column, "logicalType": kind, "required": rule.required}
    if rule.min is not None:
        out["logicalTypeOptions"] = {"minimum": rule.min, "maximum": rule.max}
    if rule.format is not None:
        out["logicalTypeOptions"] = {"pattern": pattern(rule.format)}
    if rule.allowed is not None:
        valid = {"validValues": list(rule.allowed)}
        out["quality"] = [
            {"type": "library", "metric": "invalidValues", "arguments": valid, "mustBe": 0}
        ]
    return out

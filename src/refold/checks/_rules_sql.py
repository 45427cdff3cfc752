"""Learned rules as a query that counts the rows that violate each; it needs sqlglot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from refold.base.errors import UserError
from refold.checks._rules_result import LearnedRule, pattern


def checks_query(rules: Sequence[LearnedRule], table: str, dialect: str) -> str:
    """Return a SELECT per rule that sets anything, all together."""
    # "${object}" of a data contract is put in by whoever reads that; other names are quoted.
    place = table.startswith("${")
    source = exp.to_identifier("refold_rules_table") if place else None
    parts = []
    for rule in rules:
        if not rule.limits:
            continue
        name: Any = source or exp.to_table(table, dialect=dialect)
        violated = _violated(rule, dialect)
        parts.append(
            exp.select(
                exp.Literal.string(str(rule)).as_("rule"),
                exp.Count(this=exp.Star()).as_("violations"),
            )
            .from_(exp.Table(this=name) if place else name)
            .where(violated)
        )
    if not parts:
        raise UserError("There is no rule that sets a limit: there is nothing to check.")
    whole: exp.Query = parts[0]
    for part in parts[1:]:
        whole = whole.union(part, distinct=False)
    return str(whole.sql(dialect=dialect)).replace("refold_rules_table", table if place else "")


def _violated(rule: LearnedRule, dialect: str) -> exp.Condition:
    """Return the condition that a row violates a rule."""

    def column() -> Any:
        return exp.column(exp.to_identifier(rule.column, quoted=True))

    tests: list[Any] = []
    for end, test in ((rule.min, exp.LT), (rule.max, exp.GT)):
        if isinstance(end, str):
            value: Any = exp.cast(exp.Literal.string(end), "date")
            own = exp.cast(column(), "date")
            tests.append(test(this=own, expression=value))
        elif end is not None:
            tests.append(test(this=column(), expression=exp.Literal.number(repr(end))))
    if rule.allowed is not None:
        own = exp.cast(column(), "text")
        tests.append(exp.not_(own.isin(*[exp.Literal.string(v) for v in rule.allowed])))
    if rule.format is not None:
        if dialect == "sqlite":
            raise UserError(
                f"SQLite has no regular expressions: the format of {rule.column!r} cannot be "
                "checked there. Choose another dialect."
            )
        form = exp.RegexpLike(this=column(), expression=exp.Literal.string(pattern(rule.format)))
        tests.append(exp.not_(form))
    if rule.required:
        tests.append(column().is_(exp.null()))
    violated = exp.or_(*tests)
    for name, value in rule.when.items():
        other = exp.cast(exp.column(exp.to_identifier(name, quoted=True)), "text")
        violated = exp.and_(other.eq(exp.Literal.string(value)), violated)
    return violated

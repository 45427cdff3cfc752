"""Rules in words, for people who have typed them into a form or a file."""

from __future__ import annotations

from collections.abc import Iterator

from refold.base.words import number, quoted
from refold.decisions.rules import ColumnRule, Rules, Specification, Tolerance


def rules_in_words(rules: Rules) -> list[tuple[str, list[str]]]:
    """Say what rules say: by column, those of all rows last."""
    found = [(rule.name, list(_column_words(rule))) for rule in rules.columns]
    if rules.mutes:
        found.append(("Rows", [f"never outliers: {mute.text}" for mute in rules.mutes]))
    return found


def _column_words(rule: ColumnRule) -> Iterator[str]:
    for condition, specification in rule.specifications:
        where = f", where {condition.text}" if condition.tests else ""
        yield f"{'; '.join(_limits(specification))}{where}"
    if rule.direction is not None:
        yield f"only {rule.direction} values count"
    if rule.tolerance is not None:
        yield f"differences up to {_amount(rule.tolerance)} do not count"
    if not rule.blame:
        yield "never named as a reason"
    for mute in rule.mutes:
        yield f"does not count: {mute.text}"


def _limits(specification: Specification) -> Iterator[str]:
    if specification.low is not None or specification.high is not None:
        yield specification.range_text()
    if specification.allowed is not None:
        yield f"only {', '.join(map(quoted, specification.allowed))}"
    if specification.formats is not None:
        yield f"of the format {' or '.join(specification.formats)}"
    if specification.required:
        yield "never missing"


def _amount(tolerance: Tolerance) -> str:
    unit = {"absolute": "", "percent": " %", "places": " units of the last place"}
    return f"{number(tolerance.amount)}{unit[tolerance.kind]}"

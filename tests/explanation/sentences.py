"""Reads what an explanation says back from its text, knowing nothing but the columns' names."""

import math
import re
from dataclasses import dataclass

NUMBER = r"−?\d{1,3}(?:,\d{3})+(?:\.\d+)?|−?\d+(?:\.\d+)?(?:e[+−]?\d+)?|missing"


@dataclass
class Said:
    """One line about a column."""

    column: str
    value: float
    beside: dict
    percent: float
    expected: float | None
    normal: list
    never: bool
    so_far: float | None
    inside: str | None
    all_the_same: bool
    accepted_from: float | None
    although_outside: bool

    def holds(self, value):
        return any(low <= value <= high for low, high in self.normal)


@dataclass
class Text:
    """All that is said of a row."""

    rejected: bool
    distance: float
    threshold: float
    said: list
    changes: dict
    many: bool


def to_number(text):
    return math.nan if text == "missing" else float(text.replace("−", "-").replace(",", ""))


def percent(text):
    return 0.0 if text.startswith("less") else float(text.removesuffix(" %"))


class Reader:
    """Reads texts about some columns."""

    WITHOUT_SHARES = (
        "no single value stands out: they are unlikely only together",
        ": unlikely only with the other values",
        ": hardly any row was learned there",
    )

    def __init__(self, columns):
        names = "|".join(re.escape(name) for name in sorted(columns, key=len, reverse=True))
        self.cell = re.compile(rf"(?P<name>{names}) (?P<value>{NUMBER})")
        end = rf"(?:{NUMBER})"
        ranges = rf"{end}(?:(?:–| to ){end})?"
        self.line = re.compile(
            rf"  (?P<column>{names}) (?P<own>{NUMBER})(?: with (?P<beside>.+?))?: "
            r"(?P<share>\d+ %|less than 1 %) of the distance; "
            rf"(?:expected (?P<expected>{NUMBER}), )?normal (?P<normal>{ranges}(?: or {ranges})*)"
            r"(?P<never>, but never this value)?"
            r"(?:, (?P<so_far>\d+ %|less than 1 %) of them so far out)?"
            r"(?:; inside, too far out (?P<inside>by itself|only with the other values))?"
            r"(?P<same>; accepted all the same)?"
            rf"(?:; accepted from (?:about )?(?P<accepted>{NUMBER})"
            r"(?P<outside>, although outside)?)?"
        )
        self.head = re.compile(
            rf"row \d+: (?P<verdict>normal|NOT normal), distance (?P<distance>{NUMBER}) "
            rf"\(normal up to (?P<threshold>{NUMBER})(?:, p = [\d.e+-]+)?\)"
        )

    def cells(self, text):
        return {found["name"]: to_number(found["value"]) for found in self.cell.finditer(text)}

    def read(self, text):
        first, *lines = text.split("\n")
        head = self.head.fullmatch(first)
        assert head, first
        changes = {}
        many = bool(lines and re.match(r"  would be accepted with \d+ values changed, ", lines[-1]))
        if many:
            lines.pop()
        if lines and lines[-1].startswith("  would be accepted with "):
            changes = self.cells(lines.pop())
        if lines and lines[0].endswith(self.WITHOUT_SHARES):
            assert len(lines) == 1
            lines.clear()
        return Text(
            head["verdict"] == "NOT normal",
            to_number(head["distance"]),
            to_number(head["threshold"]),
            [self._said(line) for line in lines],
            changes,
            many,
        )

    def _said(self, line):
        found = self.line.fullmatch(line)
        assert found, line
        ends = [re.split("–| to ", part) for part in found["normal"].split(" or ")]
        return Said(
            found["column"],
            to_number(found["own"]),
            self.cells(found["beside"] or ""),
            percent(found["share"]),
            None if found["expected"] is None else to_number(found["expected"]),
            [(to_number(end[0]), to_number(end[-1])) for end in ends],
            found["never"] is not None,
            None if found["so_far"] is None else percent(found["so_far"]),
            found["inside"],
            found["same"] is not None,
            None if found["accepted"] is None else to_number(found["accepted"]),
            found["outside"] is not None,
        )

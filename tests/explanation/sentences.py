"""Reads what an explanation says back from its text, knowing nothing but the columns' names."""

import math
import re
from dataclasses import dataclass

NUMBER = r"−?\d{1,3}(?:,\d{3})+(?:\.\d+)?|−?\d+(?:\.\d+)?(?:e[+−]?\d+)?|missing"
TOGETHER = re.compile("unusual only together: .+|the values are unusual only together; no .+")


@dataclass
class Said:
    """One line about a column."""

    column: str
    value: float
    off: float | None
    side: str | None
    between: bool
    beside: dict
    percent: float
    expected: float | None
    normal: list
    inside: bool
    so_far: float | None
    normal_from: float | None
    although_outside: bool

    def holds(self, value):
        return any(low <= value <= high for low, high in self.normal)


@dataclass
class Text:
    """All that is said of a row."""

    outlier: bool
    times: float
    together: bool
    said: list
    changes: dict
    many: bool
    all_the_same: dict


def to_number(text):
    return math.nan if text == "missing" else float(text.replace("−", "-").replace(",", ""))


def percent(text):
    return 0.0 if text.startswith("less") else float(text.removesuffix(" %"))


class Reader:
    """Reads texts about some columns."""

    def __init__(self, columns):
        # A unit at the end of a name follows the value instead.
        self.columns = {re.sub("_(mm|g)$", "", name): name for name in columns} | {
            name: name for name in columns
        }
        names = "|".join(re.escape(name) for name in sorted(self.columns, key=len, reverse=True))
        n, share = rf"(?:{NUMBER})(?: (?:mm|g)\b)?", r"\d+ %|less than 1 %"
        self.cell = re.compile(rf"(?P<name>{names}) (?P<value>{NUMBER})(?: (?:mm|g)\b)?")
        ranges = rf"(?:{NUMBER})(?:(?:–| to )(?:{NUMBER}))?"
        ranges = rf"{ranges}(?: or {ranges})*"
        self.sentence = re.compile(
            rf"(?P<column>{names})(?: (?P<own>{n})| is (?P<missing>missing))"
            rf"(?: is (?P<off>{n}) (?P<side>above|below) the (?:highest|lowest) normal value, {n})?"
            rf"(?P<between> is between the normal values {ranges}(?: (?:mm|g))?)?"
            rf"(?: is unusual with (?P<beside>.+): expected (?P<first>{n}))?"
            r"(?: is (?:far out|unusual) together with (?P<others>.+))?"
        )
        self.details = re.compile(
            rf"(?P<share>{share}) of the distance"
            rf"(?:; (?P<inside>inside its normal range|normal) (?P<normal>{ranges})(?: (?:mm|g))?)?"
            rf"(?:; (?P<so_far>{share}) of the training rows are as far out)?"
            rf"(?:; expected (?P<expected>{n}))?"
            rf"(?:; normal from (?:about )?(?P<accepted>{NUMBER})(?P<outside>, although outside)?)?"
        )
        self.limit = re.compile(
            rf"(?:(?P<more>more than )?(?P<times>{NUMBER}) ×|(?P<words>just beyond|within))"
            r" the limit"
            r"(?:, p = [\d.e+-]+)?"
        )

    def cells(self, text):
        return {
            self.columns[found["name"]]: to_number(found["value"])
            for found in self.cell.finditer(text)
        }

    def times(self, text):
        found = self.limit.fullmatch(text)
        assert found, text
        words = {"just beyond": 1.0 + 1e-9, "within": 0.0}
        if found["more"]:
            return math.inf
        return to_number(found["times"]) if found["times"] else words[found["words"]]

    def read(self, text):
        first, *lines = text.split("\n  ")
        head = re.fullmatch(r"row \d+: (?:(outlier); (.+)|normal, (.+))", first)
        assert head, first
        if not head[1]:
            same = "; the row is normal all the same"
            assert all(line.endswith(same) for line in lines)
            named = [self._sentence(line.removesuffix(same)) for line in lines]
            passing = {self.columns[found["column"]]: found for found in named}
            return Text(False, self.times(head[3]), False, [], {}, False, passing)
        times, changes, many = self.times(lines.pop(0)), {}, False
        if lines and lines[-1].startswith("would be normal with "):
            changed = lines.pop()
            many = bool(re.match(r"would be normal with \d+ values changed, ", changed))
            changes = {} if many else self.cells(changed)
        together = TOGETHER.fullmatch(head[2]) is not None
        assert lines or together
        if lines:
            lines[0] = f"{head[2]} – {lines[0].split(': ', 1)[1]}"
        return Text(True, times, together, [self._said(each) for each in lines], changes, many, {})

    def _sentence(self, text):
        found = self.sentence.fullmatch(text)
        assert found, text
        return found

    def _said(self, line):
        sentence, _, details = line.rpartition(" – ")
        about, found = self._sentence(sentence), self.details.fullmatch(details)
        assert found, details
        ends = [re.split("–| to ", part) for part in (found["normal"] or "").split(" or ") if part]

        def value(text):
            return None if text is None else to_number(text.removesuffix(" mm").removesuffix(" g"))

        return Said(
            self.columns[about["column"]],
            math.nan if about["missing"] else value(about["own"]),
            value(about["off"]),
            about["side"],
            about["between"] is not None,
            self.cells(about["beside"] or about["others"] or ""),
            percent(found["share"]),
            value(about["first"] or found["expected"]),
            [(to_number(end[0]), to_number(end[-1])) for end in ends],
            (found["inside"] or "").startswith("inside"),
            None if found["so_far"] is None else percent(found["so_far"]),
            None if found["accepted"] is None else to_number(found["accepted"]),
            found["outside"] is not None,
        )

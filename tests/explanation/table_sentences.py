"""Checks what is said of texts, dates and gaps against the training rows, counted by pandas."""

import re

import pandas as pd

COUNT = r"(?P<n>[\d,]+|none) of (?P<of>[\d,]+) rows"
VALUES = r"(?P<k>[\d,]+) values? in (?P<of>[\d,]+) rows"
QUOTED = r"'(?P<value>.*)'"
OFTEN = "(?P<often>is rare|is less usual|never occurs)"


def as_text(cell):
    """Return a cell as it was written: whole numbers without a point; None if it is missing."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return None if pd.isna(cell) or not str(cell).strip() else str(cell)


def to_count(text):
    return 0 if text == "none" else int(text.replace(",", ""))


class TrainingRows:
    """Looks up in the training rows what a sentence claims; texts as they were written."""

    def __init__(self, train, roles, read_dates):
        self.train = train
        self.texts = {name: train[name].map(as_text) for name in train}
        self.dates = {name: read_dates(train[name]) for name in train if roles[name] == "date"}

    def claims(self):
        """Return the forms of sentences, and what has to be so for each to be true."""
        return {
            rf"{QUOTED} was never seen \({VALUES}\)": self.never,
            rf"{QUOTED} is rare \({COUNT}\)": self.counted,
            rf"{QUOTED} is (?:usual by itself|no rarer than many) \({COUNT}\)": self.counted,
            rf"{QUOTED} is new, as many are \({VALUES}\)": self.never,
            rf"{QUOTED} has a rare form \({COUNT}\)(?:, unlike '(?P<usual>.*)')?": self.shaped,
            rf"{QUOTED} has another form than '(?P<usual>.*)'": self.shaped,
            rf"{QUOTED} has '(?P<has>.)' \({COUNT}\)": self.with_character,
            rf"{QUOTED} has .+, which no other row has": lambda column, found: True,
            rf"{QUOTED} {OFTEN} where (?P<other>.+?) is '(?P<there>[^']*)' "
            rf"\({COUNT}\)": self.beside,
            r"(?P<value>\S+) is (?P<off>\S+) (?P<side>above|below) the \w+ normal value, "
            r"(?P<end>\S+)": self.beyond,
            r"\S+ is between the normal values .+": lambda column, found: True,
            rf".+ {OFTEN} where .+ is .+ \(.+\)": lambda column, found: True,
            rf"(?P<value>.+) is a (?P<day>[A-Z][a-z]+day) \({COUNT}\)": self.weekday,
            r"(?P<value>.+) is at (?P<clock>\d\d:\d\d); no row between (?P<a>\d+) and (?P<b>\d+) "
            "o'clock": self.no_hour,
            rf"(?P<value>.+) is at (?P<clock>\d\d:\d\d) \({COUNT} between \d+ and \d+ o'clock\)": (
                self.hour
            ),
            r"(?P<value>.+) is (?P<side>before|after) all \((?P<low>\S+) to (?P<high>\S+)\)": (
                self.outside
            ),
            r"(?P<value>.+) is usual by itself": lambda column, found: True,
            r"is missing; it never was in training": lambda column, found: self.gaps(column) == 0,
            rf"is missing; so (?:was|were) {COUNT}": lambda column, found: (
                self.gaps(column) == to_count(found["n"])
            ),
            rf"{QUOTED} (?:is not|cannot be read as) a (?:date|time|number).*": (
                lambda column, found: True
            ),
        }

    def check(self, column, text):
        """Say whether a sentence about a column has a known form and is true."""
        for form, holds in self.claims().items():
            found = re.fullmatch(form, text)
            if found:
                return bool(holds(column, found))
        return False

    def gaps(self, column):
        return int(self.texts[column].isna().sum())

    def never(self, column, found):
        texts = self.texts[column]
        return (
            found["value"] not in set(texts.dropna())
            and to_count(found["k"]) == texts.nunique()
            and to_count(found["of"]) == len(texts)
        )

    def counted(self, column, found):
        have = int((self.texts[column] == found["value"]).sum())
        return have == to_count(found["n"]) and to_count(found["of"]) == len(self.train)

    def shaped(self, column, found):
        exact = self.texts[column].dropna().map(shape)
        groups = found.groupdict()
        own = shape(groups["value"])
        have = [int((exact == own).sum()), int((exact.map(runs) == runs(own)).sum())]
        usual = groups["usual"]
        if usual and not usual.endswith("…"):  # an example of the most frequent form
            most = [every.value_counts() for every in (exact, exact.map(runs))]
            forms = shape(usual), runs(shape(usual))
            if not any(each.get(f) == each.max() for each, f in zip(most, forms, strict=True)):
                return False
        return to_count(groups.get("n") or "none") in have

    def with_character(self, column, found):
        have = self.texts[column].dropna().str[:128].str.contains(found["has"], regex=False).sum()
        return have == to_count(found["n"])

    def beside(self, column, found):
        there = self.texts[found["other"]] == found["there"]
        both = there & (self.texts[column] == found["value"])
        if (found["often"] == "never occurs") != (both.sum() == 0):
            return False
        return (both.sum(), there.sum()) == (to_count(found["n"]), to_count(found["of"]))

    def beyond(self, column, found):
        value, off, end = (
            float(found[name].replace("−", "-").replace(",", ""))
            for name in ("value", "off", "end")
        )
        learned = self.train[column].dropna()
        ends = learned.min(), learned.max()
        inner = ends[0] <= end <= ends[1]
        above = found["side"] == "above"
        return inner and (value > end) == above and abs(abs(value - end) - off) < 1e-9 * abs(off)

    def weekday(self, column, found):
        days = self.dates[column].dt.day_name()
        return (days == found["day"]).sum() == to_count(found["n"]) and (
            pd.Timestamp(found["value"]).day_name() == found["day"]
        )

    def hour(self, column, found):
        hour = int(found["clock"][:2])
        return (self.dates[column].dt.hour == hour).sum() == to_count(found["n"])

    def no_hour(self, column, found):
        a, b, hour = int(found["a"]), int(found["b"]), int(found["clock"][:2])
        gap = {h % 24 for h in range(a, b if b > a else b + 24)}
        return hour in gap and not gap & set(self.dates[column].dt.hour.dropna().astype(int))

    def outside(self, column, found):
        low, high = self.dates[column].min(), self.dates[column].max()
        value = pd.Timestamp(found["value"]).tz_localize(None)
        beyond = value < low if found["side"] == "before" else value > high
        return beyond and [found["low"], found["high"]] == [str(low)[:10], str(high)[:10]]


def runs(each):
    """Return a shape whatever the length of its parts."""
    return re.sub(r"([Aa9 ])\1+", r"\1+", each)


def shape(text):
    """Return what a text looks like, letter by letter."""
    return "".join(
        "9" if c.isdecimal() else ("A" if c.isupper() else "a") if c.isalpha() else c
        for c in text[:128]
    )

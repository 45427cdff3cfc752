"""Advice as data: what a user can do, which each surface renders in its own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

# What can be set: the role of a column, how a file is read, the rate, and how a command goes on.
AdviceKind = Literal[
    "",
    "role",
    "id_column",
    "missing",
    "keep",
    "header",
    "delimiter",
    "decimal",
    "thousands",
    "sheet",
    "skip_rows",
    "alpha",
    "method",
    "trim",
    "without",
    "by",
    "over",
    "bad_cells",
    "prefix",
]


@dataclass(frozen=True)
class Advice:
    """What to do about an error or a finding.

    >>> advice = Advice("To leave it out", "role", column="day", role="ignore")
    >>> print(advice)
    To leave it out: roles={"day": "ignore"}.
    >>> advice.render(in_words)
    "To leave it out: give column 'day' the role ignore."
    """

    text: str = ""  # when or why, in words that hold everywhere; without a kind, the whole advice
    kind: AdviceKind = ""  # what to set
    # column, role: Of a "role" or an "id_column": which column, and its role.
    column: str | None = None
    role: str | None = None
    value: str | float | None = None  # of anything else; None leaves it to the user
    otherwise: str = ""  # what helps too, after a comma

    def __bool__(self) -> bool:
        return bool(self.text or self.kind)

    def __str__(self) -> str:
        return self.render(in_python)

    def render(self, setting: Setting) -> str:
        """Return the sentence; `setting` says how a surface sets what is advised."""
        if not self.kind:
            return self.text
        before = f"{self.text}: " if self.text else ""
        after = f", {self.otherwise}" if self.otherwise else ""
        return f"{before}{setting(self)}{after}."


NO_ADVICE = Advice()


def set_role(text: str, column: str, role: str) -> Advice:
    """Return the advice to give a column a role."""
    return Advice(text, "role", column=column, role=role)


# How a surface says what to set.
Setting: TypeAlias = Callable[[Advice], str]


def in_python(advice: Advice) -> str:
    """Return the setting as a keyword argument."""
    if advice.kind == "role":
        return (
            f"roles={{{json.dumps(advice.column, ensure_ascii=False)}: {json.dumps(advice.role)}}}"
        )
    if advice.kind == "id_column":
        return f"id_column={json.dumps(advice.column, ensure_ascii=False)}"
    if advice.kind == "header":
        return "header=True if these are the names, header=False if there are none"
    if advice.kind in ("missing", "keep", "without") and advice.value is not None:
        words = ", ".join(_literal(word) for word in str(advice.value).split(","))
        return f"{advice.kind}=[{words}]"
    return f"{advice.kind}={'…' if advice.value is None else _literal(advice.value)}"


def in_words(advice: Advice) -> str:
    """Return the setting in words without any syntax, for pages that nobody types into."""
    if advice.kind == "role":
        return f"give column {advice.column!r} the role {advice.role}"
    if advice.kind == "id_column":
        return f"choose column {advice.column!r} as the one that names the rows"
    if advice.kind == "header":
        return "say whether these are the names, or the file has none"
    if advice.kind == "missing" and advice.value is not None:
        return f"name {advice.value} as a missing value"
    if advice.kind == "keep" and advice.value is not None:
        return f"name {advice.value} as a value"
    named = _WORDS.get(advice.kind, advice.kind.replace("_", " "))
    return f"set {named}" + ("" if advice.value is None else f" to {advice.value}")


_WORDS = {
    "missing": "the words for missing values",
    "decimal": "the decimal mark",
    "thousands": "the thousands mark",
    "skip_rows": "the number of lines before the header",
    "alpha": "the false alarm rate",
    "method": "the method",
    "without": "what to leave out of judging new texts",
    "by": "the column of the group",
    "over": "the column of the time",
    "bad_cells": "what to do with unreadable cells",
}


def _literal(value: str | float) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else f"{value:g}"

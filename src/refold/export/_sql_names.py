"""Names in a database: which can be quoted, which would be confused, which are ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from refold.base.advice import Advice
from refold.base.errors import UserError

if TYPE_CHECKING:
    from refold.export._sql_stages import Expression


class DialectLimits(NamedTuple):
    """What a database accepts as a statement and as a quoted name."""

    case_sensitive: bool  # whether names that differ only by case are different columns
    name_bytes: int | None = None  # the longest name, in UTF-8
    forbidden: str = ""  # characters that no name may have, besides those that text cannot have
    columns: int | None = None  # the most columns of one SELECT
    statement_bytes: int | None = None  # the longest statement


LIMITS = {
    "duckdb": DialectLimits(case_sensitive=False),
    "postgres": DialectLimits(case_sensitive=True, name_bytes=63, columns=1664),
    "sqlite": DialectLimits(case_sensitive=False, columns=2000, statement_bytes=1_000_000),
    "snowflake": DialectLimits(case_sensitive=True, name_bytes=255, statement_bytes=1_000_000),
    "bigquery": DialectLimits(
        case_sensitive=False,
        name_bytes=300,
        forbidden='!"$()*,./;?@[\\]^`{}~',
        statement_bytes=1_000_000,
    ),
}


def parts_of(name: str | Sequence[str], what: str) -> list[str]:
    """Split ``"schema.table"`` at its dots; a sequence is taken as it is."""
    parts = name.split(".") if isinstance(name, str) else list(name)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(
            f"{what}={name!r} is not a name of one to three parts: give 'table', 'schema.table' or "
            "'catalog.schema.table', or a tuple of the parts if one has a dot in it."
        )
    return parts


def check_names(names: Iterable[str], dialect: str) -> None:
    """Refuse names that cannot be quoted in a dialect."""
    limits = LIMITS[dialect]
    for name in names:
        problem = _problem(name, limits)
        if problem:
            raise ValueError(
                f"The name {name!r} cannot be used in {dialect}: {problem}. Rename the column (or "
                "table) and fit the model with that name."
            )


def _problem(name: str, limits: DialectLimits) -> str | None:
    if not name:
        return "it is empty"
    if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        return "it holds a character that text in a database cannot have"
    bad = sorted(set(name) & set(limits.forbidden))
    if bad:
        return f"names there cannot have {' '.join(bad)}"
    size = len(name.encode())
    if limits.name_bytes and size > limits.name_bytes:
        return f"it takes {size} bytes, names there at most {limits.name_bytes}"
    return None


def check_apart(features: Sequence[str], answers: Sequence[str], dialect: str) -> None:
    """Refuse columns that a database would take for one another."""
    seen: dict[str, str] = {}
    for name in features:
        key = name if LIMITS[dialect].case_sensitive else _folded(name)
        if key in seen:
            raise ValueError(
                f"The columns {seen[key]!r} and {name!r} of the model are the same name to "
                f"{dialect}. Rename one and fit again."
            )
        seen[key] = name
    taken = {_folded(name) for name in features}
    clash = [name for name in answers if _folded(name) in taken]
    if clash:
        raise UserError(
            f"The model has columns with the names {clash} that the statement would add.",
            advice=Advice("Give the new ones another prefix", "prefix", value="refold_"),
        )


# A character that stands in no literal, and the function that names it by its number.
_NAMED = {"postgres": ("\\", "CHR"), "duckdb": ("\0", "CHR"), "sqlite": ("\0", "CHAR")}


def text_literal(text: str, dialect: str) -> Expression:
    """Return a text, the same in every session.

    PostgreSQL takes a backslash for an escape where standard_conforming_strings is off, so that one
    before a quote would end the text: there it is named by its number. The character 0 would end a
    whole statement elsewhere.
    """
    from sqlglot import exp

    character, function = _NAMED.get(dialect, ("", ""))
    parts = text.split(character) if character else [text]
    literal: Expression = exp.Literal.string(parts[0])
    for part in parts[1:]:
        code = exp.Literal.number(ord(character))
        named = exp.Anonymous(this=function, expressions=[code])
        literal = exp.DPipe(
            this=exp.DPipe(this=literal, expression=named), expression=exp.Literal.string(part)
        )
    return exp.Paren(this=literal) if len(parts) > 1 else literal


def fresh_stem(taken: Iterable[str]) -> str:
    """Return a beginning for names of our own that none of the user's has."""
    stem, folded = "refold_", [_folded(name) for name in taken]
    while any(name.startswith(stem) for name in folded):
        stem += "_"
    return stem


def _folded(name: str) -> str:
    return name.casefold()

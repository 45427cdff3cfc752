"""What is odd about a text, in words."""

from __future__ import annotations

from refold.base.words import quoted, shortened
from refold.columns.encoding.shapes import LOOKED_AT, shape_of
from refold.columns.encoding.tally import Tally
from refold.columns.encoding.texts import TextCounts

_MOST = 0.5
_COMMON = 0.05


def text_words(counts: TextCounts, view: str, text: str) -> str:
    """Say what is odd about a text in one of the views of its column."""
    shape, collapsed = shape_of(text), shape_of(text, collapsed=True)
    rarest = min(text[:LOOKED_AT], key=lambda each: counts.characters.get(each, 0), default="")
    so_many = {
        "value": counts.values.counts.get(text, 0),
        "shape": counts.shapes.counts.get(shape, 0),
        "collapsed shape": counts.collapsed.counts.get(collapsed, 0),
        "character": counts.characters.get(rarest, 0),
    }
    # Where most rows that look so have this very value, that is what is rare.
    if view == "value" or 0 < so_many[view] <= 2 * so_many["value"]:
        return _value(counts.values, text)
    if view == "character":
        return _character(rarest, so_many[view], counts.values.rows)
    if view == "shape":
        return looks_like(counts.shapes, shape)
    return looks_like(counts.collapsed, collapsed)


def usual_text(counts: TextCounts, text: str) -> str:
    """Say how usual a text is by which nobody is surprised."""
    have, rows = counts.values.counts.get(text, 0), counts.values.rows
    if have == 0:
        return f"is new, as many are ({values_in(counts.values)})"
    usual = "usual by itself" if have >= _COMMON * rows else "no rarer than many"
    return f"is {usual} ({have:,} of {rows:,} rows)"


def looks_like(shapes: Tally, shape: str, verb: str = "looks like") -> str:
    """Say which shape a text has, and which texts usually have."""
    have = shapes.counts.get(shape, 0)
    most = max(shapes.counts, key=lambda each: (shapes.counts[each], each), default="")
    often = shapes.counts.get(most, 0) > _MOST * max(shapes.rows - shapes.missing, 1)
    so_many = f" ({have:,} of {shapes.rows:,} rows)" if have else ""
    if have and most == shape:
        return f"{verb} {shortened(shape)}{so_many}"
    usually = "usually" if often else "most often"
    return f"{verb} {shortened(shape)}{so_many}, {usually} {shortened(most)}"


def values_in(values: Tally) -> str:
    """Return "16 values in 2,000 rows"."""
    about = "about " if values.level else ""
    different = f"{about}{values.distinct:,} value{'' if values.distinct == 1 else 's'}"
    return f"{different} in {values.rows:,} rows"


def _value(values: Tally, text: str) -> str:
    have = values.counts.get(text, 0)
    if have:
        return f"is rare ({have:,} of {values.rows:,} rows)"
    if values.level:  # it may have been let go of
        return f"is rare (at most {values.error:,} of {values.rows:,} rows)"
    return f"was never seen ({values_in(values)})"


def _character(character: str, have: int, rows: int) -> str:
    if have == 0:
        return f"has {_named(character)}, which no other row has"
    return f"has {_named(character)} ({have:,} of {rows:,} rows)"


def _named(character: str) -> str:
    """Return a character in quotes; by its number if nothing would be seen."""
    if character == " ":
        return "a space"
    if character.isprintable() and character:
        return quoted(character)
    return f"the character U+{ord(character):04X}" if character else "no character"

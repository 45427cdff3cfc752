"""What forms and addresses of the page say, and addresses that differ in something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

from starlette.requests import Request

from refold.app.browser import one
from refold.app.checking import CheckedRows, RowQuery
from refold.app.own_rules import rules_from_form
from refold.app.profile import Choice
from refold.app.state import CHECK, WorkState
from refold.app.tables import KeptTable
from refold.report.parts import count, percent, plural
from refold.service import RequestError


def place_of(text: str, length: int) -> int:
    """Return a place in a list that a form names."""
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) < length:
        return int(text)
    raise RequestError(400, "The page is older than the table: open it again.")


def numbers_of(form: dict[str, list[str]], name: str) -> frozenset[int]:
    """Return the whole numbers of a field."""
    found = form.get(name, [])
    if not all(text.isascii() and text.isdigit() and len(text) < 16 for text in found):
        raise RequestError(400, "Rows are whole numbers.")
    return frozenset(map(int, found))


def column_name_of(table: KeptTable | None, place: str) -> str:
    """Return the name of a column that a form names by its place; empty for none."""
    if not place or table is None:
        return ""
    return str(table.columns[place_of(place, len(table.columns))])


def learning_of(form: dict[str, list[str]], state: WorkState) -> Choice:
    """Return how a form says that the table is to be learned."""
    method = one(form, "method", "auto")
    if method not in ("auto", "ref"):
        raise RequestError(400, "There is no such method.")
    by, over = (column_name_of(state.table, one(form, name, "")) for name in ("by", "over"))
    names = () if state.table is None else state.table.columns
    return replace(
        state.choice,
        without=numbers_of(form, "without"),
        method="ref" if method == "ref" else "auto",
        by=by,
        over=over,
        rules=rules_from_form(form, names, state.choice.rules),
    )


def row_of(checked: CheckedRows | None, text: str) -> tuple[CheckedRows, int]:
    """Return the rows that were checked, and the place of the one that an address names."""
    known = text.isascii() and text.isdigit() and len(text) < 16
    if checked is None or not known or int(text) >= checked.table.rows:
        raise RequestError(404, "There is no such row.")
    return checked, int(text)


def rates_said(checked: CheckedRows) -> list[dict[str, str]]:
    """Say what each rate would come to, in the words of the page."""
    rows = plural(checked.judged, "row")
    return [
        {
            "rate": percent(choice.rate),
            "rejected": f"{choice.rejected:,} of {rows}",
            "expected": f"If all were normal, about {count(choice.expected.rows)} would be by "
            "chance ({:,} to {:,}).".format(*choice.expected.interval),
        }
        for choice in checked.rates
    ]


def link_of(request: Request, query: RowQuery) -> Callable[..., str]:
    """Return what makes addresses that differ in something from what is shown."""

    def link(path: str = CHECK, **other: object) -> str:
        asked: dict[str, object] = {
            "show": query.show,
            "text": query.text,
            "sort": query.sort,
            "down": int(query.down),
            "cells": int(query.cells) or "",
            "group": "" if query.group is None else query.group,
            **other,
        }
        said = urlencode({k: v for k, v in asked.items() if v != ""})
        address = f"{request.scope['root_path']}{path}?{said}"
        return f"{address}#rows" if path == CHECK else address

    return link

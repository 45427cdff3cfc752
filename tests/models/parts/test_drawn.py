"""Rows drawn from parts are those drawn from the whole table, however it is divided."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.table import Table
from refold.models.draws import BELOW_ONE, draws
from refold.models.parts.drawn import NONE, DrawnRows


def table_of(first, rows):
    return Table.of_numbers(["place"], [np.arange(first, first + rows, dtype=float)])


def places_of(table):
    return table.columns[0].values.astype(int).tolist()


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    wanted=st.integers(1, 20),
    held=st.integers(0, 10),
)
def test_the_rows_with_the_smallest_numbers_are_drawn(sizes, wanted, held):
    total = sum(sizes)
    some, limit, first = None, 1.0, 0
    for rows in sizes:
        part, chosen = DrawnRows.of(table_of(first, rows), first, size=wanted, limit=limit)
        assert np.flatnonzero(chosen).tolist() == (part.places - first).tolist()
        assert len(part.keys) <= wanted
        if len(sizes) == 1:
            assert len(part.keys) == min(wanted, rows)
        some = part if some is None else some.plus(part)
        some, _ = some.trimmed()
        limit, first = some.limit, first + rows
    some, over = some.trimmed(slack=1)
    expected = np.sort(np.argsort(draws_of(total), kind="stable")[:wanted])
    assert places_of(some.whole()) == expected.tolist()
    assert over is None or not set(places_of(over)) & set(expected.tolist())
    held = min(held, len(some.keys))
    out, rest = some.divided(held)
    kept = some.held_out(held).kept(0, total)
    assert places_of(out) == np.flatnonzero(~kept).tolist()
    assert sorted(places_of(out) + places_of(rest)) == expected.tolist()


def draws_of(rows):
    """The numbers of the rows, as a draw of all of them has them."""
    drawn, _ = DrawnRows.of(table_of(0, rows), 0, size=rows, limit=1.0)
    return drawn.keys


def test_numbers_depend_on_the_place_alone_and_nobody_may_ask_for_none():
    whole = draws(7, 0, 100)
    np.testing.assert_array_equal(draws(7, 40, 60), whole[40:])
    assert np.nextafter(1.0, 0.0) == BELOW_ONE  # files with larger numbers are refused
    drawn, chosen = DrawnRows.of(table_of(0, 5), 0, size=3, limit=NONE)
    assert not chosen.any()
    assert drawn.whole().rows == 0

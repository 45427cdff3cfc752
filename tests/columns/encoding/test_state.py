"""Rows that come in parts wait until there are enough to decide what columns are."""

import numpy as np

from refold.columns.encoding.state import TableState
from refold.columns.table import Table


def table(rows):
    return Table.of_numbers(["x"], [np.arange(float(rows))])


def test_rows_wait_until_there_are_as_many_as_decide():
    state = TableState({}, 10).plus_rows(table(4)).plus_rows(table(5))
    assert (state.counts, state.rows) == (None, 9)
    decided = state.plus_rows(table(1))
    assert decided.counts is not None
    assert (decided.waiting, decided.rows) == ((), 10)
    assert decided.plus_rows(table(3)).rows == 13

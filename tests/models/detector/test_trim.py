"""Which rows of a table are left out of training, and when that is decided."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.columns.encoding.state import TableState
from refold.models.detector.trim import of_rows, plus_rows

ENOUGH = 60


@pytest.fixture
def table(rng):
    """Rows of which every tenth is far out, each in its own direction."""
    values = rng.normal(size=(ENOUGH, 3))
    values[::10] += 30.0 * rng.choice([-1.0, 1.0], size=(6, 3))
    kinds = np.resize(["a", "b", "b"], ENOUGH)
    return Detector()._begin(pd.DataFrame(values, columns=list("xyz")).assign(kind=kinds))


def nothing():
    return TableState({}, ENOUGH)


@pytest.mark.parametrize("parts", [[60], [59, 1], [1, 59], [20, 20, 20]])
def test_the_cut_is_set_when_there_are_enough_rows(parts, table):
    state, cut, _ = of_rows(nothing(), table, trim=0.1, n_jobs=1)
    grown, none, begin = nothing(), None, 0
    for number in parts:
        assert none is None
        assert grown.counts is None
        some = table.take(np.arange(begin, begin + number))
        grown, none = plus_rows(grown, none, some, trim=0.1, n_jobs=1)
        begin += number
    assert grown.waiting == ()
    assert grown.counts.rows == state.counts.rows == 54
    assert none.cut == cut.cut
    assert (cut.cut.seen, cut.cut.left_out) == (60.0, 6.0)
    np.testing.assert_array_equal(none.dropped(table), cut.dropped(table))
    assert sorted(cut.dropped(table).tolist()) == [*range(0, 60, 10)]


def test_later_rows_are_counted_and_do_not_move_the_cut(table):
    state, cut, _ = of_rows(nothing(), table, trim=0.1, n_jobs=1)
    more, same = plus_rows(state, cut, table, trim=0.1, n_jobs=1)
    assert same.cut.limit == cut.cut.limit
    assert more.counts.rows == 2 * state.counts.rows
    np.testing.assert_array_equal(same.beyond(table), cut.beyond(table))


def test_a_cut_cannot_be_set_after_the_first_rows(table):
    state, cut, _ = of_rows(nothing(), table, trim=0.0, n_jobs=1)
    assert cut is None
    assert state.counts.rows == ENOUGH
    assert plus_rows(state, None, table, trim=0.0)[0].counts.rows == 2 * ENOUGH
    with pytest.raises(ValueError, match=r"trim=0\.1 was not set when the first rows were learned"):
        plus_rows(state, None, table, trim=0.1)

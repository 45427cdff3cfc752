"""What a stream remembers of each group."""

import numpy as np
import pytest

from refold.base.errors import UserError
from refold.columns.context.history import History, Past

KEYS = [("A",), ("B",)]


def rows(groups, times):
    n = len(groups)
    values = np.arange(float(n))[:, None]
    past = Past.of(np.array(groups), np.array(times, dtype=float), values)
    assert np.isnan(past.since).all()
    assert np.isnan(past.unchanged).all()
    return past


def test_rows_that_are_kept_come_before_the_next_ones_of_their_group():
    history = History()
    first = rows([0, 0, 0, 1, 1], [1, 2, 3, 1, 5])
    assert len(history.before(KEYS, first, ["t"]).times) == 0
    history.keep(KEYS, first, np.array([False, True, True, True, False]))
    assert len(history.before(KEYS, first, ()).times) == 0  # nothing was committed
    history.commit()
    later = rows([1, 0], [5, 3])
    found = history.before([("B",), ("A",), ("C",)], rows([1, 0], [3, 5]), ["t"])
    assert found.groups.tolist() == [0, 1, 1]
    assert found.times.tolist() == [1.0, 2.0, 3.0]
    assert found.values[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert history.before(KEYS, later, ["t"]).times.tolist() == [2.0, 3.0, 1.0]
    for early in ([1], [2.5]):
        with pytest.raises(UserError, match="over='t' runs backwards: a row of A is earlier"):
            history.before(KEYS, rows([0], early), ["t"])
    assert len(history.before(KEYS, rows([0], [1]), ()).times) == 3  # without a time
    alone = History()
    alone.keep([()], rows([0], [9]), np.array([True]))
    alone.commit()
    with pytest.raises(UserError, match="runs backwards: a row is earlier"):
        alone.before([()], rows([0], [8]), ["t"])


def test_groups_that_were_heard_of_longest_ago_are_forgotten():
    history = History(most_groups=2)
    for key in ("A", "B", "A", "C"):
        history.keep([(key,)], rows([0], [1]), np.array([True]))
        history.commit()
    known = {key: len(history.before([(key,)], rows([0], [1]), ()).times) for key in "ABC"}
    assert known == {"A": 1, "B": 0, "C": 1}
    history.keep([("A",), ("D",)], rows([0], [1]), np.array([True]))  # D has no row
    history.commit()
    assert len(history.before([("C",)], rows([0], [1]), ()).times) == 1

"""Faults in a single column, found at a rate that all methods share."""

from __future__ import annotations

import numpy as np
import pytest

from refold.studies.novelty.cells import faults, faulty
from refold.studies.novelty.methods import METHODS, NoveltyMethod
from refold.studies.novelty.suite import Division


class First:
    """Knows the first column alone."""

    def __init__(self, seen=None):
        self.seen = [] if seen is None else seen

    def fit(self, X):
        self.seen.append(len(X))
        return self

    def decision_function(self, X):
        return -np.abs(X[:, 0])


@pytest.fixture
def rows(rng):
    train, normals = rng.normal(2.0, 5.0, (2, 400, 4))
    train[:, 1] = normals[:, 1] = 7.0
    test = np.concatenate([normals, rng.normal(90.0, 1.0, (20, 4))])
    return Division(train, test, np.arange(420) >= 400)


def test_one_value_of_each_row_is_a_quarter_of_the_range_beyond(rows):
    train, normals = rows.train, rows.test[:400]
    above, below = faulty(train, normals, seed=3)
    low, high = train.min(axis=0), train.max(axis=0)
    known = {tuple(np.delete(row, d)) for row in normals for d in range(4)}
    for put, value in ((above, high + (high - low) / 4), (below, low - (high - low) / 4)):
        changed = put == value
        changed[:, 1] = False  # constant: its range is nothing
        assert (changed.sum(axis=1) == 1).all()
        assert set(changed.argmax(axis=1)) == {0, 2, 3}
        assert all(tuple(row[~at]) in known for row, at in zip(put, changed, strict=True))
    np.testing.assert_array_equal(faulty(train, normals, seed=3)[0], above)
    assert (faulty(train, normals, seed=4)[0] != above).any()


@pytest.mark.parametrize("name", ["CreasedREF", "REF-all", "kNN-1", "LOF"])
def test_the_rate_is_about_what_was_asked_for(name, rows):
    found = faults(METHODS[name], rows, seed=0)
    assert 0.01 < found["alarms_05"] < 0.11
    assert found["faults_above"] > 0.6
    assert found["faults_below"] > 0.6


def test_what_looks_at_one_column_finds_the_faults_in_it(rows):
    found = faults(NoveltyMethod("first", "here", "none", lambda seed: First()), rows, seed=0)
    for side in ("faults_above", "faults_below"):
        assert found[side] == pytest.approx(1 / 3 + found["alarms_05"] * 2 / 3, abs=0.06)


def test_no_more_than_2500_rows_are_learned_from(rng):
    seen = []
    rows = Division(rng.normal(size=(3000, 1)), rng.normal(size=(50, 1)), np.arange(50) >= 40)
    faults(NoveltyMethod("first", "here", "none", lambda seed: First(seen)), rows, seed=0)
    assert seen == [2000] * 5 + [2500]


def test_a_table_without_any_range():
    with pytest.raises(ValueError, match="All columns are constant"):
        faulty(np.ones((5, 2)), np.ones((3, 2)), seed=0)

"""Rows as if fewer of their group were known: drawn by size, scored as rows left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from refold.columns.context.column_context import ColumnContext
from refold.columns.context.context_rows import ContextRows
from refold.columns.context.smaller_groups import SmallerGroups
from refold.columns.context.trend import FeatureLayout


def test_with_all_other_rows_of_their_group_rows_are_scored_as_left_out():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 12)
    values = rng.normal(size=40)[groups] * 5.0 + np.exp(0.4 * rng.normal(size=40))[
        groups
    ] * rng.normal(size=480)
    values[::17] = np.nan
    rows = ContextRows(sparse.csr_array(np.ones((480, 1))), groups)
    column, alone = ColumnContext.learn(rows, values, FeatureLayout([1], -1, 40))
    some = np.flatnonzero(~np.isnan(values))
    others = np.array(
        [[k for k in range(12 * g, 12 * g + 12) if k != r] for r, g in enumerate(groups)]
    )
    found = SmallerGroups(some, others[some]).scores(column, rows, values)
    np.testing.assert_allclose(found, alone[some], atol=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_rows_get_as_many_others_of_their_own_group_as_another_group_has(seed):
    rng = np.random.default_rng(seed)
    sizes = np.array([1, 5, 5, 200, 1000])
    groups = np.append(rng.permutation(np.repeat(np.arange(5), sizes)), [-1, -1])
    drawn = SmallerGroups.draw(groups, sizes.astype(float))
    number = (drawn.others >= 0).sum(axis=1)
    assert set(number.tolist()) == {1, 5}
    assert len(drawn.rows) == pytest.approx(0.6 * 1200, rel=0.1)
    for row, others, n in zip(drawn.rows, drawn.others, number, strict=True):
        own = others[:n]
        assert sizes[groups[row]] > n
        assert len(set(own.tolist()) | {row}) == n + 1
        assert (groups[own] == groups[row]).all()


def test_groups_of_one_size_are_judged_as_they_are():
    assert len(SmallerGroups.draw(np.repeat(np.arange(9), 8), np.full(9, 8.0)).rows) == 0
    assert len(SmallerGroups.draw(np.full(4, -1), np.empty(0)).rows) == 0


def test_a_group_of_64_rows_is_known_as_well_as_a_larger_one():
    sizes = np.array([6, 7, 63, 64, 90])
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(5), sizes))
    drawn = SmallerGroups.draw(groups, sizes.astype(float))
    number = (drawn.others >= 0).sum(axis=1)
    assert set(number.tolist()) == {6, 7, 63}
    for row, others, n in zip(drawn.rows, drawn.others, number, strict=True):
        assert sizes[groups[row]] > n
        assert len({row, *others[:n].tolist()}) == n + 1
        assert (groups[others[:n]] == groups[row]).all()
    # Of a sample no more are drawn than it has.
    few = np.flatnonzero(np.random.default_rng(1).random(230) < 0.1)
    sample = SmallerGroups.draw(groups[few], sizes.astype(float))
    here = np.bincount(groups[few], minlength=5)
    for row, others in zip(sample.rows, sample.others, strict=True):
        assert (others >= 0).sum() < here[groups[few][row]]
        assert row not in others

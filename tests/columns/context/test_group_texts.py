"""The share of texts in groups: counted by hand, left out, merged."""

from __future__ import annotations

import numpy as np
import pytest

from refold.columns.context.design import GroupIndex
from refold.columns.context.group_texts import GroupShares, GroupTexts, GroupTree, LabelCounts
from refold.columns.table import Table, TextColumn

VALUES = ["P0", "P1", "P2", "P3"]


def column(texts) -> TextColumn:
    values = sorted({text for text in texts if text is not None})
    return TextColumn(values, np.array([-1 if t is None else values.index(t) for t in texts]))


def fleet(rng, n: int, *, differ: bool = True) -> tuple[Table, TextColumn]:
    """Two sites of four machines each; of each machine two products, if they differ."""
    machine = rng.integers(0, 8, n)
    own = (machine + rng.integers(0, 2, n)) % 4 if differ else rng.integers(0, 4, n)
    names = ["site", "machine"]
    by = [column([f"S{k // 4}" for k in machine]), column([f"M{k}" for k in machine])]
    product = column([None if rng.random() < 0.05 else VALUES[k] for k in own])
    return Table([*names, "product"], [*by, product], n), product


def learned(table: Table, product: TextColumn) -> tuple[GroupTexts, GroupTree, GroupIndex]:
    groups = GroupIndex.learn(table, ["site", "machine"])
    tree = GroupTree.of(groups)
    return GroupTexts.learn(product, tree).plus_rows(product, groups.codes(table)), tree, groups


def by_hand(rows, kappas, path, label, labels, *, learned: bool) -> tuple[float, float]:
    """The share among all rows and in the group: counted one by one.

    A row that was learned is not one of those with its label; nor is one of more than four.
    """
    n, width = len(rows), len(labels) + 2
    share = (sum(r[-1] == label for r in rows) + 0.5) / (n + 0.5 * width)
    everywhere = share
    for depth, kappa in enumerate(kappas, start=1):
        inside = [r for r in rows if r[:depth] == path[:depth]]
        if np.isfinite(kappa):
            have = sum(r[-1] == label for r in inside)
            have -= learned or have > 4
            share = (have + kappa * share) / (len(inside) + kappa)
    return everywhere, share


def test_shares_are_those_counted_by_hand_also_of_rows_that_were_learned():
    table, product = fleet(np.random.default_rng(0), 300)
    texts, tree, _ = learned(table, product)
    path, codes, shares = tree.codes(table), texts.codes(product)[0], texts.shares[0]
    rows = [(*path[k].tolist(), int(codes[k])) for k in range(300)]
    assert np.isfinite(shares.concentrations[-1])
    for counted in (False, True):
        found = shares.added(path, codes, np.full(300, counted))
        for k in range(0, 300, 7):
            *own, label = rows[k]
            args = shares.concentrations, tuple(own), label, shares.leaves.labels
            everywhere, here = by_hand(rows, *args, learned=counted)
            assert found[k] == np.round(2.0 * np.log(everywhere / here)) / 2.0


def test_counts_of_parts_add_up_to_those_of_the_whole_and_are_taken_back():
    table, product = fleet(np.random.default_rng(1), 400)
    whole, _, groups = learned(table, product)
    nothing = whole.plus(whole, -1)
    assert all(len(view.keys) == 0 for view in nothing.views)
    first, second = np.arange(400) < 150, np.arange(400) >= 150
    parts = [
        nothing.plus_rows(product.take(np.flatnonzero(some)), groups.codes(table)[some])
        for some in (first, second)
    ]
    merged = parts[0].plus(parts[1])
    for mine, theirs in zip(merged.views, whole.views, strict=True):
        np.testing.assert_array_equal(mine.keys, theirs.keys)
        np.testing.assert_array_equal(mine.counts, theirs.counts)
    back = merged.plus(parts[1], -1)
    np.testing.assert_array_equal(back.views[0].counts, parts[0].views[0].counts)


def test_groups_with_other_numbers_keep_their_counts():
    table, product = fleet(np.random.default_rng(2), 200)
    texts, _, groups = learned(table, product)
    turned = GroupIndex(groups.columns, {k: i for i, k in enumerate(reversed(list(groups.keys)))})
    places = np.array([turned.keys[key] for key in groups.keys])
    other = texts.mapped(places, GroupTree.of(turned))
    mine = texts.apply(product, texts.tree.codes(table)).in_group
    theirs = other.apply(product, other.tree.codes(table)).in_group
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_where_groups_do_not_differ_they_add_nothing(seed):
    table, product = fleet(np.random.default_rng(seed), 2_000, differ=False)
    texts, tree, _ = learned(table, product)
    assert not texts.matters
    assert texts.apply(product, tree.codes(table)).in_group is None


def test_only_labels_that_came_twice_are_told_apart_and_no_more_than_a_thousand():
    found = LabelCounts.learn([f"v{k}" for k in range(3_000)], np.arange(3_000))
    assert len(found.labels) == 1_000
    assert found.labels[0] == "v2999"
    assert LabelCounts.learn(["a", "b"], np.array([1, 2])).labels == ("b",)


def test_a_text_expected_in_its_group_that_no_row_has_contradicts_it():
    counts = LabelCounts.learn(["a", "b"], np.array([100, 100]))
    groups = np.repeat([0, 1, 2], 100)
    labels = np.where(groups == 0, 0, np.arange(300) % 2)  # "b" is never in group 0
    index = GroupIndex(("site",), {("S0",): 0, ("S1",): 1, ("S2",): 2})
    shares = GroupShares(counts.plus_rows(groups, labels), GroupTree.of(index))
    path, new = np.array([[0], [1], [-1]]), np.zeros(3, bool)
    added = shares.added(path, np.ones(3, np.int64), new)
    assert added[0] == np.inf
    assert np.isfinite(added[1])
    assert added[2] == -np.inf  # of an unknown group nothing is known

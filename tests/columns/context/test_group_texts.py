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


@pytest.mark.parametrize("n", [300, 130, 40])
def test_shares_are_those_counted_by_hand_also_of_rows_that_were_learned(n):
    table, product = fleet(np.random.default_rng(0), n)
    texts, tree, _ = learned(table, product)
    path, codes, shares = tree.codes(table), texts.codes(product)[0], texts.shares[0]
    rows = [(*path[k].tolist(), int(codes[k])) for k in range(n)]
    assert np.isfinite(shares.concentrations[-1])
    for counted in (False, True):
        found = shares.added(path, codes, np.full(n, counted))
        for k in range(n):
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
    mine = texts.apply(product, texts.tree.codes(table), left_out=False).in_group
    theirs = other.apply(product, other.tree.codes(table), left_out=False).in_group
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_where_groups_do_not_differ_they_add_nothing(seed):
    table, product = fleet(np.random.default_rng(seed), 2_000, differ=False)
    texts, tree, _ = learned(table, product)
    assert not texts.matters
    assert texts.apply(product, tree.codes(table), left_out=False).in_group is None


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


def without_itself(rows, row, kappas, width):
    """The share of a row's label in its groups, counted among all other rows."""
    *path, label = rows[row]
    others = rows[:row] + rows[row + 1 :]
    share = (sum(r[-1] == label for r in others) + 0.5) / (len(others) + 0.5 * width)
    for depth, kappa in enumerate(kappas, start=1):
        if np.isfinite(kappa):
            inside = [r for r in others if list(r[:depth]) == path[:depth]]
            have = sum(r[-1] == label for r in inside)
            share = (have + kappa * share) / (len(inside) + kappa)
    return share


@pytest.mark.parametrize(
    ("by", "n", "seed"),
    [("site", 160, 3), ("machine", 160, 3), *(("machine", 40, seed) for seed in range(8))],
)
def test_groups_are_as_strong_as_foretells_rows_best_that_were_left_out(by, n, seed):
    rng = np.random.default_rng(seed)
    table, product = fleet(rng, n)
    if by == "site":  # machines of a site do not differ
        own = (table["site"].codes + rng.integers(0, 2, n)) % 4
        product = column([VALUES[k] for k in own])
    texts, tree, _ = learned(table, product)
    path, codes, shares = tree.codes(table), texts.codes(product)[0], texts.shares[0]
    rows, width = [(*path[k].tolist(), int(codes[k])) for k in range(n)], shares.leaves.width
    kappas = []
    for _ in range(2):
        by_row = [without_itself(rows, row, [*kappas, np.inf], width) for row in range(n)]
        gains = {
            kappa: sum(
                np.log(without_itself(rows, row, [*kappas, kappa], width) / by_row[row])
                for row in range(n)
            )
            for kappa in 2.0 ** np.arange(-4.0, 21.0)
        }
        best = max(gains, key=gains.__getitem__)
        kappas.append(best if gains[best] > 5.0 else np.inf)
    assert np.isfinite(kappas).tolist() == ([True, False] if by == "site" else [False, True])
    assert shares.concentrations == kappas
    assert np.isinf(np.array(shares.expected[0])[np.isinf(kappas)]).all()
    # A machine that is not known says nothing where those of a site are alike.
    new = shares.added(np.array([[0, -1]]), codes[:1], np.zeros(1, bool))
    assert np.isneginf(new[0]) == (by == "machine")


@pytest.mark.parametrize(
    ("errors", "limit"), [(0.0, 3.0), (0.004, 3.0), (0.02, 30.0), (0.1, 100.0)]
)
def test_so_much_is_expected_of_a_contradiction_that_few_rows_left_out_would_be_one(errors, limit):
    rng = np.random.default_rng(4)
    sizes = np.append(np.arange(8, 168), 700)  # so that about each number is expected somewhere
    groups, n = np.repeat(np.arange(161), sizes), int(sizes.sum())
    labels = np.where(rng.random(n) < errors, rng.integers(0, 12, n), groups % 4)
    values = [f"v{k}" for k in range(12)]
    counts = LabelCounts.learn(values, np.full(12, 99))
    index = GroupIndex(("site",), {(f"S{k}",): k for k in range(161)})
    code_of = counts.codes(values)
    shares = GroupShares(counts.plus_rows(groups, code_of[labels]), GroupTree.of(index))
    table, often = np.zeros((161, 12)), np.bincount(labels, minlength=12)
    np.add.at(table, (groups, labels), 1)
    left_out = (sizes[:, None] - 1) * (often - 0.5) / (n - 1 + 0.5 * 14)
    once = {k: int((left_out[table == 1.0] >= k).sum()) for k in (3.0, 10.0, 30.0, 100.0)}
    assert next(k for k, number in once.items() if number <= 0.002 * n) == limit
    assert shares.expected == ([limit], once[limit])
    # New rows contradict where so many are expected of the group and there is none.
    new = np.array([(g, v) for g in range(161) for v in range(12)])
    foreseen = sizes[:, None] * (often + 0.5) / (n + 0.5 * 14)
    added = shares.added(new[:, :1], code_of[new[:, 1]], np.zeros(len(new), bool))
    np.testing.assert_array_equal(np.isinf(added), ((table == 0.0) & (foreseen >= limit)).ravel())
    assert np.isinf(added).any() == (limit < 100.0)


def test_what_a_group_has_most_often_and_who_has_a_label_are_counted():
    rng = np.random.default_rng(5)
    groups, labels = rng.integers(0, 6, 300), rng.integers(0, 5, 300)
    counts = LabelCounts.learn(list("abcde"), np.full(5, 9)).plus_rows(groups, labels)
    for group in range(6):
        own = np.bincount(labels[groups == group], minlength=5)
        assert own["abcde".index(counts.most_frequent(group))] == own.max()
    for label in range(5):
        having = np.bincount(groups[labels == label], minlength=6)
        found = counts.groups_with(label)
        assert sorted(found) == np.flatnonzero(having).tolist()
        assert (np.diff(having[found]) <= 0).all()
    pairs = np.array([(g, v) for g in range(8) for v in range(7)])
    expected = [np.count_nonzero((groups == g) & (labels == v)) for g, v in pairs]
    assert counts.of(*pairs.T).tolist() == expected
    assert counts.size_of(np.arange(9)).tolist() == [*np.bincount(groups).tolist(), 0, 0, 0]
    # Others and none are no labels that a group could have most often.
    alone = LabelCounts.learn(["a"], np.array([9]))
    assert alone.codes(["x", "a"]).tolist() == [1, 0, 2]
    rare = alone.plus_rows(np.zeros(5, int), np.array([1, 2, 1, 2, 1]))
    assert rare.most_frequent(0) is None
    assert rare.plus_rows(np.zeros(1, int), np.zeros(1, int)).most_frequent(0) == "a"
    assert alone.of(np.zeros(2, int), np.zeros(2, int)).sum() == 0


def test_words_say_how_rare_a_text_is_for_its_group_and_where_it_was_seen():
    sites = [f"S{k}" for k in range(6) for _ in range(60)]
    product = (["A-1"] * 57 + ["7"] * 2 + [None]) + ["7"] * 300
    for k in range(1, 6):  # the first ones have it most often
        product[60 * k : 60 * k + 9 - k] = ["8"] * (9 - k)
    for k in range(3, 6):
        product[60 * k + 20 : 60 * k + 20 + k] = ["9"] * k
    product[70:75] = [None] * 5
    table = Table(["site", "x"], [column(sites), column(product)], 360)
    index = GroupIndex.learn(table, ["site"])
    tree = GroupTree.of(index)
    texts = GroupTexts.learn(table["x"], tree).plus_rows(table["x"], index.codes(table))

    def said(text, site, view=0):
        path = np.array([index.keys.get((site,), -1)])
        return texts.words(column([text]) if text else column([None]), view, path)

    assert said("7", "S0") == "is rare for site S0 (2 of 60 rows)"
    assert said("7", "S0", 1) == "has a form that is rare for site S0 (2 of 60 rows)"
    assert said("8", "S0") == "was never seen for site S0 (seen for S1, S2, S3 and 2 more)"
    assert said("9", "S0") == "was never seen for site S0 (seen for S5, S4, S3)"
    assert said("A-1", "S1") == "was never seen for site S1 (seen for S0)"
    assert said("A-1", "S2", 1) == "has a form that was never seen for site S2 (seen for S0)"
    assert said(None, "S1") == "that is rare for site S1 (5 of 60 rows)"
    assert said(None, "S3") == "it never was for site S3 (seen for S1, S0)"
    assert said("new", "S0") == said("7", "S9") == ""


def test_a_group_that_says_no_more_than_the_one_above_it_is_not_named():
    sites = np.repeat(["S0", "S1", "S2", "S3"], 80).tolist()
    machines = [f"M{k % 4}" for k in range(320)]  # alike within a site
    product = (["7"] * 78 + ["A-1"] * 2) + ["A-1"] * 240
    by = [column(sites), column(machines)]
    table = Table(["site", "machine", "x"], [*by, column(product)], 320)
    index = GroupIndex.learn(table, ["site", "machine"])
    tree = GroupTree.of(index)
    texts = GroupTexts.learn(table["x"], tree).plus_rows(table["x"], index.codes(table))
    assert np.isfinite(texts.shares[0].concentrations).tolist() == [True, False]
    assert texts.matters
    one = table.take(np.array([79]))
    assert texts.words(one["x"], 0, tree.codes(one)[0]) == "is rare for site S0 (2 of 80 rows)"

"""A cell beside another one, against the surprise of each slice by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from refold.columns.encoding.dependence import N_CODES, NONE, OTHER, ContingencyTable, partners
from refold.columns.encoding.surprise import Surprise

codes = st.integers(0, 5) | st.just(NONE)


@pytest.mark.parametrize(
    ("attribute", "left_out"),
    [
        ("surprise", False),
        ("surprise_left_out", True),
        ("surprise_left_out_exactly", "exactly"),
    ],
)
@given(st.lists(st.tuples(codes, codes), min_size=1, max_size=80), st.integers(1, 12))
def test_a_code_surprises_as_it_does_in_a_column_of_its_slice_alone(
    attribute, left_out, pairs, times
):
    beside, own = np.array(pairs[:1] * times + pairs).T
    slices = ContingencyTable.of(beside, own)
    found = getattr(slices, attribute)
    for code in range(N_CODES):
        counts = slices.counts[code]
        alone = np.zeros(N_CODES)
        if counts.sum() > bool(left_out):
            alone = Surprise.of_counts(counts).of_rows(counts, left_out=left_out)
        np.testing.assert_array_equal(found[code], alone)


def told(a, b):
    """Mutual information less what chance makes of it, by scikit-learn; 0 if it may be chance."""
    freedom = (len(np.unique(a)) - 1) * (len(np.unique(b)) - 1)
    beyond = 2.0 * len(a) * mutual_info_score(a, b) - freedom
    return beyond / (2.0 * len(a)) if beyond > 5.0 * np.sqrt(2.0 * freedom) else 0.0


@pytest.mark.parametrize("rows", [60, 400, 3_000])
def test_a_partner_tells_the_largest_share_of_a_columns_entropy(rows):
    found = []
    for seed in range(30 if rows == 60 else 8):
        rng = np.random.default_rng(seed)
        first = rng.integers(0, rng.integers(1, 9), rows)
        columns = [first]
        for noise in (0.05, 0.5, 0.7, 0.9):
            source = columns[rng.integers(len(columns))]
            noisy = rng.random(rows) < noise
            columns.append(np.where(noisy, rng.integers(0, 9, rows), source // 2))
        columns.append(rng.integers(0, 5, rows))
        expected = []
        for own in columns:
            entropy = mutual_info_score(own, own)
            shares = [
                0.0 if other is own or entropy <= 1e-12 else told(own, other) / entropy
                for other in columns
            ]
            expected.append(int(np.argmax(shares)) if max(shares) > 0.02 else None)
        assert partners(columns) == expected
        found += expected
    assert found.count(None) >= 8
    assert len(set(found)) > 2


def test_of_many_columns_the_first_hundred_are_compared(rng):
    own = rng.integers(0, 4, 200)
    others = [rng.integers(0, 4, 200) for _ in range(97)]
    for before, partner in ((97, 98), (98, 99), (99, None)):
        columns = [*others[:1] * (before - 97), *others, own, own]
        assert len(columns) == before + 2
        found = partners(columns)
        assert found[before] == (None if partner is None else before + 1)
        assert found[before + 1] == (None if partner is None else before)
    assert partners([]) == []


def test_a_pair_that_nobody_has_contradicts_where_three_rows_were_to_be_expected():
    counts = np.zeros((N_CODES, N_CODES), dtype=int)
    counts[0, 0], counts[1, 1], counts[2, 1] = 6, 6, 1
    counts[OTHER, NONE] = 40
    counts[3, 2:8] = 4
    counts[0, 0] += 40
    counts[3, 2] += 30
    n, beside, own = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.array([[a * b >= 3 * n for b in own] for a in beside])
    expected[OTHER:], expected[:, OTHER:] = False, False
    never = expected & (counts == 0)
    assert {(0, 2), (3, 0)} <= set(zip(*np.nonzero(never), strict=True))
    np.testing.assert_array_equal(ContingencyTable(counts).contradictions, never)
    assert not ContingencyTable(counts).closed_but_for_one
    once = counts.copy()
    once[0, 2] = 1
    assert not ContingencyTable(once).contradictions.any()
    assert ContingencyTable(once).closed_but_for_one
    once[3, 0] = 1
    assert not ContingencyTable(once).closed_but_for_one
    assert not ContingencyTable(np.zeros_like(counts)).contradictions.any()


def test_pairs_are_counted_and_taken_away(rng):
    beside, own = rng.integers(0, N_CODES, (2, 500))
    whole = ContingencyTable.of(beside, own)
    for pair in zip(beside[:20], own[:20], strict=True):
        assert whole.counts[pair] == np.count_nonzero((beside == pair[0]) & (own == pair[1]))
    first, rest = (
        ContingencyTable.of(beside[:100], own[:100]),
        ContingencyTable.of(beside[100:], own[100:]),
    )
    np.testing.assert_array_equal(first.plus(rest).counts, whole.counts)
    np.testing.assert_array_equal(whole.minus(rest).counts, first.counts)
    with pytest.raises(ValueError, match="were never counted"):
        first.minus(whole)

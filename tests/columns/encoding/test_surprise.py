"""Surprise against the formula, written out; and what it is meant to say."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refold.columns.encoding.surprise import MANY, Surprise

counts = st.lists(st.integers(1, 30), min_size=1, max_size=12)


def by_definition(counts, r):
    n, singles = sum(counts), sum(c == 1 for c in counts)
    r = max(r, 1) if 2 * singles >= n else r
    share = sum(min(c, r + 1) for c in counts) / n if r > 0 else max(singles, 1) / n
    return max(-math.log(min(share, 1.0)), 0.0)


@given(counts, st.integers(0, 40))
def test_it_is_the_formula(counts, have):
    surprise = Surprise.of_counts(np.array(counts))
    r = have - 1 if have > MANY else have
    assert surprise.of_rows(np.array([have]))[0] == pytest.approx(by_definition(counts, r))
    if have:
        left_out = surprise.of_rows(np.array([have]), left_out=True)[0]
        assert left_out == pytest.approx(by_definition(counts, have - 1))


@given(counts)
def test_what_many_rows_have_surprises_a_new_row_as_much_as_one_of_them(counts):
    surprise, many = Surprise.of_counts(np.array(counts)), np.array([11, 17, 30])
    assert np.array_equal(surprise.of_rows(many), surprise.of_rows(many, left_out=True))


@given(counts)
def test_what_few_rows_have_is_as_surprising_as_to_a_row_that_was_one_more(counts):
    surprise, few = Surprise.of_counts(np.array(counts)), np.arange(1, 10)
    assert np.array_equal(surprise.of_rows(few), surprise.of_rows(few + 1, left_out=True))


@given(counts)
def test_the_rarer_the_more_surprising(counts):
    found = Surprise.of_counts(np.array(counts)).of_rows(np.arange(35))
    assert (np.diff(found[1:]) <= 1e-12).all()
    assert (found >= 0.0).all()


def test_uniform_values_and_identifiers_surprise_nobody():
    assert Surprise.of_counts(np.full(7, 300)).of_rows(np.array([300]))[0] == 0.0
    identifier = Surprise.of_counts(np.ones(500, dtype=np.int64))
    assert identifier.of_rows(np.array([0]))[0] == 0.0


def test_a_value_never_seen_of_a_closed_set_surprises_by_the_number_of_rows():
    closed = Surprise.of_counts(np.array([700, 250, 50]))
    assert closed.closed
    assert closed.of_rows(np.array([0]))[0] == pytest.approx(math.log(1_000))


@pytest.mark.parametrize("counts", [[700, 250, 1], [5, 5, 5], [1], [80, 67, 2], [70, 30, 2]])
def test_a_set_with_single_or_few_rows_is_not_closed(counts):
    assert not Surprise.of_counts(np.array(counts)).closed


@pytest.mark.parametrize("counts", [[80, 17, 3], [150, 98, 2], [10], [7, 13], [700, 298, 2]])
def test_a_set_is_closed_whose_values_came_three_times_or_twice_in_250_rows(counts):
    assert Surprise.of_counts(np.array(counts)).closed


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6))
@example([5, 7])
@example([2])
def test_closed_but_for_one_is_what_was_closed_before_it_came(counts):
    without, one_more = (Surprise.of_counts(np.array(each)) for each in (counts, [*counts, 1]))
    assert one_more.closed_but_for_one == without.closed
    assert not one_more.closed


def test_the_share_of_new_values_is_estimated_by_good_and_turing():
    rng = np.random.default_rng(0)
    chances = 1.0 / np.arange(1, 2_001)
    chances /= chances.sum()
    seen = rng.choice(2_000, 3_000, p=chances)
    surprise = Surprise.of_counts(np.bincount(seen))
    new = np.mean(~np.isin(rng.choice(2_000, 100_000, p=chances), seen))
    assert math.exp(-surprise.of_rows(np.array([0]))[0]) == pytest.approx(new, rel=0.1)


@pytest.mark.parametrize("left_out", [False, True])
def test_a_count_surprises_alone_as_it_does_among_many(left_out):
    surprise = Surprise.of_counts(np.random.default_rng(0).integers(0, 150, 80))
    have = np.arange(1, 200)
    many = surprise.of_rows(have, left_out=left_out)
    for _ in range(2):  # the second time it is looked up
        few = [surprise.of_rows(have[k : k + 3], left_out=left_out) for k in range(0, 199, 3)]
        np.testing.assert_array_equal(np.concatenate(few), many)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=12))
def test_left_out_exactly_is_the_surprise_by_the_counts_of_the_other_rows(counts):
    surprise, n = Surprise.of_counts(np.array(counts)), sum(counts)
    found = surprise.of_rows(np.array(counts), left_out="exactly")
    for k, have in enumerate(counts):
        others = [*counts[:k], have - 1, *counts[k + 1 :]]
        open_ = 2 * sum(c == 1 for c in counts) >= n
        if open_ != (2 * sum(c == 1 for c in others) >= n - 1):
            continue  # one row more or less decides whether values are names
        new = Surprise.of_counts(np.array(others)).of_rows(np.array([have - 1]))[0]
        assert found[k] == pytest.approx(new)

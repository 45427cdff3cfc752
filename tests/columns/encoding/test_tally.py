"""Counts of values: exact as long as they fit, bounded and honest beyond."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.algorithm import kernels
from refold.columns.encoding.value_counts import MOST_VALUES, ValueCounts

texts = st.lists(st.text(max_size=4), max_size=40)


def tally(values):
    counted = Counter(values)
    return ValueCounts.of(list(counted), np.array(list(counted.values()), dtype=np.int64))


@given(texts, texts)
def test_counts_add_and_subtract(some, more):
    both = tally(some).plus(tally(more))
    assert both.counts == dict(Counter(some + more))
    assert both.rows == len(some + more)
    assert both.minus(tally(more)).counts == dict(Counter(some))


def test_a_value_without_a_row_is_not_kept():
    for counts, kept in (([2, 0], {"a": 2}), ([0, 0], {})):
        found = ValueCounts.of(["a", "b"], np.array(counts), missing=3)
        assert (found.counts, found.rows) == (kept, sum(counts) + 3)


def test_what_was_never_counted_cannot_be_subtracted():
    with pytest.raises(ValueError, match="'b' were never counted"):
        tally("aaa").minus(tally("ab"))


@given(texts)
def test_the_spectrum_counts_counts(values):
    counts, times = tally(values).spectrum()
    assert dict(zip(counts.tolist(), times.tolist(), strict=True)) == Counter(
        Counter(values).values()
    )


def test_rows_without_a_value_are_counted_apart_and_are_one_more_count():
    some = ValueCounts.of(["a", "b", "c"], np.array([2, 0, 5]), 3)
    assert (dict(some.counts), some.rows, some.missing) == ({"a": 2, "c": 5}, 10, 3)
    counts, times = some.spectrum()
    assert (counts.tolist(), times.tolist()) == ([2, 3, 5], [1.0, 1.0, 1.0])
    assert (some.distinct, some.most_usual) == (2, "c")
    both = some.plus(ValueCounts.of(["a"], np.array([3]), 2))
    assert (dict(both.counts), both.rows, both.missing) == ({"a": 5, "c": 5}, 15, 5)
    assert both.most_usual == "c"
    back = both.minus(some)
    assert (dict(back.counts), back.rows, back.missing) == ({"a": 3}, 5, 2)
    with pytest.raises(ValueError, match="without a value were never counted"):
        some.minus(ValueCounts.of([], np.array([], dtype=np.int64), 4))
    assert some.minus(ValueCounts.of([], np.array([], dtype=np.int64), 3)).missing == 0
    nothing = some.minus(some)
    assert (dict(nothing.counts), nothing.rows, nothing.most_usual) == ({}, 0, "")
    assert some.counts_of(["c", "b", "x"]).tolist() == [5, 0, 0]


@pytest.mark.parametrize(("extra", "exact"), [(0, True), (1, False)])
def test_as_many_values_as_fit_are_all_kept(extra, exact):
    names = [f"v{k}" for k in range(MOST_VALUES + extra)]
    ones = np.ones(len(names), dtype=np.int64)
    whole = ValueCounts.of(names, ones, 7)
    parts = [ValueCounts.of(names[k::2], ones[k::2]) for k in range(2)]
    for found in (whole, parts[0].plus(parts[1])):
        assert (found.level == 0) == (found.error == 0) == exact
        assert (len(found.counts) == len(names)) == exact
    assert whole.missing == 7
    if not exact:
        counts, times = whole.spectrum()
        assert counts.tolist() == [1, 7]
        assert times[1] == 1.0
        assert times[0] == pytest.approx(len(names), rel=0.05)
        assert whole.distinct == times[0]
        level = whole.level
        kept = kernels.hashes(list(whole.counts)) >> (63 - level) == 0
        assert kept.all()
        assert MOST_VALUES // 16 < len(whole.counts) <= MOST_VALUES // 4
        more = whole.sampled(level + 1)
        assert len(more) == pytest.approx(len(whole.counts) / 2, rel=0.1)
        assert whole.sampled(0) is whole.counts


def many(n_values, seed=0):
    """Return a heavy value, values of three rows, and values of one row."""
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in rng.permutation(n_values)]
    counts = np.where(np.arange(n_values) % 2, 1, 3)
    counts[0] = 50_000
    return names, counts.astype(np.int64)


def test_a_million_values_are_kept_in_bounded_memory_and_counted_about_right():
    names, counts = many(1_000_000)
    found = ValueCounts.of(names, counts)
    assert len(found.counts) <= MOST_VALUES
    assert found.rows == counts.sum()
    assert found.counts[names[0]] == 50_000
    known, times = found.spectrum()
    about = dict(zip(known.tolist(), times.tolist(), strict=True))
    assert about[1] == pytest.approx(500_000, rel=0.05)
    assert about[3] == pytest.approx(499_999, rel=0.05)
    assert found.distinct == pytest.approx(1_000_000, rel=0.05)


def test_counts_of_parts_make_about_the_counts_of_the_whole():
    names, counts = many(400_000)
    parts = [ValueCounts.of(names[k::4], counts[k::4]) for k in range(4)]
    found = parts[0].plus(parts[1]).plus(parts[2]).plus(parts[3])
    assert len(found.counts) <= MOST_VALUES
    assert found.counts[names[0]] == pytest.approx(50_000, abs=found.error)
    assert found.distinct == pytest.approx(400_000, rel=0.05)
    truth = dict(zip(names, counts.tolist(), strict=True))
    assert all(truth[v] - found.error <= n <= truth[v] for v, n in found.counts.items())


def test_hashes_depend_on_the_text_alone_and_spread_evenly():
    values = [f"ID-{k:07d}" for k in range(100_000)]
    bits = kernels.hashes(values)
    assert kernels.hashes(["ID-0000007"])[0] == bits[7]
    assert len(set(bits.tolist())) == len(values)
    for level in (1, 4, 8):
        share = np.mean(bits >> (63 - level) == 0)
        assert share == pytest.approx(2.0**-level, rel=0.15)


@pytest.mark.parametrize("odd", ["\ud800", "", "é" * 300, "\0", "a" * 10**6])
def test_any_text_has_a_hash(odd):
    assert kernels.hashes([odd])[0] >= 0

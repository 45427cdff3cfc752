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


def test_what_was_never_counted_cannot_be_subtracted():
    with pytest.raises(ValueError, match="'b' were never counted"):
        tally("aaa").minus(tally("ab"))


@given(texts)
def test_the_spectrum_counts_counts(values):
    counts, times = tally(values).spectrum()
    assert dict(zip(counts.tolist(), times.tolist(), strict=True)) == Counter(
        Counter(values).values()
    )


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

"""Classes of texts and dates: p-values are bounds, whatever the counts."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from refold.columns.encoding.value_counts import MOST_VALUES, ValueCounts
from refold.monitoring import _classes
from refold.monitoring._classes import OTHERS, ClassComparison, column_p_value
from refold.monitoring.statistics import most_uneven, no_more_new, same_share, share_not_larger


def tally(texts):
    counted = Counter(texts)
    return ValueCounts.of(list(counted), np.array(list(counted.values()), dtype=int))


def compared(before, now, way="value"):
    return ClassComparison(way, tally(before), tally(now), ValueCounts())


def splits(texts, rows):
    """All ways to draw the new rows from all rows, each as likely as the others."""
    for chosen in combinations(range(len(texts)), rows):
        yield (
            [text for k, text in enumerate(texts) if k not in chosen],
            [texts[k] for k in chosen],
        )


def assert_never_understated(p):
    """The chance that p is at most a is at most a, for every a that p can be."""
    p = np.sort(p)
    assert (np.searchsorted(p, p * (1 + 1e-9), side="right") / len(p) <= p * (1 + 1e-9)).all()


@pytest.mark.parametrize("rows", [2, 6, 9])
@pytest.mark.parametrize("texts", ["aaaaaabbbccd", "aaaaaaaaaaab", "aabbccddeeff", "abcdefghijkl"])
def test_the_chance_of_a_difference_is_never_understated_for_few_rows(monkeypatch, texts, rows):
    monkeypatch.setattr(_classes, "_TELLING", 1.0)  # so that every class is tested
    p = [column_p_value([compared(*split)], 0) for split in splits(texts, rows)]
    assert_never_understated(p)


def test_samples_without_a_common_value_differ():
    assert column_p_value([compared(["a"] * 30, ["b"] * 30)], 0) < 1e-15
    assert column_p_value([compared(["a"] * 30, ["a"] * 30)], 0) == 1.0


@pytest.mark.parametrize("rows", [2, 6, 9])
@pytest.mark.parametrize("texts", ["aaaaaabbbccd", "aabbccddeeff", "aaaaaabcdefg"])
def test_the_chance_of_new_values_is_never_understated(texts, rows):
    together = np.array(list(Counter(texts).values()))
    new = [len(set(now) - set(before)) for before, now in splits(texts, rows)]
    p = np.array([no_more_new(found, rows, len(texts) - rows, together) for found in new])
    assert_never_understated(p)
    assert p.min() < 0.9


@pytest.mark.parametrize("rows", [2, 6, 9])
def test_the_chance_of_later_rows_is_never_understated(rows):
    later = [
        sum(each > max(before) for each in now)
        for before, now in splits([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11], rows)
    ]
    p = share_not_larger(np.array(later), rows, np.zeros(len(later)), 12 - rows)
    assert_never_understated(p)
    assert p.min() < 0.1


def test_new_values_of_a_column_that_is_always_new_are_no_surprise():
    assert no_more_new(500, 500, 1000, np.ones(1500, dtype=int)) == 1.0
    assert no_more_new(300, 500, 1000, np.repeat([1, 12], [300, 100])) < 1e-20


def test_the_most_uneven_split_is_the_least_of_all():
    for n, m in [(3, 8), (8, 3), (6, 6)]:
        for together in range(n + m + 1):
            found = np.arange(max(0, together - m), min(together, n) + 1)
            p = same_share(found, n, together - found, m)
            assert most_uneven(np.array([together]), n, m)[0] == pytest.approx(p.min())


def test_rare_values_are_one_class():
    before, now = ["a"] * 500 + ["b"] * 400 + list("cdefg"), ["a"] * 500 + ["b"] * 400 + list("hc")
    names, counts = compared(before, now).classes
    assert names == ["a", "b", OTHERS]
    assert counts.tolist() == [[500, 400, 5], [500, 400, 2], [0, 0, 0]]


def test_few_new_rows_can_tell_of_a_value_that_training_never_had():
    names, _ = compared(["a"] * 12_000, ["a"] * 45 + ["z"] * 5).classes
    assert "z" in names  # five rows of both together, but none of them among the many


def test_setting_outliers_aside_leaves_the_largest_chance_that_any_of_them_can():
    before, now, rejected = "a" * 60 + "b" * 60, "a" * 20 + "b" * 60, "a" * 4 + "b" * 9
    found = ClassComparison("value", tally(before), tally(now), tally(rejected))
    for k, name in enumerate(found.classes[0][:2]):
        left = [
            same_share(now.count(name) - out, len(now) - out - other, 60, 120)
            for out in range(min(rejected.count(name), 5) + 1)
            for other in range(min(13 - rejected.count(name), 5 - out) + 1)
        ]
        assert found.p_values(5)[k] == pytest.approx(max(left))
        assert found.p_values(0)[k] == pytest.approx(left[0])
        assert left[0] < max(left)


def test_of_very_many_values_a_sample_is_compared(rng):
    drawn = rng.integers(0, 200_000, size=300_000)
    before, same = (tally([f"k{k}" for k in part]) for part in np.split(drawn, [200_000]))
    assert max(before.level, same.level) > 0
    assert column_p_value([ClassComparison("value", before, same, ValueCounts())], 0) > 0.01
    other = tally([f"n{k}" for k in drawn[200_000:]])
    found = ClassComparison("value", before, other, ValueCounts())
    assert found.unseen == pytest.approx(1.0, abs=0.1)
    assert column_p_value([found], 0) < 1e-6
    assert len(found.classes[0]) < MOST_VALUES

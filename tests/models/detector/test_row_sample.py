"""The rows that a Detector keeps: each of all rows with the same chance, however they come."""

import numpy as np
import pytest

from refold.columns.table import NumberColumn, Table
from refold.models.detector import learned
from refold.models.detector.learned import RowSample


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch):
    monkeypatch.setattr(learned, "SIZE", 50)


def rows(first, last):
    return Table(["x"], [NumberColumn(np.arange(first, last, dtype=float))], last - first)


def kept(sample):
    return sample.rows.columns[0].values


@pytest.mark.parametrize("chunk", [1, 7, 60, 200])
def test_chunks_give_the_sample_of_all_rows(chunk):
    whole, parts = RowSample(3).plus_rows(rows(0, 200)), RowSample(3)
    for first in range(0, 200, chunk):
        parts = parts.plus_rows(rows(first, min(first + chunk, 200)))
    assert parts.seen == whole.seen == 200
    np.testing.assert_array_equal(kept(parts), kept(whole))
    np.testing.assert_array_equal(parts.keys, whole.keys)


def test_every_row_has_the_same_chance():
    counts = np.zeros(200)
    for seed in range(400):
        sample = RowSample(seed).plus_rows(rows(0, 120)).plus_rows(rows(120, 200))
        counts[kept(sample).astype(int)] += 1
    # 400 draws with a chance of a quarter: 100 ± 8.7, and the largest of 200 within five of these.
    assert counts.sum() == 400 * 50
    assert abs(counts - 100).max() < 44

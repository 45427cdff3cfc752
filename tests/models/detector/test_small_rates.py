"""Small tables of categories: rows are left out of the counts too, not only of the model."""

import numpy as np
import pytest

from refold import Detector


def table(rows, columns, levels, draw):
    """Independent columns of equally frequent words."""
    codes = draw.integers(levels, size=(rows, columns))
    names = [f"c{k}" for k in range(columns)]
    return [dict(zip(names, map("v{}".format, row), strict=True)) for row in codes]


def rate(rows, levels, alpha, tables=12):
    """The mean share of new rows of the same kind that models of many tables reject."""
    shares = []
    for seed in range(tables):
        draw = np.random.default_rng(seed)
        model = Detector(alpha=alpha).fit(table(rows, 6, levels, draw))
        shares.append(np.mean(model.predict(table(2000, 6, levels, draw)) == -1))
    return np.mean(shares)


@pytest.mark.slow
def test_two_hundred_rows_of_categories_keep_their_rate():
    assert rate(200, 30, 0.1) == pytest.approx(0.1, abs=0.015)


@pytest.mark.slow
def test_thirty_rows_of_three_categories_are_better_judged_than_by_left_out_scores_alone():
    """What 33 rows know of 729 combinations is not enough for 0.147; it was 0.49."""
    assert rate(33, 3, 0.147) < 0.35

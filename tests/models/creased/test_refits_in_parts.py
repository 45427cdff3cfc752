"""Which rows are left out together, and what becomes of their scores."""

import numpy as np
import pytest

from refold.base.errors import TableError
from refold.models.creased.refits import n_parts, refitted


@pytest.mark.parametrize(
    ("rows", "columns", "discrete", "parts"),
    [
        (201, 30, 19, 0),
        (201, 30, 20, 10),  # so many discrete columns are many
        (2000, 30, 20, 10),
        (2001, 30, 20, 0),
        (60, 2000, 0, 5),  # no fewer parts than these
        (60, 2001, 0, 0),
        (60, 201, 0, 49),
    ],
)
def test_in_how_many_parts_rows_are_left_out(rows, columns, discrete, parts):
    assert n_parts(np.ones(rows), columns, discrete) == parts
    assert n_parts(np.full(rows, 0.3), columns, discrete) == parts  # each is a row all the same


def test_copies_of_a_row_are_left_out_one_by_one():
    rows = np.arange(12.0)[:, None]
    weights = np.array([2.5, 0.4, 1.0, 2.0] * 3)
    copies = np.array([3, 1, 1, 2] * 3)
    left_out = []

    def score(rest, counts, left):
        less = weights - np.bincount(left, minlength=12) * weights / copies
        some = less > 1e-6
        assert rest.tolist() == np.flatnonzero(some).tolist()
        np.testing.assert_allclose(counts, less[some])
        left_out.append(left)
        return left * 1.0 + len(left_out)

    found = refitted(rows, weights, score, np.zeros(12), 7, seed=1)
    assert np.bincount(np.concatenate(left_out)).tolist() == copies.tolist()
    assert len(left_out) == 7
    mean = np.zeros(12)
    for number, left in enumerate(left_out, 1):
        np.add.at(mean, left, left + number)
    np.testing.assert_allclose(found, mean / copies)


def test_rows_without_which_nothing_can_be_learned_keep_their_scores(rng):
    rows, otherwise = rng.normal(size=(20, 2)), rng.random(20)

    def score(rest, counts, left):
        if 4 in left:
            raise TableError("nothing is left", row=None, column=0)
        return np.full(len(left), 9.0)

    found = refitted(rows, np.ones(20), score, otherwise, 5, seed=0)
    kept = found != 9.0
    assert kept[4]
    assert kept.sum() == 4
    np.testing.assert_array_equal(found[kept], otherwise[kept])

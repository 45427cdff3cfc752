"""Rows that were learned are judged as if they had been left out, and no others are."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from refold import CreasedREF


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("rows", [120, 350])
def test_about_alpha_of_its_own_rows_are_rejected(alpha, rows):
    X = load_breast_cancer().data[load_breast_cancer().target == 1][:rows]
    own = CreasedREF(alpha=alpha).fit_predict(X)
    assert (own == -1).mean() == pytest.approx(alpha, abs=0.02)


def test_a_row_is_known_by_all_of_its_values(table):
    model = CreasedREF(n_creases=100).fit(table)
    own, other = table[[7]], table[[7]].copy()
    other[0, 2] += 1e-4  # not that row, but as good as
    known, _ = model.scoring_.known.find(model.creases_.all_standardized(np.vstack([own, other])))
    assert known.tolist() == [True, False]
    np.testing.assert_array_equal(-model.score_samples(own), model.scoring_.left_out[[7]])
    assert model.score_samples(other)[0] > model.score_samples(own)[0]


def test_where_rows_repeat_an_equal_row_is_a_new_one(rng):
    X = rng.integers(3, size=(300, 3)).astype(float)
    model = CreasedREF(n_creases=30, alpha=0.05).fit(X)
    assert len(model.scoring_.known.marks) == 0
    new = rng.integers(3, size=(3000, 3)).astype(float)
    assert (model.predict(new) == -1).mean() <= 0.06


def test_some_repeated_rows_do_not_hide_the_others():
    X = load_iris().data  # three rows have a twin
    model = CreasedREF(alpha=0.1).fit(X)
    assert len(model.scoring_.known.marks) == len(np.unique(X, axis=0))
    assert (model.predict(X) == -1).mean() == pytest.approx(0.1, abs=0.02)


def test_rows_with_gaps_are_known_too(table):
    holes = table.copy()
    holes[::3, 1] = np.nan
    model = CreasedREF(n_creases=30).fit(holes)
    np.testing.assert_array_equal(-model.score_samples(holes), model.scoring_.left_out)


def test_a_stream_knows_the_rows_that_it_keeps(table):
    model = CreasedREF(n_creases=30, n_init=100, alpha=0.1)
    for begin in range(0, 300, 60):
        model.partial_fit(table[begin : begin + 60])
    assert (model.predict(table) == -1).mean() == pytest.approx(0.1, abs=0.02)


def test_an_absurd_cell_that_was_learned_is_the_reason_for_its_row(rng):
    X = rng.normal(size=(300, 4))
    X[17, 2] = 1048.0
    model = CreasedREF(alpha=0.05).fit(X)
    found = model.scorer().attribution(X[[17]])
    assert found.distances[0] > 1.0
    assert found.parts[0].argmax() == 2
    assert found.parts[0, 2] > 0.5 * found.distances[0]

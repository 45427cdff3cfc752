"""Few rows are calibrated by models that were really made without them."""

from dataclasses import replace

import numpy as np
import pytest

from refold import CreasedREF
from refold.algorithm import kernels
from refold.models.creased.leverage import deleted_leverages
from refold.models.creased.refits import MOST_ROWS, n_parts, refitted


def small(**options):
    return CreasedREF(n_creases=20, alpha=0.2, **options)


@pytest.mark.parametrize("box", [0.0, 10.0])
def test_the_scores_are_those_of_models_without_the_row(table, box):
    X = table[:18]
    scores = []
    for i in range(len(X)):
        rest = small(box=box).fit(np.delete(X, i, axis=0))
        scores.append(-rest.score_samples(X[[i]])[0] * rest.scoring_.unit)
    model = small(box=box).fit(X)
    np.testing.assert_allclose(
        model.scoring_.left_out, np.array(scores) / model.scoring_.unit, rtol=1e-9
    )


def test_many_rows_are_left_out_in_fifty_parts(rng):
    rows = rng.normal(size=(120, 2))
    seen = []

    def score(rest, weights, left):
        seen.append((len(rest), len(left)))
        assert not set(rest) & set(left)
        return rows[left, 0]

    parts = n_parts(np.ones(120), 2)
    got = refitted(rows, np.ones(120), score, np.zeros(120), parts, seed=3)
    np.testing.assert_array_equal(got, rows[:, 0])
    assert len(seen) == 50
    assert {sum(pair) for pair in seen} == {120}
    assert {left for _, left in seen} == {2, 3}


def test_a_row_of_weight_two_is_two_rows(table):
    X, weights = table[:30], np.where(np.arange(30) % 4 == 0, 2.0, 1.0)
    one = small().fit(X, sample_weight=weights)
    other = small().fit(np.repeat(X, weights.astype(int), axis=0)[::-1])
    rows = X + 0.1
    np.testing.assert_allclose(one.score_samples(rows), other.score_samples(rows), rtol=1e-7)


def test_a_row_without_which_there_is_no_table_is_scored_in_closed_form(table):
    X = table[:40].copy()
    X[:38, 1] = np.nan  # two rows have a value there: without one of them there is no spread
    model = small().fit(X)
    assert np.isfinite(model.scoring_.left_out).all()


def test_more_rows_use_the_closed_form(table):
    few, many = small().fit(table[:MOST_ROWS]), small().fit(table[: MOST_ROWS + 1])
    for model, refits in ((few, True), (many, False)):
        leverage, creases = model.scoring_.leverage, model.creases_
        X = model.training_sample()
        scores = kernels.leverages(creases.map, leverage.form(creases), X, 1)
        closed = deleted_leverages(scores, np.ones(len(X))) / model.scoring_.typical
        inside = model.summary_.box.left_out(X, np.ones(len(X)), model._learned.state.edges) == 0
        inside = inside.all(axis=1)
        same = np.isclose(model.scoring_.left_out * model.scoring_.unit, closed)[inside]
        assert same.all() != refits


def test_wide_tables_are_refitted_less_often_and_very_wide_ones_not():
    assert [n_parts(np.ones(60), d) for d in (4, 200, 1000, 3000)] == [50, 50, 10, 0]
    assert [n_parts(np.ones(n), 4) for n in (4, 5, 40, 200, 201)] == [0, 5, 40, 50, 0]
    assert [n_parts(np.ones(n), 4, paired=True) for n in (200, 201, 9000)] == [50, 10, 10]


def test_models_made_anew_take_rows_that_were_accepted_for_normal(table):
    X, far = table[:40], table[:1] + 6.0 * table.std(axis=0)
    learned = small(box=10.0).fit(X).accept(far)._learned
    state = learned.state
    no_box = replace(learned, state=replace(state, recipe=replace(state.recipe, box=0.0)))
    rows, ones = np.vstack([far, X[:1]]), np.ones(39)
    with_box, without = (each._anew(X[1:], ones, rows) for each in (learned, no_box))
    assert with_box[0] / with_box[1] == pytest.approx(without[0] / without[1])  # none lies outside

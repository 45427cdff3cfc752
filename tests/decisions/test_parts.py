"""Which rows are left out together, against counting copies one by one."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import REF
from refold.decisions.crossfit import Parts, few_left_out
from tests.decisions.test_crossfit import held_out, sorted_scores

RECIPE = {"n_iter": 5, "fold": "abs", "max_gain": 1e6, "n_jobs": 1}


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5, 7.0]), min_size=1, max_size=12),
    st.integers(1, 9),
)
def test_copies_of_a_row_are_dealt_out_like_rows(weights, most):
    weights = np.array([*weights, 1.0])
    copies = np.ceil(weights).astype(int)
    row_of = np.repeat(np.arange(len(weights)), copies)
    parts = Parts((len(weights), 2), weights, most)
    assert parts.number == min(most, len(row_of))
    assert parts.one_by_one == (len(row_of) <= most)
    for number in range(parts.number):
        inside = np.bincount(row_of[number :: parts.number], minlength=len(weights))
        each = weights / np.maximum(copies, 1)
        rows, weight = parts.part(number)
        np.testing.assert_array_equal(rows, np.flatnonzero(inside))
        np.testing.assert_allclose(weight, (inside * each)[rows])
        np.testing.assert_allclose(parts.others(number), (copies - inside) * each)


@pytest.mark.parametrize(
    ("shape", "parts"),
    [((1000, 400), 1000), ((1000, 401), 334), ((1001, 1), 50), ((7, 3), 7)],
)
def test_how_many_parts_there_are(shape, parts):
    assert Parts(shape, None).number == Parts(shape, np.ones(shape[0])).number == parts
    assert Parts(shape, None).one_by_one == (parts == shape[0])


def few(rng, rows, columns, **changes):
    X = rng.normal(size=(rows, columns))
    return X, few_left_out(X, None, recipe=RECIPE | changes, distance="l1", path=False)


@pytest.mark.parametrize(
    ("rows", "columns", "done"),
    [(200, 3, True), (201, 3, False), (250, 25, True), (251, 25, False)],
)
def test_rows_are_left_out_unasked_up_to_200_or_ten_for_each_column(rng, rows, columns, done):
    assert (few(rng, rows, columns)[1] is not None) == done


def test_rows_are_left_out_unasked_if_it_takes_next_to_no_time(rng):
    assert few(rng, 10, 10, n_iter=100_000)[1] is not None
    assert few(rng, 10, 10, n_iter=100_001)[1] is None


def test_unasked_they_are_left_out_in_ten_parts(rng):
    X, found = few(rng, 57, 2)
    parts = [np.arange(k, 57, 10) for k in range(10)]
    expected = held_out({"levels": "last", "n_iter": 5, "max_gain": 1e6}, X, parts)
    assert found.source == "cross-fitted"
    np.testing.assert_allclose(np.sort(found.scores), expected, rtol=1e-6)


def test_rows_that_come_twice_are_not_nearer_than_they_are_to_the_model_of_all(rng):
    X = rng.normal(size=(40, 2))
    X[20:32] = X[:12]
    last = {"n_iter": 15, "levels": "last"}
    known = -REF(max_gain=40.0, **last).fit(X).score_samples(X)
    unseen = np.concatenate([held_out(last, X, [[i]]) for i in range(40)])
    twice = np.isin(X[:, 0], X[:12, 0])
    expected = np.where(twice, np.maximum(unseen, known), unseen)
    assert (expected != unseen).any()
    scores = sorted_scores(REF(alpha=0.1, **last).fit(X))
    np.testing.assert_allclose(scores, np.sort(expected), rtol=1e-6)


def test_two_rows_with_the_only_other_value_of_a_column_are_raised_together(rng):
    X = np.zeros((60, 3))
    X[:, 0] = rng.normal(size=60)
    X[5, 1], X[6, 2] = 1.0, 1.0
    scores = np.sort(sorted_scores(REF(alpha=0.1).fit(X)))
    raised = held_out({}, X, [[5], [6]])
    np.testing.assert_allclose(scores[-2:], 1.01 * raised.max(), rtol=1e-6)


@pytest.mark.parametrize(("name", "engine"), [("distance", "exact"), ("fold", "reference")])
def test_what_is_ones_own_is_called_by_one_thread_at_a_time(name, engine, rng, monkeypatch):
    monkeypatch.setattr("refold.algorithm.engines.exact.threads", lambda work, n_jobs: n_jobs)
    inside, most = threading.Lock(), []

    def own(folded):
        most.append(inside.acquire(blocking=False))
        time.sleep(0.001)
        if most[-1]:
            inside.release()
        return np.abs(folded).sum(axis=1) if name == "distance" else np.abs(folded)

    rows = rng.normal(size=(30, 2))
    REF(alpha=0.1, n_iter=3, engine=engine, n_jobs=4, **{name: own}).fit(rows)
    assert all(most)

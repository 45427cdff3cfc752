"""Products in one BLAS thread each: quick on a busy machine, and the same bits everywhere."""

import os
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from refold import CreasedREF
from refold.models.creased import _blas
from refold.models.creased._leverage import Leverage

WAIT = 20.0


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


@pytest.fixture
def two():
    """Give BLAS two threads, however many cores there are."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads()) == {2}
        yield


@pytest.fixture
def many(rng):
    return rng.normal(size=(3000, 4)) @ rng.normal(size=(4, 4))


def test_solving_and_adding_are_what_they_say(rng):
    A = rng.normal(size=(40, 7))
    gram = np.asfortranarray(np.ones((7, 7)))
    _blas.add_products(gram, A)
    np.testing.assert_allclose(np.tril(gram), np.tril(1.0 + A.T @ A), rtol=1e-12)
    L = np.asfortranarray(np.tril(rng.normal(size=(7, 7))) + 5.0 * np.eye(7))
    solved = A.copy()
    _blas.solve_lower(L, solved)
    np.testing.assert_allclose(solved, np.linalg.solve(L, A.T).T, rtol=1e-12)


@pytest.mark.parametrize("n_creases", [20, 256])
def test_no_bit_depends_on_threads(n_creases, many, two):
    def results(n_jobs):
        model = CreasedREF(n_creases=n_creases, n_init=500, n_jobs=n_jobs).fit(many)
        model.partial_fit(many[:700])
        reasons = model.reasons(many)
        return model.score_samples(many), reasons.drop, reasons.expected, model.sums_.products()

    expected = results(1)
    for n_jobs in (2, 3, None):
        for ours, theirs in zip(results(n_jobs), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    with threadpool_limits(1, user_api="blas"):
        for ours, theirs in zip(results(1), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_more_blas_threads_cost_nothing(many):
    """As CPU time: those who wait for each other spin."""

    def cost(n_threads):
        with threadpool_limits(n_threads, user_api="blas"):
            start = time.process_time()
            model = CreasedREF(n_jobs=1).fit(many)
            for row in many[:20]:
                model.predict(row[None])
            return time.process_time() - start

    cost(1)
    one, two = (min(cost(n) for _ in range(3)) for n in (1, 2))
    assert two < 2.0 * one


def test_blas_gets_its_threads_back(many, two, monkeypatch):
    seen = []

    def spy(self, phi, scores=Leverage.scores):
        seen.append(blas_threads())
        return scores(self, phi)

    monkeypatch.setattr(Leverage, "scores", spy)
    model = CreasedREF(n_creases=20).fit(many)
    model.predict(many)
    model.reasons(many[:5])
    assert {n for numbers in seen for n in numbers} == {1}
    assert set(blas_threads()) == {2}
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((2, 4), np.inf))
    assert set(blas_threads()) == {2}


def test_blas_gets_its_threads_back_from_the_last_who_leaves(two):
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with _blas.one_thread:
            entered.set()
            assert leave.wait(WAIT)

    thread = threading.Thread(target=stay)
    with _blas.one_thread:
        thread.start()
        assert entered.wait(WAIT)
    assert set(blas_threads()) == {1}
    leave.set()
    thread.join(WAIT)
    assert set(blas_threads()) == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_gets_the_threads_back_that_its_parent_had(two):
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with _blas.one_thread:
            entered.set()
            assert leave.wait(WAIT)

    thread = threading.Thread(target=stay)
    thread.start()
    assert entered.wait(WAIT)
    child = os.fork()
    if child == 0:
        threading.Timer(WAIT, lambda: os._exit(2)).start()
        before = set(blas_threads())
        with _blas.one_thread:
            within = set(blas_threads())
        os._exit(0 if (before, within, set(blas_threads())) == ({2}, {1}, {2}) else 1)
    leave.set()
    thread.join(WAIT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

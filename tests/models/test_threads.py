"""Models that several threads and processes use at once."""

import copy
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone

from refold import REF, CreasedREF
from refold.algorithm.engines.sketch import Sketch
from refold.models.creased.leverage import Leverage

STALE = {
    "REF": (lambda X: REF(engine="sketch").partial_fit(X), (Sketch, "chain")),
    "CreasedREF": (lambda X: CreasedREF(n_creases=16).partial_fit(X), (Leverage, "of")),
}
WAIT = 20.0  # seconds until a thread that should not wait is taken to hang


@pytest.fixture
def rows(rng):
    return rng.normal(size=(300, 3))


@pytest.fixture(params=STALE)
def kind(request):
    return request.param


@pytest.fixture
def often():
    """Let threads take turns far more often than they usually do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@contextmanager
def held(kind):
    """Hold up whoever refreshes a model; give what says that someone does, and a count of them."""
    owner, name = STALE[kind][1]
    original, entered, go, calls = getattr(owner, name), threading.Event(), threading.Event(), []

    def slow(*arguments, **options):
        calls.append(1)
        entered.set()
        assert go.wait(WAIT)
        return original(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, slow)
        try:
            yield entered, go, calls
        finally:
            go.set()


def stale(kind, rows):
    return STALE[kind][0](rows)


def test_refreshing_one_model_keeps_no_other_waiting(kind, rows):
    ready = {name: stale(name, rows) for name in STALE}
    expected = {name: model.predict(rows) for name, model in ready.items()}
    with ThreadPoolExecutor(2) as pool, held(kind) as (entered, go, _):
        refreshed = pool.submit(stale(kind, rows).predict, rows)
        assert entered.wait(WAIT)
        for name, model in ready.items():
            np.testing.assert_array_equal(
                pool.submit(model.predict, rows).result(WAIT), expected[name]
            )
        assert not refreshed.done()
        go.set()
        np.testing.assert_array_equal(refreshed.result(WAIT), expected[kind])


def test_threads_that_ask_a_stale_model_at_once_refresh_it_once(kind, rows):
    model = stale(kind, rows)
    with ThreadPoolExecutor(6) as pool, held(kind) as (entered, go, calls):
        asked = [pool.submit(model.score_samples, rows) for _ in range(6)]
        assert entered.wait(WAIT)
        go.set()
        answers = [answer.result(WAIT) for answer in asked]
    assert len(calls) == 1
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


def test_a_refresh_that_ends_after_more_was_learned_is_not_taken_for_it(kind, rows):
    model = stale(kind, rows)
    with ThreadPoolExecutor(1) as pool, held(kind) as (entered, go, _):
        early = pool.submit(model.score_samples, rows)
        assert entered.wait(WAIT)
        model.partial_fit(rows + 5.0)
        go.set()
        np.testing.assert_array_equal(early.result(WAIT), stale(kind, rows).score_samples(rows))
    expected = stale(kind, rows).partial_fit(rows + 5.0).score_samples(rows)
    np.testing.assert_array_equal(model.score_samples(rows), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_another_thread_refreshes_leaves_nothing_locked(kind, rows):
    model, other = stale(kind, rows), stale(kind, rows)
    with ThreadPoolExecutor(1) as pool, held(kind) as (entered, go, _):
        pool.submit(model.predict, rows)
        assert entered.wait(WAIT)
        child = os.fork()
        if child == 0:
            go.set()
            threading.Timer(WAIT, lambda: os._exit(1)).start()
            for one in (model, other):
                one.partial_fit(rows).predict(rows)
            os._exit(0)
        go.set()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("fails", [False, True])
def test_threads_that_teach_one_model_lose_no_row(kind, fails, rows, often):
    model = stale(kind, rows)
    wrong = np.full((1, 3), np.inf)

    def teach(chunk):
        model.partial_fit(chunk)
        if fails:
            with pytest.raises(ValueError, match="infinity"):
                model.partial_fit(wrong)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(teach, np.split(np.tile(rows, (4, 1)), 60)))
    assert model.summary_.rows == 5 * len(rows)


def test_rows_are_forgotten_by_threads_one_after_another(rows, often):
    model = REF(engine="sketch").partial_fit(np.tile(rows, (3, 1)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(model.forget, np.split(rows, 30)))
    assert model.sketch_.rows == 2 * len(rows)


def test_a_model_that_learns_scores_as_it_was_until_it_has_learned(kind, rows):
    """Another number of columns, threshold and rate: never a mixture of two models."""
    model = stale(kind, rows).calibrate(rows, alpha=0.1)
    expected, wide = model.p_values(rows), np.hstack([rows, rows])
    with ThreadPoolExecutor(1) as pool, held(kind) as (entered, go, _):
        learned = pool.submit(model.fit, wide)
        assert entered.wait(WAIT)
        np.testing.assert_array_equal(model.p_values(rows), expected)
        assert model.n_features_in_ == 3
        model.set_params(n_jobs=2)
        go.set()
        learned.result(WAIT)
    assert (model.n_features_in_, model.n_jobs) == (6, 2)
    assert len(model.predict(wide)) == len(rows)


def test_locks_do_not_hinder_copies(kind, rows):
    model = stale(kind, rows)
    expected = model.score_samples(rows)
    for again in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.score_samples(rows), expected)
        again.partial_fit(rows)
    np.testing.assert_array_equal(model.score_samples(rows), expected)
    assert clone(model).get_params() == model.get_params()


WRONG = [("threshold", np.nan), ("threshold", -1.0), ("n_iter", 0), ("n_bins", 0), ("n_bins", -1)]
WRONG += [("n_bins", 2**61), ("n_jobs", 0), ("fold", "none")]


@pytest.mark.parametrize(("name", "value"), WRONG)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "forget"])
def test_parameters_are_checked_whenever_a_model_learns(method, name, value, rows):
    model = REF(engine="sketch").fit(rows)
    expected = model.predict(rows)
    model.set_params(**{name: value})
    with pytest.raises(ValueError, match=name):
        getattr(model, method)(rows)
    model.set_params(**{name: getattr(REF(), name)})
    np.testing.assert_array_equal(model.predict(rows), expected)


def test_parameters_of_a_creased_model_are_checked_whenever_it_learns(rows):
    model = CreasedREF(n_creases=16).fit(rows).set_params(alpha=2.0)
    with pytest.raises(ValueError, match="alpha"):
        model.partial_fit(rows)


def test_a_parameter_that_is_set_after_learning_waits_for_the_next_learning(rows):
    model = REF(engine="sketch").partial_fit(rows).set_params(n_iter=0)
    expected = REF(engine="sketch").fit(rows).score_samples(rows)
    np.testing.assert_array_equal(model.score_samples(rows), expected)


LARGE = 100_000, 6  # so many values are learned from and described at the same time


def test_the_summary_is_the_same_from_one_thread_and_from_two(rng):
    X = rng.normal(size=LARGE)
    X[rng.random(LARGE) < 0.1] = np.nan
    X[17, 2] = 1e9
    one, two = (REF(n_jobs=n).fit(X) for n in (1, 2))
    for name in ("low", "high", "missing", "quantiles"):
        np.testing.assert_array_equal(getattr(one.summary_, name), getattr(two.summary_, name))
    np.testing.assert_array_equal(one.summary_.box.unit, two.summary_.box.unit)
    assert [f.message for f in one.noticed_] == [f.message for f in two.noticed_]


@pytest.mark.parametrize(("value", "said"), [(np.inf, "contains infinity"), (np.nan, "observed")])
def test_rows_that_cannot_be_learned_are_refused_by_two_threads_too(value, said, rng):
    X = rng.normal(size=LARGE)
    X[:, 3] = value
    with pytest.raises(ValueError, match=said):
        REF(n_jobs=2).fit(X)

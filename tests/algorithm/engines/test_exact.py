"""The compiled engine: any layout, any thread, any instruction set."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from refold import REF
from refold.algorithm import kernels
from refold.algorithm.engines import exact
from tests.conftest import FOLDS


@pytest.fixture
def table(rng):
    X = rng.normal(size=(500, 6))
    X[rng.integers(500, size=40), rng.integers(6, size=40)] = np.nan
    return X


def layouts(X):
    yield "Fortran", np.asfortranarray(X)
    yield "every other row", np.repeat(X, 2, axis=0)[::2]
    yield "every other column", np.repeat(X, 2, axis=1)[:, ::2]
    yield "turned around", np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    yield "transposed", np.ascontiguousarray(X.T).T
    records = np.zeros(len(X), dtype=[("flag", "i1"), ("row", "f8", (X.shape[1],))])
    records["row"] = X
    yield "inside records", records["row"]
    frozen = X.copy()
    frozen.flags.writeable = False
    yield "read only", frozen
    yield "swapped bytes", X.astype(">f8")


def test_the_layout_of_a_table_changes_no_bit(table):
    model = REF().fit(table)
    for name, other in layouts(table):
        np.testing.assert_array_equal(other, table)
        again = REF().fit(other)
        np.testing.assert_array_equal(again.chain_.shifts, model.chain_.shifts, err_msg=name)
        np.testing.assert_array_equal(again.score_samples(other), model.score_samples(table))


def test_float32_is_read_as_the_numbers_it_holds(table):
    single = table.astype(np.float32)
    model = REF().fit(single)
    np.testing.assert_array_equal(
        model.score_samples(single), REF().fit(single.astype(float)).score_samples(single)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_table_is_not_copied_whole(dtype, order, rng):
    tracemalloc = pytest.importorskip("tracemalloc")
    X = np.asarray(rng.normal(size=(20_000, 25)), dtype=dtype, order=order)
    model = REF(n_jobs=1).fit(X)
    tracemalloc.start()
    model.fit(X)
    model.score_samples(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 4


@pytest.mark.parametrize("n", [1, 47, 48, 49, 96, 97])
def test_blocks_of_rows_have_no_seams(n, rng):
    X = rng.normal(size=(97, 3))
    reference = REF(engine="reference").fit(X)
    np.testing.assert_allclose(
        REF().fit(X).score_samples(X[:n]), reference.score_samples(X[:n]), rtol=1e-9
    )


@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 4095, 4096, 4097, 8195])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_have_no_seams(n, weighted, rng):
    X = rng.normal(size=(n, 2))
    weights = rng.integers(1, 3, size=n).astype(float) if weighted else None
    ours = exact.learn(X, weights, n_iter=5, fold="abs", max_gain=1e6)
    z = X[:, 0]
    w = np.ones(n) if weights is None else weights
    for j in range(int(ours.levels[0])):
        z = np.abs(z) if j else z
        mean = np.average(z, weights=w)
        std = np.sqrt(np.sum(w * (z - mean) ** 2) / (w.sum() - 1))
        z = (z - mean) / std
        np.testing.assert_allclose([ours.shifts[j, 0], ours.scales[j, 0]], [mean, std], rtol=1e-10)


def test_training_rows_keep_the_value_they_had_in_training(rng):
    # The mean of the folded training rows is 0 and their standard deviation 1, by definition.
    X = rng.normal(size=(5000, 3)) * [1.0, 1e-7, 1e9] + [0.0, 5.0, -1.0]
    folded = REF().fit(X).transform(X)
    np.testing.assert_allclose(folded.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(folded.std(axis=0, ddof=1), 1.0, rtol=1e-9)


SCRIPT = """
import json, sys
import numpy as np
from refold import REF
from refold.algorithm import kernels
rng = np.random.default_rng(0)
X = rng.normal(size=(5000, 4))
X[:, 3] = rng.integers(4, size=5000)
X[7, 1] = np.nan
out = {"set": kernels.instruction_set}
for fold in ("abs", "sqr", "cos-abs", "cos", "sin", "tanh"):
    for weights in (None, np.arange(1.0, 5001.0)):
        for levels in ("last", "all"):
            for distance in ("l1", "l2"):
                model = REF(fold=fold, levels=levels, distance=distance)
                model.fit(X, sample_weight=weights)
                key = f"{fold} {weights is None} {levels} {distance}"
                scores = model.score_samples(X[:500] * 1.5)
                parts = model.contributions(X[:500] * 1.5)
                out[key] = [model.predict(X[:500] * 1.5).tolist(), model.chain_.scales.tolist(),
                            scores.tolist(), parts.tolist()]
json.dump(out, sys.stdout)
"""


@pytest.mark.skipif(
    kernels.instruction_set == "baseline", reason="This processor has only the baseline set"
)
def test_every_instruction_set_gives_the_same_bits():
    runs = []
    for isa in ("", "baseline"):
        environment = {**os.environ, "REFOLD_ISA": isa}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True
        )
        runs.append(json.loads(run.stdout))
    best, baseline = runs
    assert (best.pop("set"), baseline.pop("set")) == (kernels.instruction_set, "baseline")
    for key, (labels, *numbers) in best.items():
        assert labels == baseline[key][0], key
        if key.startswith(("abs", "sqr")):
            assert numbers == baseline[key][1:], key


@pytest.mark.threads
@pytest.mark.parametrize("fold", FOLDS)
def test_threads_may_score_with_one_model_at_once(fold, rng):
    X = rng.normal(size=(3000, 5))
    model = REF(fold=fold).fit(X)
    expected = model.score_samples(X)
    results = [None] * 8

    def work(i):
        results[i] = model.score_samples(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def _score_in_child(model, X, queue):
    queue.put(model.fit(X).score_samples(X))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_use_threads_after_its_parent_did(rng):
    X = rng.normal(size=(4000, 6))
    model = REF(n_jobs=2).fit(X)
    expected = model.score_samples(X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_score_in_child, args=(model, X, queue))
    child.start()
    np.testing.assert_array_equal(queue.get(timeout=60), expected)
    child.join(timeout=60)
    assert child.exitcode == 0


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 4), (-1, 4), (-2, 3), (-9, 1), (3, 3)])
def test_threads_are_counted_as_in_scikit_learn(n_jobs, expected, monkeypatch):
    monkeypatch.setattr(exact, "_cores", lambda process: 4)
    assert exact.threads(10**9, n_jobs) == expected
    assert exact.threads(10, n_jobs) == 1


def test_more_threads_than_any_machine_has_are_not_started(rng):
    X = rng.normal(size=(600, 20))
    many, one = (REF(n_jobs=n).fit(X).score_samples(X) for n in (2**40, 1))
    np.testing.assert_array_equal(many, one)

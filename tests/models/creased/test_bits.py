"""No bit of a result depends on the rows beside it, on how many there are, or on threads."""

import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from refold import CreasedREF
from refold.algorithm import kernels

TABLES = ("primal", "dual", "gaps", "constants", "trimmed", "one level", "quarters")


@pytest.fixture(params=TABLES)
def kind(request):
    if request.param == "quarters":
        request.getfixturevalue("few_are_many")
    return request.param


def a_table(kind, rng):
    X = rng.normal(size=(3000, 5)) @ rng.normal(size=(5, 5))
    if kind == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
        X = X[~np.isnan(X).all(axis=1)]
    if kind == "constants":
        X[:, 3] = 7.0
    return X[:150] if kind == "dual" else X


def a_model(kind, n_jobs=1):
    options = {"trimmed": {"trim": 0.05}, "one level": {"n_levels": 1, "box": 0.0}}
    return CreasedREF(n_creases=100, n_init=500, n_jobs=n_jobs, **options.get(kind, {}))


def new_rows(X, rng):
    """Rows that were learned, and others, some of them far off."""
    new = np.vstack([X[:40], X[:80] + 0.1 * rng.normal(size=(80, 5)), 4.0 * X[:30]])
    return new[rng.permutation(len(new))]


def test_a_row_alone_gets_the_bits_that_it_gets_among_many(kind, rng):
    X = a_table(kind, rng)
    model, new = a_model(kind).fit(X), new_rows(X, rng)
    assert model.scoring_.leverage.dual == (kind == "dual")
    assert (model.scoring_.leverage.quarters is not None) == (kind == "quarters")
    together, reasons = model.score_samples(new), model._reasons(new)
    for i in (0, 1, 7, 60, len(new) - 1):
        np.testing.assert_array_equal(model.score_samples(new[[i]]), together[[i]])
        np.testing.assert_array_equal(model.score_samples(new[i : i + 3]), together[i : i + 3])
        alone = model._reasons(new[[i]])
        for name in ("drop", "alone", "expected", "distance"):
            found, expected = (getattr(r, name) for r in (alone, reasons))
            np.testing.assert_array_equal(found, expected[[i]])


@pytest.mark.parametrize("columns", [3, 40])
def test_reasons_have_the_distances_of_scoring(columns, rng):
    X = rng.normal(size=(500, columns))
    model = CreasedREF(n_creases=40).fit(X)
    new = np.vstack([X[:50], 2.0 * rng.normal(size=(100, columns))])
    np.testing.assert_array_equal(model._reasons(new).distance, -model.score_samples(new))


def test_how_rows_lie_in_memory_changes_nothing(kind, rng):
    X = a_table(kind, rng)
    model, new = a_model(kind).fit(X), new_rows(X, rng)
    expected = model.score_samples(new)
    padded = np.pad(new, 3)[3:-3, 3:-3]
    for rows in (np.asfortranarray(new), padded, np.repeat(new, 2, axis=0)[::2]):
        np.testing.assert_array_equal(model.score_samples(rows), expected)
    single = new.astype(np.float32)
    np.testing.assert_array_equal(
        model.score_samples(single), model.score_samples(single.astype(np.float64))
    )


@pytest.mark.threads
def test_no_bit_depends_on_the_number_of_threads(kind, rng):
    X = a_table(kind, rng)

    def results(n_jobs):
        model = a_model(kind, n_jobs).fit(X)
        reasons = model._reasons(X[:200])
        model.partial_fit(X[:700])
        return (
            model.score_samples(X),
            reasons.drop,
            reasons.expected,
            model.sums_.products(),
            model.scoring_.leverage.factor,
            model.calibration_.scores,
        )

    with threadpool_limits(1, user_api="blas"):
        expected = results(1)
    with threadpool_limits(2, user_api="blas"):
        for n_jobs in (1, 2, 3, None):
            for ours, theirs in zip(results(n_jobs), expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)


SCRIPT = """
import json, sys
import numpy as np
from refold.algorithm import kernels
from refold.models.creased import leverage
from tests.models.creased.test_bits import TABLES, a_model, a_table, new_rows
out = {"set": kernels.instruction_set}
for kind in TABLES:
    rng = np.random.default_rng(3)
    if kind == "quarters":
        leverage.MANY_ROWS = leverage.MANY_FEATURES = 100
    X = a_table(kind, rng)[:400]
    model = a_model(kind).fit(X)
    new = new_rows(X, rng)
    reasons = model._reasons(new)
    out[kind] = [model.score_samples(new).tolist(), reasons.drop.tolist()]
json.dump(out, sys.stdout)
"""


@pytest.mark.skipif(
    kernels.instruction_set == "baseline", reason="This processor has only the baseline set"
)
def test_every_instruction_set_gives_the_same_bits():
    best, *others = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env={**os.environ, "REFOLD_ISA": isa},
                capture_output=True,
                check=True,
            ).stdout
        )
        for isa in ("", "avx2", "baseline")
    )
    assert best.pop("set") == kernels.instruction_set
    assert [other.pop("set") for other in others] == ["avx2", "baseline"]
    for other in others:
        assert other == best


def pickled(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_copies_give_the_same_bits(again, kind, rng):
    X = a_table(kind, rng)
    model, new = a_model(kind).fit(X), new_rows(X, rng)
    expected = model.score_samples(new)
    copied = again(model)
    np.testing.assert_array_equal(copied.score_samples(new), expected)
    np.testing.assert_array_equal(copied.scorer().distances(new), -expected)


def test_an_error_leaves_no_thread_waiting(rng):
    model = CreasedREF(n_creases=100, n_jobs=3).fit(a_table("primal", rng))
    X = rng.normal(size=(5000, 5))
    X[4321, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.score_samples(X)
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(X)
    assert np.isfinite(model.score_samples(X[:100])).all()

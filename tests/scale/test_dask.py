"""Dask gives the model of one machine, whatever the blocks and whatever happens to a worker."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask", reason="Dask is not installed")
import dask
import dask.array as da
import dask.dataframe as dd

from refold import REF
from refold.scale import dask as refold_dask


@pytest.fixture
def frame(rows, names):
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize("chunks", [(5000, 4), (700, 4), (311, 1), ((0, 4999, 0, 1), (3, 1))])
def test_an_array_gives_the_model_of_its_rows(rows, chunks, assert_same_model):
    X = da.from_array(rows, chunks=chunks)
    model = refold_dask.fit(X)
    assert_same_model(model, REF(engine="sketch").fit(rows), rows)
    distances = refold_dask.score(model, X)
    assert isinstance(distances, da.Array)
    np.testing.assert_array_equal(distances.compute(), -model.score_samples(rows))


@pytest.mark.parametrize("partitions", [1, 7])
def test_a_dataframe_gives_the_model_of_its_rows(frame, partitions, assert_same_model):
    model = refold_dask.fit(dd.from_pandas(frame, npartitions=partitions))
    assert_same_model(model, REF(engine="sketch").fit(frame), frame)
    more = frame[["level", "heat", "flow", "count"]].assign(code="x")
    more.index += 17
    scored = refold_dask.score(model, dd.from_pandas(more, npartitions=partitions)).compute()
    assert scored.columns.tolist() == ["distance", "label"]
    assert scored.index.equals(more.index)
    np.testing.assert_array_equal(scored["label"], model.predict(frame))
    assert scored["label"].dtype == np.int8
    np.testing.assert_array_equal(-scored["distance"], model.score_samples(frame))


def test_integers_and_unknown_numbers_of_rows_are_read(rng, assert_same_model):
    X = rng.integers(0, 50, size=(2000, 2))
    blocks = da.from_array(X, chunks=(300, 2))
    blocks = blocks[blocks[:, 0] > 3]
    model = refold_dask.fit(blocks)
    kept = X[X[:, 0] > 3]
    assert_same_model(model, REF(engine="sketch").fit(kept), kept)
    labels = refold_dask.score(model, blocks).compute() <= 1.0
    np.testing.assert_array_equal(labels, model.predict(kept) == 1)


def test_scoring_computes_nothing_until_it_is_asked(rows):
    def refuse(block):
        raise AssertionError("computed")

    model = REF().fit(rows)
    lazy = da.from_array(rows, chunks=1000).map_blocks(refuse, meta=np.empty((0, 0)))
    assert refold_dask.score(model, lazy).shape == (5000,)


def test_the_given_model_is_fitted_and_stays_as_it_was_if_that_fails(rows):
    model = REF(engine="sketch", n_iter=3)
    assert refold_dask.fit(da.from_array(rows, chunks=1000), model) is model
    before = model.sketch_
    bad = rows.copy()
    bad[3003, 2] = np.inf
    with pytest.raises(ValueError, match=r"Block 3: .*infinity: row 3, column 'x2'"):
        refold_dask.fit(da.from_array(bad, chunks=(1000, 4)), model)
    assert model.sketch_ is before
    with pytest.raises(ValueError, match=r"Block 3: .*infinity: row 3, column 'x2'"):
        refold_dask.score(model, da.from_array(bad, chunks=(1000, 4))).compute()


def test_columns_are_checked_before_anything_is_computed(frame):
    text = dd.from_pandas(frame.assign(flow="x"), npartitions=2)
    with pytest.raises(ValueError, match="Column 'flow' holds String"):
        refold_dask.fit(text)
    model = REF().fit(frame)
    with pytest.raises(ValueError, match="Column 'flow' holds String"):
        refold_dask.score(model, text)
    with pytest.raises(ValueError, match="X has no column 'flow', 'count'"):
        refold_dask.score(model, text[["heat", "level"]])
    with pytest.raises(ValueError, match="X has 2 columns; the model has 4 features"):
        refold_dask.score(model, da.ones((5, 2)))
    with pytest.raises(ValueError, match="1 dimension"):
        refold_dask.fit(da.ones(5))
    with pytest.raises(TypeError, match="not a Dask array or dataframe"):
        refold_dask.fit(frame)


def test_all_rows_missing_or_none_at_all_is_an_error(frame):
    empty = dd.from_pandas(frame.assign(count=np.nan), npartitions=3)
    with pytest.raises(ValueError, match="Nothing is observed in column 'count'"):
        refold_dask.fit(empty)
    for rows in (0, 1):
        with pytest.raises(ValueError, match=rf"{rows} sample\(s\) .* at least 2 rows"):
            refold_dask.fit(da.ones((rows, 3)))


def test_sketches_are_added_up_as_a_tree(rows):
    pluses = []

    class Counting(dask.callbacks.Callback):
        def _posttask(self, key, result, dsk, state, worker_id):
            pluses.append(str(key))

    with Counting():
        refold_dask.fit(da.from_array(rows, chunks=(50, 4)))
    # 100 blocks, 8 at a time: 13, then 2, then 1 task.
    assert len({key for key in pluses if "aggregate" in key}) == 16


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(rng, assert_same_model):
    distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")
    rows = rng.normal(size=(60_000, 3))

    def slowly(block):
        time.sleep(0.1)
        return block

    X = da.from_array(rows, chunks=(1000, 3)).map_blocks(slowly, meta=np.empty((0, 0)))
    with (
        dask.config.set({"distributed.comm.retry.count": 3}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill_one():
            while sum(len(done) for done in client.has_what().values()) < 5:
                time.sleep(0.05)
            worker = cluster.workers[0]
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        model = refold_dask.fit(X)
        killer.join()
        assert killed
        labels = (refold_dask.score(model, X) <= model.threshold_).compute()
    expected = REF(engine="sketch").fit(rows)
    assert_same_model(model, expected, rows)
    np.testing.assert_array_equal(labels, expected.predict(rows) == 1)

"""Dask gives the model of one machine, whatever the blocks and whatever happens to a worker."""

import os
import pickle
import signal
import threading
import time
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

pytest.importorskip("dask", reason="Dask is not installed")
import dask
import dask.array as da
import dask.dataframe as dd

from refold import REF, CreasedREF, Detector, scale
from refold.base.errors import UserError
from refold.scale import dask as refold_dask
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("in_parts")


def learn(X, model=None):
    return refold_dask.learn(X, REF(engine="sketch") if model is None else model)


@pytest.fixture
def frame(rows, names):
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize("chunks", [(5000, 4), (700, 4), (311, 1), ((0, 4999, 0, 1), (3, 1))])
def test_an_array_gives_the_model_of_its_rows(rows, chunks, assert_same_model):
    X = da.from_array(rows, chunks=chunks)
    model = learn(X)
    assert_same_model(model, REF(engine="sketch").fit(rows), rows)
    distances = refold_dask.score(model, X)
    assert isinstance(distances, da.Array)
    np.testing.assert_array_equal(distances.compute(), -model.score_samples(rows))


@pytest.mark.parametrize("partitions", [1, 7])
def test_a_dataframe_gives_the_model_of_its_rows(frame, partitions, assert_same_model):
    model = learn(dd.from_pandas(frame, npartitions=partitions))
    assert_same_model(model, REF(engine="sketch").fit(frame), frame)
    more = frame[["level", "heat", "flow", "count"]].assign(code="x")
    more.index += 17
    scored = refold_dask.score(model, dd.from_pandas(more, npartitions=partitions)).compute()
    assert scored.columns.tolist() == ["distance", "label", *(f"reason_{k}" for k in (1, 2, 3))]
    assert scored.index.equals(more.index)
    np.testing.assert_array_equal(scored["label"], model.predict(frame))
    assert scored["label"].dtype == np.int8
    np.testing.assert_array_equal(-scored["distance"], model.score_samples(frame))


def test_integers_and_unknown_numbers_of_rows_are_read(rng, assert_same_model):
    X = rng.integers(0, 50, size=(2000, 2))
    blocks = da.from_array(X, chunks=(300, 2))
    blocks = blocks[blocks[:, 0] > 3]
    model = learn(blocks)
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
    assert learn(da.from_array(rows, chunks=1000), model) is model
    before = model.sketch_
    bad = rows.copy()
    bad[3003, 2] = np.inf
    with pytest.raises(ValueError, match=r"Block 3: .*infinity: row 3, column 'x2'"):
        learn(da.from_array(bad, chunks=(1000, 4)), model)
    assert model.sketch_ is before
    with pytest.raises(ValueError, match=r"Block 3: .*infinity: row 3, column 'x2'"):
        refold_dask.score(model, da.from_array(bad, chunks=(1000, 4))).compute()


def test_columns_are_checked_before_anything_is_computed(frame):
    text = dd.from_pandas(frame.assign(flow="x"), npartitions=2)
    with pytest.raises(ValueError, match="Column 'flow' holds String"):
        learn(text)
    model = REF().fit(frame)
    with pytest.raises(ValueError, match="Column 'flow' holds String"):
        refold_dask.score(model, text)
    with pytest.raises(ValueError, match="X has no column 'flow', 'count'"):
        refold_dask.score(model, text[["heat", "level"]])
    with pytest.raises(ValueError, match="X has 2 columns; the model has 4 features"):
        refold_dask.score(model, da.ones((5, 2)))
    with pytest.raises(ValueError, match="1 dimension"):
        learn(da.ones(5))
    with pytest.raises(TypeError, match="not a Dask array or dataframe"):
        learn(frame)


def test_all_rows_missing_or_none_at_all_is_an_error(frame):
    empty = dd.from_pandas(frame.assign(count=np.nan), npartitions=3)
    with pytest.raises(ValueError, match="Nothing is observed in column 'count'"):
        learn(empty)
    for rows in (0, 1):
        with pytest.raises(ValueError, match=rf"{rows} sample\(s\) .* at least 2 rows"):
            learn(da.ones((rows, 3)))


def test_sketches_are_added_up_as_a_tree(rows):
    pluses = []

    class Counting(dask.callbacks.Callback):
        def _posttask(self, key, result, dsk, state, worker_id):
            pluses.append(str(key))

    with Counting():
        learn(da.from_array(rows, chunks=(50, 4)))
    # 100 blocks, 8 at a time: 13, then 2, then 1 task.
    assert len({key for key in pluses if "_added" in key}) == 16


MODELS = {
    "REF": REF(alpha=0.05),
    "CreasedREF": CreasedREF(alpha=0.05, n_creases=16, n_init=1000),
    "Detector": Detector(alpha=0.05, method="ref"),
}


def assert_same_answers(model, expected, X):
    assert model.calibration_.source == expected.calibration_.source == "held-out"
    scores = [m.calibration_.scores for m in (model, expected)]
    np.testing.assert_allclose(*scores, rtol=1e-8)
    np.testing.assert_allclose(model.score_samples(X), expected.score_samples(X), rtol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_that_of_files(name, frame, tmp_path):
    frame.to_parquet(tmp_path / "a.parquet")
    model, known = clone(MODELS[name]), frame.dropna()[:300]
    expected = scale.learn(tmp_path / "a.parquet", clone(model))
    for partitions in (1, 9):
        found = refold_dask.learn(dd.from_pandas(frame, npartitions=partitions), clone(model))
        assert_same_answers(found, expected, known)
    parts = [dask.delayed(frame[k : k + 1234]) for k in range(0, 5000, 1234)]
    assert_same_answers(refold_dask.learn(parts, clone(model)), expected, known)
    tables = [dask.delayed(pa.Table.from_pandas)(frame[k : k + 999]) for k in range(0, 5000, 999)]
    assert_same_answers(refold_dask.learn(tables, clone(model)), expected, known)


def test_a_table_of_any_columns_is_learned(frame, rng):
    mixed = frame.assign(machine=rng.choice(["A", "B"], len(frame)))
    model = refold_dask.learn(dd.from_pandas(mixed, npartitions=5))
    assert {column.name: column.role for column in model.columns_}["machine"] == "category"
    assert model.encoder_.counts.rows == 4500
    assert model.predict(mixed[:1].assign(machine="Z")) == [-1]
    some = refold_dask.learn(dd.from_pandas(mixed, npartitions=5), columns=["machine", "heat"])
    assert some.feature_names_in_.tolist() == ["machine", "heat"]


def test_parts_that_do_not_fit_together_are_refused(frame):
    with pytest.raises(ValueError, match="Block 1 has other columns than block 0"):
        refold_dask.learn([dask.delayed(frame), dask.delayed(frame[["heat"]])])
    with pytest.raises(TypeError, match=r"must hold what dask\.delayed returns"):
        refold_dask.learn([frame])
    with pytest.raises(ValueError, match="list of parts is empty"):
        refold_dask.learn([])


def test_blocks_that_change_are_noticed(frame):
    sizes = iter([700, 700, 300, 300])

    def block():
        return frame[: next(sizes)]

    with pytest.raises(ValueError, match=r"had 700 rows .* and has 300 now.* call persist"):
        learn([dask.delayed(block, pure=False)() for _ in range(2)])


def test_what_travels_is_no_larger_than_a_model(frame):
    """Blocks send what is kept of their rows: the largest result is that of one block or a sum."""
    sizes = []

    class Sizes(dask.callbacks.Callback):
        def _posttask(self, key, result, dsk, state, worker_id):
            if "_done" in str(key) or "_added" in str(key):
                sizes.append(len(pickle.dumps(result)))

    many = pd.concat([frame] * 20, ignore_index=True)
    with Sizes():
        model = learn(dd.from_pandas(many, npartitions=50), CreasedREF(n_creases=16, n_init=500))
    assert max(sizes) < 2 * len(pickle.dumps(model))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["REF", "CreasedREF"])
def test_a_killed_worker_changes_nothing(name, rng):
    distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")
    rows = rng.normal(size=(60_000, 3))

    def slowly(block):
        time.sleep(0.1)
        return block

    X = da.from_array(rows, chunks=(1000, 3)).map_blocks(slowly, meta=np.empty((0, 0)))
    with (
        mock.patch.dict(os.environ),  # a cluster sets variables for its workers, here
        dask.config.set({"distributed.comm.retry.count": 3}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill_one():
            wait_until(lambda: sum(map(len, client.has_what().values())) >= 5)
            worker = cluster.workers[0]
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        model = refold_dask.learn(X, clone(MODELS[name]))
        killer.join()
        assert killed
        labels = (refold_dask.score(model, X) <= model.threshold_).compute()
    expected = refold_dask.learn(da.from_array(rows, chunks=(7000, 3)), clone(MODELS[name]))
    assert_same_answers(model, expected, rows)
    np.testing.assert_array_equal(labels, expected.predict(rows) == 1)


@pytest.mark.parametrize("kind", [REF(alpha=0.05), Detector(method="ref")])
def test_delayed_parts_are_scored_one_by_one(kind, frame):
    frame = frame.dropna()
    model = clone(kind).fit(frame)
    other = frame[frame.columns[::-1]].assign(code="x")
    pieces = [other[:700], other[700:701], other[701:]]
    scored = refold_dask.score(model, [dask.delayed(piece) for piece in pieces], reasons=1)
    found = pd.concat(dask.compute(*scored))
    assert found.index.equals(frame.index)
    assert found.columns.tolist() == ["distance", "label", "p_value", "reason_1"]
    np.testing.assert_array_equal(-found["distance"], model.score_samples(frame))
    np.testing.assert_array_equal(found["label"], model.predict(frame))
    arrow = [dask.delayed(pa.Table.from_pandas)(piece) for piece in pieces]
    found = pa.concat_tables(dask.compute(*refold_dask.score(model, arrow, reasons=1)))
    np.testing.assert_array_equal(-found["distance"].to_numpy(), model.score_samples(frame))


def test_delayed_arrays_are_scored_and_what_does_not_fit_is_refused(rows):
    known = rows[~np.isnan(rows).all(axis=1)]
    model = REF().fit(known)
    scored = refold_dask.score(model, [dask.delayed(known[:9]), dask.delayed(known[9:])])
    np.testing.assert_array_equal(
        -np.concatenate(dask.compute(*scored)), model.score_samples(known)
    )
    with pytest.raises(ValueError, match=r"Block 0 has 2 columns; the model has 4 features"):
        dask.compute(*refold_dask.score(model, [dask.delayed(known[:, :2])]))
    parts = [pd.DataFrame(known[:, :n], columns=[f"x{j}" for j in range(n)]) for n in (4, 3)]
    with pytest.raises(ValueError, match=r"Block 1 has no column 'x3'"):
        dask.compute(*refold_dask.score(model, [dask.delayed(part) for part in parts]))
    with pytest.raises(TypeError, match=r"must hold what dask\.delayed returns"):
        refold_dask.score(model, [known])


def test_a_window_is_refused_because_parts_have_no_rows_before(rng):
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["p", "q"])
    model = Detector(window=10).fit(frame)
    with pytest.raises(UserError, match=r"A cluster, .* does not take a model with window="):
        scale.dask.score(model, dd.from_pandas(frame, npartitions=3))

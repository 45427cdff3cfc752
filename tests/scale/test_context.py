"""Tables in parts, learned in the context of their rows as in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold import Detector, scale
from tests.models.detector.test_context import shipments
from tests.models.detector.test_context_sums import KINDS, made, scores_of, series

ROWS = 30_000


@pytest.fixture(scope="module")
def rows():
    return made(ROWS, machines=200)


@pytest.fixture(scope="module")
def new():
    return made(4000, machines=200, seed=3)


@pytest.fixture(scope="module")
def file(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts") / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(rows), path, row_group_size=4000)
    return path


@pytest.fixture(scope="module", params=["by", "both"])
def of_file(request, file):
    return scale.learn(file, Detector(**KINDS[request.param], alpha=0.05), progress=False)


def test_a_file_is_expected_to_be_what_its_rows_in_memory_are(of_file, rows, new):
    whole = Detector(by=of_file.by, context=of_file.context, alpha=0.05).fit(rows)
    apart = scores_of(of_file, new) - scores_of(whole, new)  # a tenth of the rows is held out
    assert np.abs(apart).mean() < 0.03
    assert np.abs(apart).max() < 0.2
    assert (of_file.predict(new) == -1).mean() == pytest.approx(0.05, abs=0.015)
    assert (of_file.predict(new) == whole.predict(new)).mean() > 0.97


def test_the_model_does_not_depend_on_how_the_table_is_divided(rows, new, tmp_path):
    models = []
    for size in (30_000, 7000):
        path = tmp_path / f"{size}.parquet"
        pq.write_table(pa.Table.from_pandas(rows), path, row_group_size=size)
        models.append(scale.learn(path, Detector(by="machine", alpha=0.05), progress=False))
    scores = [scores_of(model, new) for model in models]
    np.testing.assert_allclose(*scores, atol=1e-9)
    distances = [model.score_samples(new) for model in models]
    np.testing.assert_allclose(*distances, rtol=1e-6)


def test_dask_and_duckdb_learn_what_a_file_does(rows, new, of_file):
    settings = {"by": of_file.by, "context": of_file.context, "alpha": 0.05}
    dd = pytest.importorskip("dask.dataframe")
    of_dask = scale.dask.learn(dd.from_pandas(rows, npartitions=5), Detector(**settings))
    np.testing.assert_allclose(scores_of(of_dask, new), scores_of(of_file, new), atol=1e-8)
    duckdb = pytest.importorskip("duckdb")
    table = pa.Table.from_pandas(rows)
    con = duckdb.connect()
    con.register("rows", table)
    of_duckdb = scale.duckdb.learn(con, "SELECT * FROM rows", Detector(**settings))
    np.testing.assert_allclose(scores_of(of_duckdb, new), scores_of(of_file, new), atol=1e-8)


def test_a_small_table_in_parts_is_learned_as_in_memory(rows, new, tmp_path):
    few = rows.head(3000)
    few.to_csv(tmp_path / "few.csv", index=False)
    of_file = scale.learn(tmp_path / "few.csv", Detector(by="machine"), progress=False)
    whole = Detector(by="machine").fit(few)
    np.testing.assert_allclose(of_file.score_samples(new), whole.score_samples(new), rtol=1e-6)


def test_a_series_in_parts_goes_on_after_its_end(tmp_path):
    frame = series(1500)
    frame.to_parquet(tmp_path / "series.parquet")
    model = scale.learn(
        tmp_path / "series.parquet", Detector(over="time", alpha=0.05), progress=False
    )
    month = series(30, 1500)
    assert (model.predict(month) == -1).mean() < 0.1
    assert (model.predict(month.assign(y=month["y"] - 9.0)) == -1).mean() > 0.95
    whole = Detector(over="time", alpha=0.05).fit(frame)
    expected = [each.encoder_.context.columns["y"] for each in (model, whole)]
    assert expected[0].form == expected[1].form == "line"


def test_a_context_that_is_not_there_is_refused_before_rows_are_read(file):
    with pytest.raises(ValueError, match="by= names 'line'"):
        scale.learn(file, Detector(by="line"), progress=False)


def test_a_context_is_scored_in_files(of_file, new, tmp_path):
    new.to_csv(tmp_path / "new.csv", index=False)
    scale.score(of_file, tmp_path / "new.csv", tmp_path / "out.csv", progress=False)
    found = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_array_equal(found["label"], of_file.predict(new))


@pytest.mark.slow
def test_texts_of_groups_are_learned_from_a_file(tmp_path):
    rows, new = shipments(30_000, 0), shipments(1_000, 1)
    rows.to_parquet(tmp_path / "rows.parquet")
    model = Detector(by="site", method="ref", alpha=0.02)
    model = scale.learn(tmp_path / "rows.parquet", model, progress=False)
    counted = [view.counts.sum() for view in model.encoder_.context.texts["product"].views]
    assert counted == [27_000] * 3  # a tenth is held out
    assert (model.predict(new[new["site"] == "S0"].assign(product="P10")) == -1).all()
    assert (model.predict(new) == -1).mean() < 0.035


def test_small_groups_of_a_file_have_the_false_alarms_that_they_have_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    level, sizes = rng.normal(scale=5.0, size=(40, 3)), np.repeat([8, 20, 800], [15, 10, 15])

    def machines(sizes):
        machine = np.repeat(np.arange(40), sizes)
        kind = np.where(rng.random((len(machine), 3)) < 0.3, 3.0, 0.0)
        values = level[machine] + kind + 0.3 * rng.normal(size=kind.shape)
        frame = pd.DataFrame(values, columns=list("abc"))
        return frame.assign(machine=[f"M{k}" for k in machine])

    training, other = machines(sizes), machines(np.full(40, 50))
    path = tmp_path / "rows.parquet"
    training.to_parquet(path, index=False)
    of_file = scale.learn(path, Detector(by="machine", alpha=0.05), progress=False)
    whole = Detector(by="machine", alpha=0.05).fit(training)
    found, expected = ((m.predict(other) == -1).mean() for m in (of_file, whole))
    assert found == pytest.approx(expected, abs=0.02)
    assert found < 0.07

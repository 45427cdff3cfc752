"""Tables of any columns, scored in files and by Dask as a Detector scores them in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold import Detector, scale
from tests.tables import real_table


def mixed(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "machine": rng.choice(["A", "B", "C"], rows),
            "torque": np.round(rng.normal(75.0, 2.0, rows), 2),
            "at": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 10**7, rows), "s"),
            "tested": rng.choice([True, False], rows),
            "note": rng.choice(["ok", "repaired", None], rows),
        }
    )


@pytest.fixture(scope="module", params=["creased", "ref"])
def model(request):
    return Detector(method=request.param).fit(mixed(600, 0))


@pytest.fixture
def new():
    """Normal rows; one with a value that is new, one with a high one, one without any value."""
    rows = mixed(200, 1).astype({"tested": "boolean"})
    rows.loc[3, "machine"] = "Z"
    rows.loc[5, "torque"] = 400.0
    rows.loc[9] = None
    return rows


def assert_scored(rows, model, new):
    assert [row["label"] for row in rows] == model.predict(new).tolist()
    assert [row["distance"] for row in rows] == (-model.score_samples(new)).tolist()
    assert (rows[3]["reason_1"], rows[5]["reason_1"]) == ("machine", "torque")
    assert rows[9]["label"] == -1


@pytest.mark.parametrize("given", ["parquet", "csv"])
@pytest.mark.parametrize("out", ["parquet", "csv", "ipc"])
def test_files_are_scored(model, new, tmp_path, given, out):
    table = new[new.columns[::-1]].assign(operator="Ann")
    if given == "parquet":
        pq.write_table(pa.Table.from_pandas(table), tmp_path / "new")
    else:
        table.to_csv(tmp_path / "new", index=False)
    file = tmp_path / f"out.{out}"
    assert scale.score(model, tmp_path / "new", file, progress=False) == 200
    read = {
        "parquet": pq.read_table,
        "csv": lambda file: pa.Table.from_pandas(pd.read_csv(file)),
        "ipc": pa.ipc.open_file,
    }[out](file)
    scored = read.read_all() if out == "ipc" else read
    assert scored.column_names[:6] == [*table.columns]
    rows = scored.to_pylist()
    assert_scored(rows, model, new)
    assert rows[7]["machine"] == new["machine"][7]


def test_a_model_without_names_takes_the_columns_that_are_said(tmp_path, rng):
    X = rng.normal(size=(300, 3))
    model = Detector(roles={"x1": "ignore"}).fit(X)
    pd.DataFrame(X, columns=["c", "b", "a"])[["a", "b", "c"]].to_parquet(tmp_path / "new")
    with pytest.raises(ValueError, match="say with columns= which 3 columns"):
        scale.score(model, tmp_path / "new")
    scored = scale.score(model, tmp_path / "new", columns=["c", "b", "a"]).read_pandas()
    np.testing.assert_array_equal(scored["distance"], -model.score_samples(X))
    assert set(scored["reason_1"].dropna()) == {"a", "c"}


def test_a_column_that_is_not_there_is_named_before_anything_is_read(model, new, tmp_path):
    new.drop(columns="machine").to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match=r"new\.csv.*'machine'"):
        scale.score(model, tmp_path / "new.csv", tmp_path / "out.csv", progress=False)
    assert not (tmp_path / "out.csv").exists()


def test_a_cell_that_cannot_be_used_is_found_by_file_and_row(model, new, tmp_path):
    new.loc[5, "torque"] = np.inf
    pq.write_table(pa.Table.from_pandas(new), tmp_path / "new")
    with pytest.raises(ValueError, match=r"new: .*infinity.*row 6, column 'torque'"):
        scale.score(model, tmp_path / "new").read_all()


def test_dask_dataframes_are_scored(model, new):
    dataframe = pytest.importorskip("dask.dataframe")
    other = new[new.columns[::-1]].assign(operator="Ann")
    rows = scale.dask.score(model, dataframe.from_pandas(other, npartitions=3)).compute()
    np.testing.assert_array_equal(rows["label"], model.predict(new))
    np.testing.assert_array_equal(rows["distance"], -model.score_samples(new))
    np.testing.assert_array_equal(rows["p_value"], model.p_values(new))
    assert rows["label"][9] == -1
    assert rows["reason_1"][[3, 5]].tolist() == ["machine", "torque"]
    with pytest.raises(ValueError, match="X has no column 'machine'"):
        scale.dask.score(model, dataframe.from_pandas(new.drop(columns="machine"), npartitions=2))


def test_dask_arrays_are_scored(rng):
    array = pytest.importorskip("dask.array")
    X = rng.normal(size=(300, 3))
    model = Detector().fit(X)
    found = scale.dask.score(model, array.from_array(X, chunks=(100, 2))).compute()
    np.testing.assert_array_equal(found, -model.score_samples(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clean-flights.csv.gz", "clean-taxis.csv.gz", "penguins.csv"])
def test_real_tables_are_scored_in_files_as_in_memory(name):
    file = real_table(name)
    table = pd.read_csv(file)
    model = Detector(method="ref").fit(table)
    scored = scale.score(model, file, prefix="is_").read_pandas()
    assert (scored["is_label"] == model.predict(table)).mean() > 0.999

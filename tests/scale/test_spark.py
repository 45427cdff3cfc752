"""Spark in local mode, with Java: the model of one machine."""

import os
import shutil
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

if "CI" not in os.environ:  # where CI is set both must be there: the tests fail without them
    if shutil.which("java") is None:
        pytest.skip("There is no Java to run Spark.", allow_module_level=True)
    pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.errors import PythonException

from refold import REF, Detector, scale
from refold.judgement import Judgement

# PySpark runs with pandas 3, but says on many calls that it is not sure of all of it.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    # Workers are the Python that runs the tests.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "700",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("refold")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def table(rows, names):
    columns = [pa.array(rows[:, j], from_pandas=True) for j in range(4)]
    columns[2] = columns[2].cast(pa.int32())
    return pa.table(columns, names=names)


@pytest.fixture
def expected(rows, names):
    return REF(engine="sketch").fit(pd.DataFrame(rows, columns=names))


def frame_of(spark, table):
    records = [tuple(row.values()) for row in table.to_pylist()]
    kinds = {"double": "double", "int32": "int", "string": "string"}
    fields = [f"`{field.name}` {kinds[str(field.type)]}" for field in table.schema]
    return spark.createDataFrame(records, ", ".join(fields))


def test_a_dataframe_gives_the_model_of_its_rows(
    spark, table, rows, expected, names, assert_same_model
):
    df = frame_of(spark, table).repartition(4)
    model = scale.spark.fit(df)
    assert model.feature_names_in_.tolist() == names
    assert_same_model(model, expected, pd.DataFrame(rows, columns=names))


def test_scored_rows_keep_their_columns(spark, table, expected):
    code = pa.array([f"part {i}" for i in range(len(table))])
    df = frame_of(spark, table.append_column("a.code", code))
    scored = scale.spark.score(expected, df)
    added = ["distance", "label", "reason_1", "reason_2", "reason_3"]
    assert scored.columns == [*table.column_names, "a.code", *added]
    kinds = [field.dataType.simpleString() for field in scored.schema.fields[-5:]]
    assert kinds == ["double", "tinyint", "string", "string", "string"]
    got = {row["a.code"]: row for row in scored.collect()}
    got = [got[name] for name in code.to_pylist()]
    np.testing.assert_array_equal([row["label"] for row in got], expected.predict(table))
    np.testing.assert_array_equal([-row["distance"] for row in got], expected.score_samples(table))
    first = Judgement.of(expected, table).by_blame[:, 0]
    assert [row["reason_1"] for row in got] == [table.column_names[j] for j in first]


def test_columns_are_chosen_refused_and_ignored(spark, table):
    code = pa.array(["x"] * 100)
    df = frame_of(
        spark,
        table[:100]
        .append_column("a.b", code)
        .rename_columns(["heat", "fl.ow", "count", "level", "code"]),
    )
    with pytest.raises(ValueError, match=r"do not hold numbers: 'code' \(string\)"):
        scale.spark.fit(df)
    with pytest.raises(ValueError, match="has no column 'flow'"):
        scale.spark.fit(df, ["flow"])
    assert scale.spark.fit(df, ["level", "fl.ow"]).n_features_in_ == 2
    model = scale.spark.fit(df, ignore_non_numeric=True)
    assert model.feature_names_in_.tolist() == ["heat", "fl.ow", "count", "level"]
    with pytest.raises(ValueError, match=r"already has the columns \['distance'\]"):
        scale.spark.score(model, df.withColumn("distance", df["heat"]))


def test_empty_partitions_are_skipped_and_no_rows_are_an_error(spark, table):
    df = frame_of(spark, table[:3]).repartition(4)
    model = scale.spark.fit(df, ["level"])
    assert model.sketch_.rows == 3
    assert scale.spark.score(model, df).count() == 3
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        scale.spark.fit(df.where("heat > 1e9"))


def test_infinity_is_found_and_the_model_stays_as_it_was(spark, rows, names):
    X = rows[:100].copy()
    X[70, 1] = np.inf
    df = spark.createDataFrame(X.tolist(), names).coalesce(1)
    model = REF(engine="sketch").fit(pd.DataFrame(rows, columns=names))
    before = model.sketch_
    with pytest.raises(ValueError, match=r"^Partition 0: .*infinity: row 70, column 'flow'"):
        scale.spark.fit(df, model=model)
    assert model.sketch_ is before
    with pytest.raises(PythonException, match=r"Partition 0: .*infinity: row 70, column 'flow'"):
        scale.spark.score(model, df).collect()
    nulls = frame_of(spark, pa.table({"x": [1.0, 2.0], "y": pa.array([None, None], pa.float64())}))
    with pytest.raises(ValueError, match="Nothing is observed in column 'y'"):
        scale.spark.fit(nulls)


def test_a_table_of_any_columns_is_scored(spark, rng):
    table = pd.DataFrame(
        {
            "a.machine": rng.choice(["A", "B"], 300),
            "torque": rng.normal(size=300),
            "at": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 10**7, 300), "s"),
        }
    )
    model = Detector(method="ref").fit(table)
    table.loc[3, "a.machine"] = "Z"
    other = table[table.columns[::-1]].assign(operator="Ann")
    scored = scale.spark.score(model, spark.createDataFrame(other)).toArrow().to_pylist()
    assert sorted(row["distance"] for row in scored) == sorted(-model.score_samples(table))
    assert [row["reason_1"] for row in scored if row["a.machine"] == "Z"] == ["a.machine"]
    with pytest.raises(ValueError, match="no column 'torque'"):
        scale.spark.score(model, spark.createDataFrame(other.drop(columns="torque")))
    with pytest.raises(TypeError, match="A Detector cannot be learned here"):
        scale.spark.fit(spark.createDataFrame(other), model=Detector())

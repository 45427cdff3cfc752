"""Spark in local mode, with Java: the model of one machine."""

import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from tests.environment import nothing_skipped

if not nothing_skipped():
    if shutil.which("java") is None:
        pytest.skip("There is no Java to run Spark.", allow_module_level=True)
    pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.errors import PythonException

from refold import REF, CreasedREF, Detector, scale
from refold.judgement import Judgement
from refold.models.parts import FirstPass

# PySpark runs with pandas 3, but says on many calls that it is not sure of all of it.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


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
    model = scale.spark.learn(df, REF(engine="sketch"))
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
    first = Judgement.of(expected, table).reasons(1)[:, 0]  # a normal row has none
    names = [*table.column_names, None]
    assert [row["reason_1"] for row in got] == [names[j] for j in first]


def test_columns_are_chosen_refused_and_ignored(spark, table):
    code = pa.array(["x"] * 100)
    df = frame_of(
        spark,
        table[:100]
        .append_column("a.b", code)
        .rename_columns(["heat", "fl.ow", "count", "level", "code"]),
    )
    with pytest.raises(ValueError, match=r"do not hold numbers: 'code' \(string\)"):
        scale.spark.learn(df, REF())
    with pytest.raises(ValueError, match="has no column 'flow'"):
        scale.spark.learn(df, columns=["flow"])
    model = scale.spark.learn(df, REF(), columns=["level", "fl.ow"])
    assert model.feature_names_in_.tolist() == ["level", "fl.ow"]
    with pytest.raises(ValueError, match=r"already has the columns \['distance'\]"):
        scale.spark.score(model, df.withColumn("distance", df["heat"]))


def test_empty_partitions_are_skipped_and_no_rows_are_an_error(spark, table):
    df = frame_of(spark, table[:3]).repartition(4)
    model = scale.spark.learn(df, REF(engine="sketch"), columns=["level"])
    assert model.sketch_.rows == 3
    assert scale.spark.score(model, df).count() == 3
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        scale.spark.learn(df.where("heat > 1e9"))


def test_infinity_is_found_and_the_model_stays_as_it_was(spark, rows, names):
    X = rows[:100].copy()
    X[70, 1] = np.inf
    df = spark.createDataFrame(X.tolist(), names).coalesce(1)
    model = REF(engine="sketch").fit(pd.DataFrame(rows, columns=names))
    before = model.sketch_
    with pytest.raises(ValueError, match=r"^Partition 0: .*infinity: row 70, column 'flow'"):
        scale.spark.learn(df, model)
    assert model.sketch_ is before
    with pytest.raises(PythonException, match=r"Partition 0: .*infinity: row 70, column 'flow'"):
        scale.spark.score(model, df).collect()
    nulls = frame_of(spark, pa.table({"x": [1.0, 2.0], "y": pa.array([None, None], pa.float64())}))
    with pytest.raises(ValueError, match="Nothing is observed in column 'y'"):
        scale.spark.learn(nulls, REF())


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


MODELS = {
    "REF": REF(alpha=0.05),
    "CreasedREF": CreasedREF(alpha=0.05, n_creases=16, n_init=1000),
    "Detector": Detector(alpha=0.05, method="ref"),
}


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_that_of_files_however_spark_divides_them(
    spark, name, table, tmp_path, monkeypatch
):
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=400)
    expected = scale.learn(tmp_path / "a.parquet", clone(MODELS[name]))
    assert expected.calibration_.source == "held-out"
    known = table[:300].to_pandas().dropna()
    monkeypatch.setattr(scale.spark, "_SPLIT_EVERY", 2)  # sums go through Spark
    for bytes_at_once in (10**8, 30_000):
        spark.conf.set("spark.sql.files.maxPartitionBytes", bytes_at_once)
        df = spark.read.parquet(str(tmp_path / "a.parquet"))
        model = scale.spark.learn(df, clone(MODELS[name]))
        assert model.calibration_.total == expected.calibration_.total == 500
        scores = [m.calibration_.scores for m in (model, expected)]
        np.testing.assert_allclose(*scores, rtol=1e-8)
        distances = [m.score_samples(known) for m in (model, expected)]
        np.testing.assert_allclose(*distances, rtol=1e-8)
    assert df.rdd.getNumPartitions() > 3


def test_no_rdd_is_touched(spark, table, monkeypatch):
    """Spark Connect has none."""
    df = frame_of(spark, table)
    monkeypatch.setattr(type(df), "rdd", property(lambda df: pytest.fail("an RDD")))
    model = scale.spark.learn(df, REF())
    assert scale.spark.score(model, df).count() == len(table)


def test_partitions_that_change_are_noticed(spark, table):
    partitions = scale.spark._Partitions(frame_of(spark, table), ["heat"], scale.spark._as_numbers)
    partitions._lengths = {0: 3}
    with pytest.raises(ValueError, match=r"Partition \d had \d rows .* cache the dataframe"):
        partitions.added_up(FirstPass(10))


def test_a_table_is_learned_in_its_context_as_from_files(spark, tmp_path):
    from tests.models.detector.test_context_sums import made, scores_of

    rows, new = made(24_000, machines=100), made(500, machines=100, seed=3)
    for name, model in (
        ("nested", Detector(by=["site", "machine"], alpha=0.05)),
        ("context", Detector(by="machine", context="load", alpha=0.05)),
    ):
        path = str(tmp_path / f"{name}.parquet")
        pq.write_table(pa.Table.from_pandas(rows), path, row_group_size=5000)
        of_files = scale.learn(path, clone(model), progress=False)
        of_spark = scale.spark.learn(spark.createDataFrame(rows).coalesce(1), clone(model))
        np.testing.assert_allclose(scores_of(of_spark, new), scores_of(of_files, new), atol=1e-8)
        scored = scale.spark.score(of_spark, spark.createDataFrame(new).coalesce(1), reasons=0)
        found = [row["label"] for row in scored.collect()]
        assert found == of_spark.predict(new).tolist()

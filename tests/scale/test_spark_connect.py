"""Spark Connect, where there is no RDD: the same functions, the same models.

A process has either a classic session or one of Connect, so these have a process of their own.
"""

import json
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold import REF, CreasedREF, Detector, scale
from tests.environment import nothing_skipped

if not nothing_skipped():
    if shutil.which("java") is None:
        pytest.skip("There is no Java to run Spark.", allow_module_level=True)
    for package in ("pyspark", "grpc", "grpc_status"):
        pytest.importorskip(package, reason=f"{package} is not installed")

pytestmark = pytest.mark.slow

MODELS = {
    "REF": {"alpha": 0.05},
    "CreasedREF": {"alpha": 0.05, "n_creases": 16},
    "Detector": {"alpha": 0.05, "method": "ref"},
}
SCRIPT = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
import refold
from refold import scale

file, models = sys.argv[1], json.loads(sys.argv[2])
settings = {"spark.ui.enabled": "false", "spark.sql.files.maxPartitionBytes": "200000"}
spark = SparkSession.builder.remote("local[2]").config(map=settings).getOrCreate()
df, said = spark.read.parquet(file), {"session": type(spark).__module__}
scale.spark._SPLIT_EVERY = 2  # sums go through Spark
for name, how in models.items():
    model = scale.spark.learn(df, getattr(refold, name)(**how))
    scored = scale.spark.score(model, df, reasons=1)
    outliers = scored.where("label = -1").select("number", "distance", "reason_1").toArrow()
    said[name] = {"threshold": model.threshold_, "outliers": outliers.to_pylist()}
try:
    scale.spark.learn(df.selectExpr("number", "if(number = 17, double('inf'), heat) as heat"))
except ValueError as error:
    said["error"] = str(error)
spark.stop()
print("\\n" + json.dumps(said))
"""


def test_every_model_is_that_of_files(tmp_path, rng):
    rows = 25_000
    columns = {"number": np.arange(rows), "heat": rng.normal(size=rows), "fl.ow": rng.random(rows)}
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=2000)
    command = [sys.executable, "-c", SCRIPT, str(file), json.dumps(MODELS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.strip().splitlines()[-1])
    assert said["session"].startswith("pyspark.sql.connect")
    for kind in (REF, CreasedREF, Detector):
        model = scale.learn(file, kind(**MODELS[kind.__name__]))
        found = said[kind.__name__]
        assert found["threshold"] == pytest.approx(model.threshold_, rel=1e-8)
        expected = scale.score(model, file, reasons=1).read_all().to_pylist()
        expected = {row["number"]: row for row in expected if row["label"] == -1}
        assert {row["number"] for row in found["outliers"]} == expected.keys()
        for row in found["outliers"]:
            assert row["distance"] == pytest.approx(expected[row["number"]]["distance"], rel=1e-7)
            assert row["reason_1"] == expected[row["number"]]["reason_1"]
    assert "Partition 0: " in said["error"]
    assert "infinity: row 17, column 'heat'" in said["error"]

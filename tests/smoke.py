"""Try an installed refold: the package alone, or what its extras bring. Needs nothing of the tests.

python tests/smoke.py            # the package alone
python tests/smoke.py cli plot   # two extras
python tests/smoke.py every      # all of them
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

RNG = np.random.default_rng(0)
NORMAL = RNG.normal([75.0, 3.0], [2.0, 0.5], size=(300, 2))
NEW = np.array([[75.0, 3.0], [120.0, 3.0]])


def fitted():
    from refold import REF

    return REF(alpha=0.05).fit(NORMAL)


def alone(folder):
    import refold

    rows = [{"machine": "AB"[k % 2], "torque": 75 + k % 7} for k in range(200)]
    for model, new in (
        (refold.Detector().fit(rows), [rows[0], {"machine": "Z", "torque": 76}]),
        (refold.CreasedREF(alpha=0.05).fit(NORMAL), NEW),
        (fitted(), NEW),
    ):
        refold.save(model, Path(folder, "model.json"))
        loaded = refold.load(Path(folder, "model.json"))
        assert loaded.predict(new).tolist() == [1, -1]
        assert "Training rows" in loaded._repr_html_()


def written(folder):
    """Write the rows as a CSV file, learn from it on the command line, and return the model."""
    refold = Path(sysconfig.get_path("scripts"), "refold")
    lines = ["torque,load", *(f"{a},{b}" for a, b in NORMAL)]
    Path(folder, "t.csv").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run([refold, "fit", "t.csv", "-o", "m.json"], cwd=folder, check=True)
    return refold, Path(folder, "m.json")


def cli(folder):
    refold, model = written(folder)
    subprocess.run([refold, "score", model, "t.csv", "-o", "s.csv"], cwd=folder, check=True)
    assert len(Path(folder, "s.csv").read_text(encoding="utf-8").splitlines()) == 301


def plot(folder):
    import matplotlib as mpl

    mpl.use("agg")
    from refold.plot import DistancesDisplay

    DistancesDisplay.from_estimator(fitted(), NORMAL).figure_.savefig(Path(folder, "p.png"))


def report(folder):
    from refold.report import write_report

    write_report(fitted(), NORMAL, Path(folder, "r.html"))
    assert Path(folder, "r.html").stat().st_size > 10_000


def onnx(folder):
    import onnxruntime

    from refold.export import to_onnx

    graph = to_onnx(fitted()).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    answers = session.run(None, {given.name: NEW})
    assert [1, -1] in [np.ravel(answer).tolist() for answer in answers]


def sql(folder):
    from refold.export import to_sql

    assert "select" in to_sql(fitted(), "rows", "postgres", columns=["a", "b"]).lower()


def parquet(folder):
    import pyarrow as pa
    import pyarrow.parquet

    from refold import REF
    from refold.scale import learn

    file = Path(folder, "t.parquet")
    pa.parquet.write_table(pa.table({"a": NORMAL[:, 0], "b": NORMAL[:, 1]}), file)
    assert learn(file, REF(engine="sketch"), progress=False).n_features_in_ == 2


def excel(folder):
    import xlsxwriter

    from refold.scale import learn

    with xlsxwriter.Workbook(Path(folder, "t.xlsx")) as book:
        sheet = book.add_worksheet()
        for k, row in enumerate([["a", "b"], *NORMAL.tolist()]):
            sheet.write_row(k, 0, row)
    assert learn(Path(folder, "t.xlsx"), progress=False).n_features_in_ == 2


def paper(folder):
    refold = Path(sysconfig.get_path("scripts"), "refold")
    subprocess.run([refold, "reproduce", "--help"], check=True, stdout=subprocess.DEVNULL)
    import refold.studies.paper.reproduction


def benchmark(folder):
    refold, _ = written(folder)
    command = [refold, "benchmark", "t.csv", "--methods", "REF", "--seeds", "1", "--jobs", "1"]
    subprocess.run(command, cwd=folder, check=True)


def app(folder):
    refold, model = written(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/v1/models"
    with subprocess.Popen([refold, "serve", model, "--port", str(port)]) as served:
        try:
            assert "m" in answer_of(address)
        finally:
            served.terminate()
    subprocess.run([refold, "demo", "-o", "demo.html"], cwd=folder, check=True)
    assert "</html>" in Path(folder, "demo.html").read_text(encoding="utf-8")
    first_page(refold, Path(folder, "t.csv"))


def first_page(refold, table):
    """Open refold app with a table, and see its columns."""
    command = [refold, "app", table, "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as served:
        try:
            address = re.search(r"http\S+", served.stderr.readline())[0]
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            for _ in range(300):  # the table is read meanwhile
                page = browser.open(address, timeout=60).read().decode()
                if "300 rows, 2 columns" in page:
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(page)
        finally:
            served.terminate()


def answer_of(address):
    """Ask until somebody answers."""
    for _ in range(300):
        try:
            return urllib.request.urlopen(address, timeout=10).read().decode()
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(address)


def dask(folder):
    import dask.array as da

    from refold.scale.dask import learn

    assert learn(da.from_array(NORMAL, chunks=(100, 2))).n_features_in_ == 2


def spark(folder):
    pass  # without a Java that is all there is to try


def mlflow(folder):
    from refold.integrations.mlflow import load_model, save_model

    save_model(fitted(), Path(folder, "m"))
    assert load_model(str(Path(folder, "m"))).predict(NEW).tolist() == [1, -1]


def pyod(folder):
    from refold.integrations.pyod import REFDetector

    assert REFDetector().fit(NORMAL).predict(NEW).tolist() == [0, 1]


def mcp(folder):
    from refold.integrations.mcp import ModelTools, create_server

    assert create_server(ModelTools({}, Path(folder))).name == "refold"


def great_expectations(folder):
    from refold.integrations.great_expectations import ExpectRowsToBeNormal

    assert ExpectRowsToBeNormal(model=str(Path(folder, "m.json"))).mostly == 1.0


def dagster(folder):
    from refold.integrations.dagster import rows_are_normal

    assert rows_are_normal("rows", fitted()).check_specs


def airflow(folder):
    from refold.integrations.airflow import CheckRowsOperator

    assert CheckRowsOperator(task_id="check", model="m.json", table="t.csv").gate


def pandera(folder):
    from refold.integrations.pandera import schema_of

    assert len(schema_of(fitted()).columns) == 2


def everything(folder):
    pass


EXTRAS = {
    **{f.__name__: f for f in (cli, plot, report, onnx, sql, parquet, excel, paper, benchmark)},
    **{f.__name__: f for f in (app, dask, spark, mlflow, pyod, mcp)},
    **{f.__name__: f for f in (dagster, airflow, pandera)},
    "great-expectations": great_expectations,
    "all": everything,
}


def main(wanted):
    for name in EXTRAS if wanted == ["every"] else wanted or ["alone"]:
        with tempfile.TemporaryDirectory() as folder:
            {**EXTRAS, "alone": alone}[name](folder)
        print("works:", name)


if __name__ == "__main__":
    main(sys.argv[1:])

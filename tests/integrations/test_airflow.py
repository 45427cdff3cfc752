"""Airflow runs the operator in a DAG: it fails by the gate, and tells what refold score finds."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.environment import nothing_skipped

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-airflow" / "bin" / "python"
DAG = """
import doctest, json, sys
from pathlib import Path
from airflow.sdk import DAG, task
import refold.integrations.airflow
from refold.integrations.airflow import CheckRowsOperator

with DAG("birds", schedule=None, params={"table": TABLE}) as dag:
    asked = dict(model=MODEL, table="{{ params.table }}", listed=100)
    tasks = [
        CheckRowsOperator(task_id="gate", **asked),
        CheckRowsOperator(task_id="share", gate=False, max_outliers="10%", **asked),
    ]

    @task(trigger_rule="all_done")
    def write(ti=None):
        found = {name: ti.xcom_pull(task_ids=name) for name in ("gate", "share")}
        Path(FOUND).write_text(json.dumps(found))

    tasks >> write()

if __name__ == "__main__":
    assert doctest.testmod(refold.integrations.airflow).failed == 0
    states = {one.task_id: str(one.state) for one in dag.test().get_task_instances()}
    Path(STATES).write_text(json.dumps(states))
"""


@pytest.mark.slow
def test_a_dag_fails_by_the_gate_and_keeps_what_refold_score_finds(faulty, tmp_path):
    if not PYTHON.exists():
        if nothing_skipped():
            pytest.fail("Airflow is not installed; make test-slow installs it")
        pytest.skip("Airflow is not installed: make .venv-airflow/.installed")
    files = {"FOUND": tmp_path / "found", "STATES": tmp_path / "states"}
    files |= {"TABLE": faulty.new, "MODEL": faulty.model}
    dag = tmp_path / "dags" / "birds.py"
    dag.parent.mkdir()
    dag.write_text("".join(f"{name} = {str(file)!r}\n" for name, file in files.items()) + DAG)
    settings = {"AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    for command in (
        ["-m", "airflow", "db", "migrate"],
        ["-m", "airflow", "dags", "reserialize"],
        [dag],
    ):
        done = subprocess.run(
            [PYTHON, *command],
            cwd=tmp_path,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    states = json.loads(files["STATES"].read_text())
    assert states == {"gate": "failed", "share": "success", "write": "success"}
    found = json.loads(files["FOUND"].read_text())
    assert (found["gate"]["passed"], found["share"]["passed"]) == (False, True)
    assert found["gate"]["farthest"] == found["share"]["farthest"]
    assert sorted(row["row"] - 1 for row in found["gate"]["farthest"]) == faulty.outliers
    for row in found["gate"]["farthest"]:
        scored = faulty.scored[row["row"] - 1]
        assert row["because"] == scored["because"]
        assert row["distance"] == pytest.approx(float(scored["distance"]))

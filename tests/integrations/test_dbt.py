"""dbt runs the test that refold export writes, and stores the rows that refold score finds."""

import json
import subprocess
from pathlib import Path

import duckdb
import jinja2
import pytest

import refold
from refold.export import to_dbt
from tests import warm
from tests.environment import nothing_skipped

ROOT = Path(__file__).parents[2]
DBT = ROOT / ".venv-dbt" / "bin" / "dbt"
SCHEMA = """
models:
  - name: penguins
    data_tests:
      - m_rows_are_normal:
          config: {store_failures: true, alias: outliers}
"""


@pytest.fixture
def project(tmp_path, faulty_ref):
    """A dbt project that loads the table, with the model as a macro."""
    if not DBT.exists():
        if nothing_skipped():
            pytest.fail("dbt is not installed; make test-slow installs it")
        pytest.skip("dbt is not installed: make .venv-dbt/.installed")
    for folder in ("models", "macros", "seeds"):
        (tmp_path / folder).mkdir()
    settings = {"name": "birds", "version": "1.0", "profile": "birds", "flags": {}}
    settings["flags"] = {"send_anonymous_usage_stats": False, "version_check": False}
    (tmp_path / "dbt_project.yml").write_text(json.dumps(settings))
    packages = {"packages": [{"local": str(ROOT / "integrations" / "dbt")}]}
    (tmp_path / "packages.yml").write_text(json.dumps(packages))
    (tmp_path / "models" / "penguins.sql").write_text("select * from {{ ref('new') }}")
    (tmp_path / "models" / "schema.yml").write_text(SCHEMA)
    (tmp_path / "seeds" / "new.csv").write_bytes(faulty_ref.new.read_bytes())
    run = [warm.command(), "export", faulty_ref.model, "--to", "dbt", "-o", "macros/m.sql"]
    run += ["--dialect", "postgres,duckdb"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def profile(project, output):
    outputs = {"birds": {"target": "here", "outputs": {"here": {**output, "threads": 1}}}}
    (project / "profiles.yml").write_text(json.dumps(outputs))


def dbt(project, *arguments):
    return subprocess.run(
        [DBT, "--no-use-colors", *arguments, "--profiles-dir", "."],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def assert_stored(rows, faulty):
    """The rows in the table of failures are the outliers of refold score."""
    expected = {
        (row["species"], row["island"], round(float(row["distance"]), 6)): row["reason_1"]
        for row in faulty.scored
        if row["label"] == "-1"
    }
    assert {(row[0], row[1], round(row[2], 6)): row[3] for row in rows} == expected


STORED = "SELECT species, island, refold_distance, refold_reason_1 FROM {}.outliers"


@pytest.mark.slow
def test_duckdb_stores_the_outliers_of_refold_score(project, faulty_ref):
    profile(project, {"type": "duckdb", "path": "birds.duckdb"})
    assert dbt(project, "deps").returncode == 0
    done = dbt(project, "build")
    assert done.returncode == 1, done.stdout
    assert f"Got {len(faulty_ref.outliers)} results" in done.stdout
    with duckdb.connect(project / "birds.duckdb", read_only=True) as database:
        rows = database.execute(STORED.format("main_dbt_test__audit")).fetchall()
    assert_stored(rows, faulty_ref)


@pytest.mark.slow
def test_postgresql_stores_the_outliers_of_refold_score(project, faulty_ref, postgres):
    given = dict(part.split("=", 1) for part in postgres.split())
    server = {"type": "postgres", "schema": "birds", "port": 5432, "password": "-"}
    profile(project, {**server, **given})
    assert dbt(project, "deps").returncode == 0
    done = dbt(project, "build")
    assert done.returncode == 1, done.stdout
    import psycopg

    with psycopg.connect(postgres) as database:
        rows = database.execute(STORED.format("birds_dbt_test__audit")).fetchall()
    assert_stored(rows, faulty_ref)


def test_a_value_that_looks_like_a_template_stays_a_value():
    values = ["{% endraw %}{{ 1 / 0 }}", "{# no comment #}", "plain"] * 30
    model = refold.Detector(method="ref").fit([{"remark": value} for value in values])
    text = to_dbt(model, "remarks", "duckdb")
    macros, _, _ = text.partition("{% test")  # dbt's own tag
    statement = jinja2.Environment().from_string(macros).module.duckdb__refold_remarks()
    with duckdb.connect() as database:
        database.execute("CREATE TABLE refold_batch (remark TEXT)")
        database.executemany("INSERT INTO refold_batch VALUES (?)", [[v] for v in values[:3]])
        found = database.execute(f"SELECT refold_label FROM ({statement})").fetchall()
    assert found == [(1,)] * 3


def test_a_name_that_is_no_macro_is_refused():
    model = refold.REF().fit([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="lower-case letters"):
        to_dbt(model, "a-b", "duckdb", columns=["x"])
    with pytest.raises(ValueError, match="name an adapter"):
        to_dbt(model, "a", [], columns=["x"])

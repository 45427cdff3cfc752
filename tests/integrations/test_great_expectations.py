"""Great Expectations finds the rows that refold score finds, wherever they are."""

import gc

import great_expectations as gx
import pytest

from refold.integrations.great_expectations import ExpectRowsToBeNormal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
COMPLETE = {"result_format": "COMPLETE"}


@pytest.fixture
def context(tmp_path, monkeypatch):
    monkeypatch.setenv("SF_PARTNER", "great_expectations_oss")  # it sets this for Snowflake
    made = gx.get_context(mode="file", project_root_dir=tmp_path)
    yield made
    for source in made.data_sources.all().values():  # or a later test finds what it leaves open
        if hasattr(source, "get_engine"):
            source.get_execution_engine().engine.dispose()
            source.get_engine().dispose()
    gc.collect()


def definition(context, frame):
    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("penguins")
    return asset.add_batch_definition_whole_dataframe("all"), {"dataframe": frame}


def cells_of(row):
    """Return the cells of a row of CSV, or of an unexpected one, as texts that compare."""
    names = ("species", "island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "sex")
    cells = ["" if row[name] in (None, "") else str(row[name]) for name in names]
    return tuple(cell.removesuffix(".0") for cell in cells)


def assert_as_scored(found, faulty):
    """The cells, distances and first reasons of outliers that a database has listed."""
    expected = {cells_of(row): row for row in faulty.scored if row["label"] == "-1"}
    assert sorted(map(cells_of, found)) == sorted(expected)
    for row in found:
        scored = expected[cells_of(row)]
        assert row["distance"] == pytest.approx(float(scored["distance"]))
        assert row["reasons"][0] == scored["reason_1"]


def test_the_rows_of_pandas_are_judged_as_refold_score_judges_them(faulty, context):
    batches, given = definition(context, faulty.frame)
    batch = batches.get_batch(given)
    found = batch.validate(ExpectRowsToBeNormal(model=str(faulty.model)), result_format=COMPLETE)
    assert not found.success
    assert found.result["observed_value"] == len(faulty.outliers)
    rows = found.result["unexpected_list"]
    assert sorted(row["row"] for row in rows) == faulty.outliers
    for row in rows:
        scored = faulty.scored[row["row"]]
        assert row["distance"] == pytest.approx(float(scored["distance"]))
        assert row["because"] == scored["because"]


@pytest.mark.parametrize(
    ("asked", "success"), [({"mostly": 0.9}, True), ({"mostly": 0.99}, False), ({"gate": True}, 0)]
)
def test_so_many_rows_must_be_normal(faulty, context, asked, success):
    batches, given = definition(context, faulty.frame)
    expectation = ExpectRowsToBeNormal(model=str(faulty.model), **asked)
    assert batches.get_batch(given).validate(expectation).success == bool(success)


def test_data_docs_show_outliers_and_reasons(faulty, context, tmp_path):
    batches, given = definition(context, faulty.frame)
    suite = context.suites.add(gx.ExpectationSuite("normal"))
    suite.add_expectation(ExpectRowsToBeNormal(model=str(faulty.model)))
    validation = gx.ValidationDefinition(name="penguins", data=batches, suite=suite)
    context.validation_definitions.add(validation)
    checkpoint = context.checkpoints.add(
        gx.Checkpoint(
            name="daily",
            validation_definitions=[validation],
            actions=[gx.checkpoint.UpdateDataDocsAction(name="docs")],
        )
    )
    assert not checkpoint.run(batch_parameters=given).success
    pages = [page.read_text() for page in tmp_path.rglob("validations/**/*.html")]
    shown = "".join(pages)
    assert "at least" in shown
    assert (
        "island &#39;Mars&#39; was never seen" in shown or "island 'Mars' was never seen" in shown
    )


def test_postgresql_judges_where_the_rows_are(faulty_ref, context, postgres):
    frame = faulty_ref.frame
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as database:
        kinds = {"object": "text", "str": "text", "float64": "double precision"}
        columns = ", ".join(f'"{name}" {kinds[str(kind)]}' for name, kind in frame.dtypes.items())
        database.execute("DROP TABLE IF EXISTS penguins")
        database.execute(f"CREATE TABLE penguins ({columns})")
        with database.cursor().copy("COPY penguins FROM STDIN") as copy:
            for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False):
                copy.write_row(tuple(row))
    folder = postgres.split()[0].removeprefix("host=")
    source = context.data_sources.add_postgres(
        "database",
        connection_string=f"postgresql+psycopg://tester@localhost/postgres?host={folder}",
    )
    model = str(faulty_ref.model)
    asset = source.add_table_asset("all", table_name="penguins")
    whole = asset.add_batch_definition_whole_table("all").get_batch()
    found = whole.validate(ExpectRowsToBeNormal(model=model), result_format=COMPLETE)
    assert found.result["element_count"] == len(frame)
    assert found.result["unexpected_count"] == len(faulty_ref.outliers)
    assert_as_scored(found.result["unexpected_list"], faulty_ref)
    query = "SELECT * FROM penguins WHERE island = 'Mars' OR sex = 'a:b%'"
    asset = source.add_query_asset("mars", query=query)
    part = asset.add_batch_definition_whole_table("mars").get_batch()
    assert part.validate(ExpectRowsToBeNormal(model=model)).result["unexpected_count"] == 1


def test_spark_judges_where_the_rows_are(faulty, context, spark):
    frame = faulty.frame.astype(object)
    source = context.data_sources.add_spark("spark")
    schema = ", ".join(
        f"{name} {'double' if str(kind) == 'float64' else 'string'}"
        for name, kind in faulty.frame.dtypes.items()
    )
    rows = frame.where(frame.notna(), None).values.tolist()
    asset = source.add_dataframe_asset("penguins").add_batch_definition_whole_dataframe("all")
    batch = asset.get_batch({"dataframe": spark.createDataFrame(rows, schema)})
    found = batch.validate(ExpectRowsToBeNormal(model=str(faulty.model)), result_format=COMPLETE)
    assert_as_scored(found.result["unexpected_list"], faulty)


def test_a_model_without_sql_is_said_to_have_none(faulty, context, postgres):
    folder = postgres.split()[0].removeprefix("host=")
    source = context.data_sources.add_postgres(
        "database",
        connection_string=f"postgresql+psycopg://tester@localhost/postgres?host={folder}",
    )
    asset = source.add_query_asset("nothing", query="SELECT 1 AS species")
    batch = asset.add_batch_definition_whole_table("nothing").get_batch()
    found = batch.validate(ExpectRowsToBeNormal(model=str(faulty.model)))
    assert not found.success
    assert "cannot be written as SQL" in str(found.exception_info)


def test_a_batch_without_a_column_is_said_to_lack_it(faulty, context):
    batches, given = definition(context, faulty.frame.drop(columns="island"))
    found = batches.get_batch(given).validate(ExpectRowsToBeNormal(model=str(faulty.model)))
    assert not found.success
    assert "no column 'island'" in str(found.exception_info)

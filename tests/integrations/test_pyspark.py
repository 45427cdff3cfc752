"""A pipeline of PySpark ML, and mapInArrow, find the rows that refold score finds."""

import pytest

import refold
from refold import scale

pytestmark = pytest.mark.slow


@pytest.fixture
def rows(faulty, spark):
    frame = faulty.frame
    kinds = {
        name: "double" if kind == "float64" else "string" for name, kind in frame.dtypes.items()
    }
    schema = ", ".join(["row int", *(f"{name} {kind}" for name, kind in kinds.items())])
    cells = frame.astype(object).where(frame.notna(), None)
    cells.insert(0, "row", range(len(cells)))
    return spark.createDataFrame(cells.values.tolist(), schema).repartition(3)


def assert_as_scored(found, faulty):
    scored = {row["row"]: row for row in found.collect()}
    assert sorted(row for row, one in scored.items() if one["label"] == -1) == faulty.outliers
    for row in faulty.outliers:
        expected = faulty.scored[row]
        assert scored[row]["distance"] == pytest.approx(float(expected["distance"]))
        assert scored[row]["reason_1"] == expected["reason_1"]


def test_a_stage_of_a_pipeline_is_written_and_read(faulty, rows, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel

    from refold.integrations.pyspark import NormalRowsTransformer

    stage = NormalRowsTransformer(modelFile=str(faulty.model), reasons=1)
    fitted = Pipeline(stages=[stage]).fit(rows)
    assert_as_scored(fitted.transform(rows), faulty)
    fitted.write().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert again.stages[0].getOrDefault("reasons") == 1
    assert_as_scored(again.transform(rows), faulty)


def test_a_function_for_map_in_arrow_scores_within_a_pipeline_of_ones_own(faulty, rows):
    from pyspark.sql.types import StructType

    add, fields = scale.spark.arrow_scorer(refold.load(faulty.model))
    schema = StructType([*rows.schema.fields, *fields])
    assert_as_scored(rows.mapInArrow(add, schema), faulty)


def test_a_mixed_detector_is_learned_and_scored_in_a_line_each(faulty, rows):
    normal = rows.where("island <> 'Mars'").drop("row")
    model = scale.spark.learn(normal)
    assert isinstance(model, refold.Detector)
    assert scale.spark.score(model, rows).where("island = 'Mars'").first()["label"] == -1

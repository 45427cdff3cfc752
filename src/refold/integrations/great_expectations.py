"""Great Expectations: expect the rows of a batch to be normal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from refold.base.needs import needs
from refold.decisions.gate import Gate
from refold.integrations._batch import judge_batch
from refold.models.files import load

_expectation: Any = needs("great_expectations.expectations.expectation", "great-expectations")
_engines: Any = needs("great_expectations.execution_engine", "great-expectations")
_providers: Any = needs(
    "great_expectations.expectations.metrics.table_metric_provider", "great-expectations"
)
_metrics: Any = needs(
    "great_expectations.expectations.metrics.metric_provider", "great-expectations"
)
_components: Any = needs("great_expectations.render.components", "great-expectations")
_renderers: Any = needs("great_expectations.render.renderer.renderer", "great-expectations")
_LISTED = 20  # outliers that a result shows unless all are asked for
_MOST = 10_000  # outliers that a complete result lists
_REASONS = 3


class _TableOutliers(_providers.TableMetricProvider):
    """The outliers of a batch by a model file, wherever its rows are."""

    metric_name = "table.refold_outliers"
    value_keys = ("model",)

    @_metrics.metric_value(engine=_engines.PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> dict[str, Any]:  # noqa: N805
        model, frame = _asked(**given)
        found = judge_batch(model, frame, listed=_MOST)
        outliers = (
            {
                "row": one.row,
                "distance": one.distance,
                "reasons": [reason.feature for reason in one.reasons[:_REASONS]],
                "because": one.sentence(),
            }
            for one in found.farthest
        )
        return _document(model, (found.rows, found.judged, len(found.outliers)), outliers)

    @_metrics.metric_value(engine=_engines.SqlAlchemyExecutionEngine)
    def _sqlalchemy(cls, execution_engine: Any, **given: Any) -> dict[str, Any]:  # noqa: N805
        from refold.export import to_sql

        sa: Any = needs("sqlalchemy", "great-expectations")
        model, selectable = _asked(execution_engine, **given)
        dialect = execution_engine.dialect
        rows = sa.select(sa.text("*")).select_from(selectable)
        batch = rows.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
        judged = to_sql(model, "refold_batch", dialect.name, reasons=_REASONS, prefix="refold_")
        quoted = dialect.identifier_preparer.quote_identifier
        label, distance = quoted("refold_label"), quoted("refold_distance")
        begin = f"WITH {quoted('refold_batch')} AS ({batch}), refold_judged AS ({judged}) "

        def asked(statement: str) -> Any:
            # A colon is no parameter: nothing is bound.
            query = sa.text((begin + statement).replace(":", "\\:"))
            return execution_engine.execute_query(query).mappings()

        (counts,) = asked(
            f"SELECT count(*) AS n, count({label}) AS judged, "
            f"count(CASE WHEN {label} = -1 THEN 1 END) AS outliers FROM refold_judged"
        )
        listed = asked(
            f"SELECT * FROM refold_judged WHERE {label} = -1 ORDER BY {distance} DESC LIMIT {_MOST}"
        )
        return _document(model, tuple(counts.values()), map(_with_reasons, listed))

    @_metrics.metric_value(engine=_engines.SparkDFExecutionEngine)
    def _spark(cls, **given: Any) -> dict[str, Any]:  # noqa: N805
        from refold.scale.spark import score

        functions: Any = needs("pyspark.sql.functions", "spark")
        model, frame = _asked(**given)
        judged = score(model, frame, reasons=_REASONS, prefix="refold_")
        is_outlier = functions.col("refold_label") == -1
        counts = judged.agg(
            functions.count(functions.lit(1)).alias("n"),
            functions.count("refold_label").alias("judged"),
            functions.count_if(is_outlier).alias("outliers"),
        ).first()
        listed = judged.where(is_outlier).orderBy(functions.desc("refold_distance")).limit(_MOST)
        outliers = (_with_reasons(row.asDict()) for row in listed.collect())
        return _document(model, tuple(counts), outliers)


class ExpectRowsToBeNormal(_expectation.BatchExpectation):
    """Expect the rows of a batch to be normal by a model of refold.

    The observed value is the number of outliers. The result lists them, the farthest first, with
    the columns that are the reasons; of a dataframe of pandas also the row, from 0, and a sentence.

    Parameters
    ----------
    model : str
        A model file. In a database it must be one that has SQL: see :func:`refold.export.to_sql`.
    mostly : float, default=1.0
        The share of rows that must be normal.
    gate : bool, default=False
        Whether only more outliers than the model's false alarm rate explains are a failure,
        instead of `mostly`: normal batches then fail with a probability of 1 % at most.

    Examples
    --------
    >>> import tempfile, refold
    >>> import great_expectations as gx
    >>> import pandas as pd
    >>> from refold.integrations.great_expectations import ExpectRowsToBeNormal
    >>> table = pd.DataFrame({"heat": [20.1, 19.8, 20.3, 20.0], "flow": [5.0, 5.1, 4.9, 5.2]})
    >>> file = tempfile.mkdtemp() + "/model.json"
    >>> refold.save(refold.REF().fit(table), file)
    >>> context = gx.get_context(mode="ephemeral")
    >>> asset = context.data_sources.add_pandas("parts").add_dataframe_asset("today")
    >>> batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": table})
    >>> batch.validate(ExpectRowsToBeNormal(model=file)).success
    True
    """

    model: str
    mostly: float = 1.0
    gate: bool = False

    metric_dependencies: ClassVar[tuple[str, ...]] = ("table.refold_outliers",)
    success_keys: ClassVar[tuple[str, ...]] = ("model", "mostly", "gate")
    args_keys: ClassVar[tuple[str, ...]] = ("model", "mostly", "gate")

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        found = metrics["table.refold_outliers"]
        conditions = Gate(chance=True) if self.gate else Gate(max_outliers=1.0 - self.mostly)
        count, judged = found["count"], found["judged"]
        results = conditions.check(judged, count, 0.0, found["alpha"])
        asked = self._get_result_format(runtime_configuration)
        kind = asked["result_format"] if isinstance(asked, dict) else asked
        listed = found["outliers"]
        result = {
            "observed_value": count,
            "element_count": found["rows"],
            "missing_count": found["rows"] - judged,
            "unexpected_count": count,
            "unexpected_percent": 100.0 * count / max(judged, 1),
            "partial_unexpected_list": listed[:_LISTED],
            "details": {"condition": [one.to_dict() for one in results]},
        }
        if str(kind) == "COMPLETE":
            result["unexpected_list"] = listed
        return {"success": all(one.passed for one in results), "result": result}

    @classmethod
    @_renderers.renderer(renderer_type=_components.LegacyRendererType.PRESCRIPTIVE)
    def _prescriptive_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
    ) -> list[Any]:
        given = (configuration or result.expectation_config).kwargs
        asked = "at least $mostly of the rows"
        if given.get("gate"):
            asked = "as many rows as the false alarm rate explains"
        params = {"mostly": f"{100.0 * given.get('mostly', 1.0):g} %", "model": given["model"]}
        return [
            _components.RenderedStringTemplateContent(
                content_block_type="string_template",
                string_template={
                    "template": f"By $model, {asked} must be normal.",
                    "params": params,
                },
            )
        ]

    @classmethod
    @_renderers.renderer(renderer_type=_components.LegacyDiagnosticRendererType.UNEXPECTED_TABLE)
    def _diagnostic_unexpected_table_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
    ) -> list[Any] | None:
        """Show the outliers of a result, a line each, in Data Docs."""
        listed = result.result.get("partial_unexpected_list")
        if not listed:
            return None
        names = list(listed[0])
        cells = [[_shown(row[name]) for name in names] for row in listed]
        return [
            _components.RenderedTableContent(
                content_block_type="table",
                table=cells,
                header_row=names,
                styling={"body": {"classes": ["table-bordered", "table-sm", "mt-3"]}},
            )
        ]


def _asked(
    execution_engine: Any,
    metric_domain_kwargs: dict[str, Any],
    metric_value_kwargs: dict[str, Any],
    **_: Any,
) -> tuple[Any, Any]:
    """Return the model, and the rows in what the engine has tables in."""
    rows, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, "table")
    return load(metric_value_kwargs["model"]), rows


def _document(
    model: Any, counts: tuple[int, ...], outliers: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """Return the value of the metric: plain, for it is kept and written."""
    rows, judged, count = counts
    known = {"rows": rows, "judged": judged, "count": count}
    return {**known, "alpha": model.alpha_, "outliers": list(outliers)}


def _with_reasons(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row that a database has judged: its cells, and what was added in other words."""
    cells = {name: cell for name, cell in row.items() if not name.startswith("refold_")}
    reasons = [row[f"refold_reason_{rank}"] for rank in range(1, _REASONS + 1)]
    named = [name for name in reasons if name is not None]
    return {**cells, "distance": row["refold_distance"], "reasons": named}


def _shown(cell: Any) -> str:
    return ", ".join(cell) if isinstance(cell, list) else str(cell)

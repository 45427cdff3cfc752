"""Airflow: an operator that judges a table and fails by the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from refold.base.needs import needs
from refold.integrations._batch import batch_gate, judge_batch

_sdk: Any = needs("airflow.sdk", "airflow")
_exceptions: Any = needs("airflow.sdk.exceptions", "airflow")


class CheckRowsOperator(_sdk.BaseOperator):
    """Judge a table by a model; the task fails, and is not tried again, if a condition fails.

    What was found goes to XCom under ``return_value``, whether the task fails or not: ``rows``,
    ``outliers``, ``passed``, the ``gate``'s conditions, and the rows ``farthest`` out with a
    sentence each, counted from 1.

    Parameters
    ----------
    model : str
        A model file; templated.
    table : str
        A file that holds a table: CSV, Excel, JSON, Parquet or Arrow; templated.
    gate : bool, default=True
        Whether more outliers than the model's false alarm rate explains are a failure.
    max_outliers : int, float, str or None, default=None
        So many outliers at most: 12, or a share of the rows, 0.03 or ``"3%"``.
    beyond : float or None, default=None
        No row may be farther out than so many times the threshold.
    listed : int, default=20
        How many of the outliers are listed.
    **options
        Those of every operator, for example ``task_id``.

    Examples
    --------
    >>> from refold.integrations.airflow import CheckRowsOperator
    >>> CheckRowsOperator(task_id="check", model="model.json", table="{{ ds }}.csv").gate
    True
    """

    template_fields: ClassVar[Sequence[str]] = ("model", "table")

    def __init__(
        self,
        *,
        model: str,
        table: str,
        gate: bool = True,
        max_outliers: int | float | str | None = None,
        beyond: float | None = None,
        listed: int = 20,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        batch_gate(gate, max_outliers, beyond)  # an error of the DAG, not of its run
        self.model, self.table = model, table
        self.gate, self.max_outliers, self.beyond = gate, max_outliers, beyond
        self.listed = listed

    def execute(self, context: Any) -> None:
        """Judge the table."""
        conditions = batch_gate(self.gate, self.max_outliers, self.beyond)
        found = judge_batch(self.model, self.table, conditions, listed=self.listed)
        document = {
            "rows": found.rows,
            "outliers": len(found.outliers),
            "passed": found.passed,
            "gate": [result.to_dict() for result in found.gate],
            "farthest": [
                {"row": one.row + 1, "distance": one.distance, "because": one.sentence()}
                for one in found.farthest
            ],
        }
        context["ti"].xcom_push("return_value", document)
        self.log.info("%s", found.summary)
        if not found.passed:
            raise _exceptions.AirflowFailException(found.summary)

"""Dagster: an asset check by a model, and the model as a resource."""

from __future__ import annotations

from typing import Any

from refold.base.needs import needs
from refold.integrations._batch import batch_gate, judge_batch

_dagster: Any = needs("dagster", "dagster")
_LISTED = 20  # outliers that a result shows


def _checked(model: Any, rows: Any, conditions: Any) -> Any:
    """Return the result of a check, with the farthest rows as a table."""
    found = judge_batch(model, rows, conditions, listed=_LISTED)
    shown = [
        _dagster.TableRecord({"row": one.row, "distance": one.distance, "because": one.sentence()})
        for one in found.farthest
    ]
    metadata = {"rows": found.rows, "outliers": len(found.outliers)}
    if shown:
        metadata["farthest"] = _dagster.MetadataValue.table(shown)
    return _dagster.AssetCheckResult(
        passed=found.passed, description=found.summary, metadata=metadata
    )


class NormalRowsResource(_dagster.ConfigurableResource):
    """A model file with the conditions that a table must meet, for checks and assets of your own.

    Parameters
    ----------
    model : str
        A model file.
    gate : bool, default=True
        Whether more outliers than the model's false alarm rate explains are a failure.
    max_outliers : str or None, default=None
        So many outliers at most: ``"12"``, or a share of the rows, ``"3%"``.
    beyond : float or None, default=None
        No row may be farther out than so many times the threshold.

    Examples
    --------
    >>> import tempfile, refold
    >>> import pandas as pd
    >>> from refold.integrations.dagster import NormalRowsResource
    >>> table = pd.DataFrame({"heat": [20.1, 19.8, 20.3, 20.0], "flow": [5.0, 5.1, 4.9, 5.2]})
    >>> file = tempfile.mkdtemp() + "/model.json"
    >>> refold.save(refold.REF().fit(table), file)
    >>> resource = NormalRowsResource(model=file, gate=False, max_outliers="0")
    >>> resource.check(table).passed
    True
    """

    model: str
    gate: bool = True
    max_outliers: str | None = None
    beyond: float | None = None

    def check(self, rows: Any) -> Any:
        """Judge a dataframe, or a file that holds a table.

        Parameters
        ----------
        rows : dataframe, str or path-like
            The rows.

        Returns
        -------
        dagster.AssetCheckResult
            Whether the conditions hold; its metadata are counts and the rows farthest out.
        """
        conditions = batch_gate(self.gate, self.max_outliers, self.beyond)
        return _checked(self.model, rows, conditions)


def rows_are_normal(
    asset: Any,
    model: Any,
    *,
    name: str = "rows_are_normal",
    gate: bool = True,
    max_outliers: int | float | str | None = None,
    beyond: float | None = None,
    blocking: bool = False,
) -> Any:
    """Return an asset check: the table that an asset returns is normal by a model.

    Parameters
    ----------
    asset : asset, AssetKey or str
        What is checked; its value is a dataframe, or the path of a file that holds a table.
    model : str, path-like or estimator
        A model file, read when the check runs, or a fitted model.
    name : str, default="rows_are_normal"
        The name of the check.
    gate, max_outliers, beyond
        The conditions, as of :class:`NormalRowsResource`.
    blocking : bool, default=False
        Whether assets that depend on this one wait for the check to pass.

    Returns
    -------
    dagster.AssetChecksDefinition

    Examples
    --------
    >>> import dagster as dg
    >>> from refold.integrations.dagster import rows_are_normal
    >>> check = rows_are_normal("readings", "model.json", max_outliers="3%", blocking=True)
    >>> definitions = dg.Definitions(asset_checks=[check])
    """
    conditions = batch_gate(gate, max_outliers, beyond)
    inputs = {"rows": _dagster.AssetIn(_dagster.AssetKey.from_coercible(_key(asset)))}

    @_dagster.multi_asset_check(
        name=f"{name}_of_{'_'.join(_dagster.AssetKey.from_coercible(_key(asset)).path)}",
        specs=[_dagster.AssetCheckSpec(name, asset=asset, blocking=blocking)],
        ins=inputs,
    )
    def check(rows: Any) -> Any:
        return _checked(model, rows, conditions)

    return check


def _key(asset: Any) -> Any:
    return getattr(asset, "key", asset)

"""Spark dataframes: Arrow batches on the executors, a sketch per partition, added up by Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from refold.algorithm.engines.sketch import Sketch
from refold.base.needs import needs
from refold.columns.frames import features_of
from refold.judgement import Judge, answer_names, answer_types
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.ref import REF
from refold.models.sketched import fit_sketch
from refold.scale._batches import judge_of_tables, judged, located, sketch_of
from refold.scale._model import sketching


def fit(
    df: Any,
    columns: Sequence[str] | None = None,
    *,
    model: REF | None = None,
    ignore_non_numeric: bool = False,
) -> REF:
    """Learn what is normal from a Spark dataframe, on its cluster.

    refold must be installed where the executors run.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Normal rows only. Null and NaN are missing values.
    columns : sequence of str, default=None
        The columns to learn, which must hold numbers; None is all.
    model : REF, default=None
        The model to fit, of ``engine="sketch"``; None is ``REF(engine="sketch")``. As by its own
        ``fit``, what it knew before is replaced; if anything fails, it stays as it was.
    ignore_non_numeric : bool, default=False
        With ``columns=None``: leave out columns that do not hold numbers, rather than refuse them.

    Returns
    -------
    REF
        The fitted model: bins and counts are those of ``fit`` on all rows in one place.

    Examples
    --------
    ::

        model = refold.scale.spark.fit(spark.read.parquet("normal/"), ["heat", "flow"])
        scored = refold.scale.spark.score(model, spark.read.parquet("new/"))
        scored.where("label = -1").select("id", "distance", "reason_1").show()
    """
    model = sketching(model)
    names = _numeric_columns(df, columns, ignore_non_numeric)
    n_bins = model.n_bins

    def sketch_partition(batches: Iterator[Any]) -> Iterator[Any]:
        pa = needs("pyarrow", "spark")
        try:
            part: Part = sketch_of(batches, names, where=_partition(), n_bins=n_bins, n_jobs=1)
        except ValueError as error:
            part = str(error)
        yield pa.record_batch([pa.array([pickle.dumps(part)], pa.binary())], names=["part"])

    parts = _numbered(df.select(_quoted(names))).mapInArrow(sketch_partition, "part binary")
    nothing = Sketch.of(np.empty((0, len(names))), n_bins=n_bins)
    total = parts.rdd.treeAggregate(nothing, lambda a, row: _plus(a, pickle.loads(row[0])), _plus)
    if isinstance(total, str):
        raise ValueError(total)
    return fit_sketch(model, total, names)


def score(
    model: REF | CreasedREF | Detector,
    df: Any,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
) -> Any:
    """Judge the rows of a Spark dataframe; Spark does the work when the result is used.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted. A Detector reads columns of any kind.
    df : pyspark.sql.DataFrame
        Rows to judge; other columns than the model's pass through.
    reasons : int, default=3
        How many reasons to give; without any, shares are not computed, which is faster.
    columns : sequence of str, default=None
        Only for a model that was fitted without names: its columns, in its order.
    prefix : str, default=""
        Stands before the names of the new columns.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns of `df`, then ``distance``, ``label`` (1 normal, -1 not), ``p_value`` if the
        model is calibrated, and ``reason_1`` … with the names of the columns that matter most, null
        where fewer do. A row without any value has no verdict: all of these are null.
    """
    before = list(df.columns)
    if isinstance(model, Detector):
        judge = judge_of_tables(model, columns, on_worker=True)
        _require(df, judge.names)
    else:
        features = _numeric_columns(df, features_of(model, columns), ignore_others=False)
        judge = Judge.of(model, on_worker=True).called(features)
    names = answer_names(judge, reasons, prefix, before)

    def judge_partition(batches: Iterator[Any]) -> Iterator[Any]:
        pa = needs("pyarrow", "spark")
        where, rows = _partition(), 0
        for numbered in batches:
            batch = pa.record_batch(numbered.columns, names=before)
            with located(where, judge.names, rows):
                added = judged(judge, batch, reasons)
            rows += batch.num_rows
            yield pa.record_batch([*batch.columns, *added], names=[*before, *names])

    types = needs("pyspark.sql.types", "spark")
    from_arrow = needs("pyspark.sql.pandas.types", "spark").from_arrow_type
    kinds = map(from_arrow, answer_types(judge, reasons))
    added = [types.StructField(name, kind) for name, kind in zip(names, kinds, strict=True)]
    return _numbered(df).mapInArrow(judge_partition, types.StructType([*df.schema.fields, *added]))


# The sketch of some partitions, or what is wrong with a row of theirs: an error that is raised on
# an executor would be tried again there, and would come back within pages of Java.
Part = Sketch | str


def _plus(a: Part, b: Part) -> Part:
    if isinstance(a, str):
        return a
    return b if isinstance(b, str) else a.plus(b)


def _partition() -> str:
    return f"Partition {needs('pyspark', 'spark').TaskContext.get().partitionId()}"


def _quoted(names: Sequence[str]) -> list[str]:
    """Let Spark take dots within a name for what they are."""
    return ["`" + name.replace("`", "``") + "`" for name in names]


def _numbered(df: Any) -> Any:
    """Call columns by number: mapInArrow does not find those with a dot in their name."""
    return df.toDF(*(f"c{number}" for number in range(len(df.columns))))


def _require(df: Any, names: Sequence[str]) -> None:
    """Refuse a dataframe without some of the columns."""
    absent = [name for name in names if name not in df.columns]
    if absent:
        raise ValueError(f"The dataframe has no column {', '.join(map(repr, absent))}.")


def _numeric_columns(df: Any, columns: Sequence[str] | None, ignore_others: bool) -> list[str]:
    """Return the columns to read; refuse those that are not there or do not hold numbers."""
    types = needs("pyspark.sql.types", "spark")
    kinds = {field.name: field.dataType for field in df.schema.fields}
    names = list(kinds if columns is None else columns)
    _require(df, names)
    numbers = (types.NumericType, types.BooleanType)
    others = [name for name in names if not isinstance(kinds[name], numbers)]
    if others and not (ignore_others and columns is None):
        said = ", ".join(f"{name!r} ({kinds[name].simpleString()})" for name in others)
        raise ValueError(
            f"Columns that do not hold numbers: {said}. Say with columns= which ones to learn, or "
            "leave these out with ignore_non_numeric=True."
        )
    numeric = [name for name in names if name not in others]
    if not numeric:
        raise ValueError("No column of the dataframe holds numbers.")
    return numeric

"""Spark dataframes: Arrow batches on the executors, counted there, added up by Spark.

Neither RDDs nor pandas are used here, so that it can also run through Spark Connect.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from refold.base.errors import require_columns
from refold.base.needs import needs
from refold.columns.conversion import to_table
from refold.columns.frames import features_of, float_values
from refold.columns.table import Table
from refold.judgement import Judge, answer_names, answer_types
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.parts import FirstPass, Header, Work, check_learnable, learn_parts
from refold.models.ref import REF
from refold.scale.blocks import rows_at_once
from refold.scale.stream import answer_batch, in_part, judge_of_tables

# So many sums are added up by one task.
_SPLIT_EVERY = 8


def learn(
    df: Any,
    model: REF | CreasedREF | Detector | None = None,
    *,
    columns: Sequence[str] | None = None,
) -> REF | CreasedREF | Detector:
    """Learn what is normal from a Spark dataframe, on its cluster.

    refold must be installed where the executors run.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Normal rows only. Null and NaN are missing values.
    model : Detector, CreasedREF or REF, default=None
        The model to fit; None is ``Detector()``. As by its own ``fit``, what it knew before is
        replaced; if anything fails, it stays as it was. A REF has the engine ``"auto"`` or
        ``"sketch"``.
    columns : sequence of str, default=None
        The columns to learn; None is all. REF and CreasedREF learn numbers.

    Returns
    -------
    Detector, CreasedREF or REF
        The fitted model: that of :func:`refold.scale.learn` on the rows in the order of their
        partitions.

    Notes
    -----
    Spark computes the rows once to count them, once for a REF and twice for others: ``df.cache()``
    keeps them. A row's place is its partition's and its own within that, so other divisions of the
    same files, in the same order, give the same model; after a shuffle Spark promises no order, and
    other rows may be held out.

    Examples
    --------
    >>> from refold import scale
    >>> model = scale.spark.learn(spark.read.parquet("normal/"))  # doctest: +SKIP
    """
    model = Detector() if model is None else model
    check_learnable(model)
    read: Callable[[Any, Sequence[str]], Table]
    if isinstance(model, Detector):
        names = list(df.columns if columns is None else columns)
        require_columns("The dataframe", names, df.columns)
        used = [name for name in names if (model.roles or {}).get(name) != "ignore"]
        read = _as_they_are
    else:
        names = used = _numeric_columns(df, columns)
        read = _as_numbers
    return learn_parts(model, _Partitions(df, used, read), Header(tuple(names)))


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
    model : Detector, CreasedREF or REF
        Fitted.
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
        where fewer do. To a Detector a row without any value is an outlier; by
        others it has no verdict: all of these are null.

    Examples
    --------
    >>> from refold import scale
    >>> scored = scale.spark.score(model, spark.read.parquet("new/"))  # doctest: +SKIP
    >>> scored.where("label = -1").select("id", "distance", "reason_1").show()  # doctest: +SKIP
    """
    before = list(df.columns)
    if isinstance(model, Detector):
        judge = judge_of_tables(model, columns, on_worker=True)
        require_columns("The dataframe", judge.inputs, df.columns)
    else:
        features = _numeric_columns(df, features_of(model, columns))
        judge = Judge.of(model, on_worker=True).called(features)
    added = _added_fields(judge, reasons, prefix, before)
    work = _scoring(judge, reasons, [field.name for field in added], before)
    fields = [*df.schema.fields, *added]
    return _numbered(df).mapInArrow(work, needs("pyspark.sql.types", "spark").StructType(fields))


def arrow_scorer(
    model: REF | CreasedREF | Detector, *, reasons: int = 3, prefix: str = ""
) -> tuple[Callable[[Iterator[Any]], Iterator[Any]], list[Any]]:
    """Return a function for ``DataFrame.mapInArrow``, and the fields that it adds.

    It judges Arrow batches as they come: within a pipeline of your own, without reading them twice.

    Parameters
    ----------
    model : Detector, CreasedREF or REF
        Fitted with the names of columns.
    reasons, prefix
        As for :func:`score`.

    Returns
    -------
    function : callable
        Takes an iterator of Arrow batches with the model's columns and yields each with the answers
        behind its own columns.
    fields : list of pyspark.sql.types.StructField
        The columns that it adds.

    Examples
    --------
    >>> from refold import scale
    >>> add, fields = scale.spark.arrow_scorer(model, reasons=1)  # doctest: +SKIP
    >>> df.mapInArrow(add, StructType([*df.schema.fields, *fields]))  # doctest: +SKIP
    """
    on_tables = isinstance(model, Detector)
    judge = judge_of_tables(model, None, on_worker=True) if on_tables else _named_judge(model)
    fields = _added_fields(judge, reasons, prefix, ())
    return _scoring(judge, reasons, [field.name for field in fields], None), fields


def _named_judge(model: REF | CreasedREF) -> Judge:
    return Judge.of(model, on_worker=True).called(features_of(model, None))


def _scoring(
    judge: Judge, reasons: int, names: Sequence[str], before: Sequence[str] | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what judges batches; `before` are the names of their columns, if they have others."""

    def judge_batches(batches: Iterator[Any]) -> Iterator[Any]:
        pa = needs("pyarrow", "spark")
        where, rows = f"Partition {_partition()}", 0
        for given in batches:
            own = given.schema.names if before is None else before
            batch = pa.record_batch(given.columns, names=own)
            with in_part(where, judge.names, rows):
                added = answer_batch(judge, batch, reasons)
            rows += batch.num_rows
            yield pa.record_batch([*batch.columns, *added], names=[*own, *names])

    return judge_batches


def _added_fields(judge: Judge, reasons: int, prefix: str, before: Sequence[str]) -> list[Any]:
    """Return the columns that scoring adds, as Spark describes them."""
    types, pa = needs("pyspark.sql.types", "spark"), needs("pyarrow", "spark")
    known = {
        pa.float64(): types.DoubleType(),
        pa.int8(): types.ByteType(),
        pa.string(): types.StringType(),
    }
    names, kinds = answer_names(judge, reasons, prefix, before), answer_types(judge, reasons)
    described = zip(names, kinds, strict=True)
    return [types.StructField(name, known[kind]) for name, kind in described]


# What comes of some partitions, or what is wrong with a row of theirs: an error that is raised on
# an executor would be tried again there, and would come back within pages of Java.
Part = Any


class _Partitions:
    """The partitions of a dataframe as parts."""

    def __init__(
        self, df: Any, names: Sequence[str], read: Callable[[Any, Sequence[str]], Table]
    ) -> None:
        self._df, self._names, self._read = _numbered(df.select(_quoted(names))), names, read
        self._lengths: dict[int, int] | None = None

    def added_up(self, work: Work) -> Any:
        """Let the executors do the work on each partition, and add up; return the sum."""
        if self._lengths is None:
            self._lengths = self._counted()
        if not self._lengths:
            return None
        if isinstance(work, FirstPass):
            work = work.among(sum(self._lengths.values()))
        done = _worker(work, self._read, self._names, self._lengths)
        sums = self._df.mapInArrow(done, "number int, part binary")
        groups = len(self._lengths)
        while groups > _SPLIT_EVERY:
            groups = -(-groups // _SPLIT_EVERY)
            sums = sums.repartition(groups, sums["number"] % groups).mapInArrow(
                _add_up, "number int, part binary"
            )
        total = _total(pickle.loads(row["part"]) for row in sums.collect())
        if isinstance(total, str):
            raise ValueError(total)
        return total

    def _counted(self) -> dict[int, int]:
        """Return how many rows each partition has, of those that have some."""

        def count(batches: Iterator[Any]) -> Iterator[Any]:
            yield _row_of("rows", sum(batch.num_rows for batch in batches))

        found = self._df.mapInArrow(count, "number int, rows bigint").collect()
        return {row["number"]: row["rows"] for row in found if row["rows"]}


def _worker(
    work: Work,
    read: Callable[[Any, Sequence[str]], Table],
    names: Sequence[str],
    lengths: Mapping[int, int],
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what an executor does with a partition."""

    def done(batches: Iterator[Any]) -> Iterator[Any]:
        number, total, rows = _partition(), None, 0
        first = sum(length for other, length in lengths.items() if other < number)
        now = work
        try:
            for table in _collected(batches, rows_at_once(len(names))):
                with in_part(f"Partition {number}", names, rows):
                    part = now(read(table, names), first + rows)
                total = part if total is None else total.plus(part)
                now = now.after(total) if isinstance(now, FirstPass) else now
                rows += table.num_rows
            if rows != lengths.get(number, 0):
                raise ValueError(
                    f"Partition {number} had {lengths.get(number, 0):,} rows when they were "
                    f"counted and has {rows:,} now. Partitions must have the same rows each time: "
                    "cache the dataframe, or write it to files."
                )
        except ValueError as error:
            total = str(error)
        if total is not None:
            yield _row_of("part", pickle.dumps(total))

    return done


def _add_up(batches: Iterator[Any]) -> Iterator[Any]:
    parts = (pickle.loads(part) for batch in batches for part in batch.column(1).to_pylist())
    total = _total(parts)
    if total is not None:
        yield _row_of("part", pickle.dumps(total))


def _total(parts: Iterator[Part]) -> Part:
    """Add up; what is wrong with a part is said instead."""
    total: Any = None
    for part in parts:
        if isinstance(part, str):
            return part
        total = part if total is None else total.plus(part)
    return total


def _row_of(name: str, value: Any) -> Any:
    """Return a batch of one row: the number of this partition, and a value."""
    pa = needs("pyarrow", "spark")
    kind = pa.binary() if isinstance(value, bytes) else pa.int64()
    number = pa.array([_partition()], pa.int32())
    return pa.record_batch([number, pa.array([value], kind)], names=["number", name])


def _collected(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Put small batches together; nothing is copied."""
    pa = needs("pyarrow", "spark")
    waiting: list[Any] = []
    there = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            there += batch.num_rows
        if there >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, there = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _as_they_are(table: Any, names: Sequence[str]) -> Table:
    return to_table(table.rename_columns(list(names)))


def _as_numbers(table: Any, names: Sequence[str]) -> Table:
    return Table.of_numbers(names, map(float_values, table.columns))


def _partition() -> int:
    return int(needs("pyspark", "spark").TaskContext.get().partitionId())


def _quoted(names: Sequence[str]) -> list[str]:
    """Let Spark take dots within a name for what they are."""
    return ["`" + name.replace("`", "``") + "`" for name in names]


def _numbered(df: Any) -> Any:
    """Call columns by number: mapInArrow does not find those with a dot in their name."""
    return df.toDF(*(f"c{number}" for number in range(len(df.columns))))


def _numeric_columns(df: Any, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to read; refuse those that are not there or do not hold numbers."""
    types = needs("pyspark.sql.types", "spark")
    kinds = {field.name: field.dataType for field in df.schema.fields}
    names = list(kinds if columns is None else columns)
    require_columns("The dataframe", names, df.columns)
    numbers = (types.NumericType, types.BooleanType)
    others = [name for name in names if not isinstance(kinds[name], numbers)]
    if others:
        said = ", ".join(f"{name!r} ({kinds[name].simpleString()})" for name in others)
        raise ValueError(
            f"Columns that do not hold numbers: {said}. Say with columns= which ones to learn, or "
            "learn a Detector, which takes columns of any kind."
        )
    return names

"""Arrow record batches, judged row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from refold.base.errors import TableError
from refold.base.needs import needs
from refold.columns.frames import feature_names, features_of, floats
from refold.columns.missing import IN_MEMORY, Written
from refold.judgement import Judge, Judgement, answers

Batch = Any


@contextmanager
def located(where: str, names: Sequence[str] | None, first_row: int = 0) -> Iterator[None]:
    """Let errors say in which part of the table they are, and call columns by name."""
    try:
        yield
    except TableError as error:
        row = None if error.row is None else first_row + error.row
        named = TableError(error.problem, row=row, column=error.column, names=names)
        # A plain error: it may have to travel between processes.
        raise ValueError(f"{where}: {named}") from None


def judged(judge: Judge, batch: Batch, reasons: int) -> list[Any]:
    """Judge the rows of a batch; return the columns that scoring adds."""
    if judge.encoder is not None:
        columns = {name: batch.column(name) for name in judge.inputs}
        return answers(table_judged(judge, columns, reasons), reasons)
    X = np.empty((batch.num_rows, len(judge.names)), order="F")
    for column, name in enumerate(judge.names):
        X[:, column] = floats(batch.column(name))
    return answers(judge.rows(X, explained=reasons > 0), reasons)


def judge_of_tables(model: Any, columns: Sequence[str] | None, *, on_worker: bool = False) -> Judge:
    """Return a judge of columns of any kind, called as the tables to come call them."""
    judge = Judge.of(model, on_worker=on_worker)
    if columns is None and hasattr(model, "feature_names_in_"):
        return judge
    called = dict(zip(feature_names(model), features_of(model, columns), strict=True))
    return judge.called(called[name] for name in judge.names)


def table_judged(
    judge: Judge, columns: Mapping[str, Any], reasons: int = 0, written: Written = IN_MEMORY
) -> Judgement:
    """Judge Arrow columns of any kind, given by the names that the judge has for them."""
    pa = needs("pyarrow", "parquet")
    assert judge.encoder is not None
    own = judge.encoder.inputs.names
    known = {name: columns[called] for name, called in zip(own, judge.inputs, strict=True)}
    return judge.table(pa.table(known, metadata=written.metadata()), explained=reasons > 0)

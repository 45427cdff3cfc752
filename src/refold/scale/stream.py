"""The scoring stream: rows of a table, judged block by block, with what scoring adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from refold.base.advice import Advice
from refold.base.errors import TableError, UserError
from refold.base.needs import needs
from refold.columns.frames import feature_names, features_of, float_values, is_text
from refold.explanation import explain
from refold.judgement import Judge, Judgement, answer_names, answer_types, answers
from refold.judgement.reading import Reader
from refold.tabular import InputError
from refold.tabular.block import Block

Batch = Any


@contextmanager
def in_part(where: str, names: Sequence[str] | None, first_row: int = 0) -> Iterator[None]:
    """Let errors say in which part of the table they are, and call columns by name."""
    try:
        yield
    except TableError as error:
        row = None if error.row is None else first_row + error.row
        named = TableError(error.problem, row=row, column=error.column, names=names)
        # A plain error: it may have to travel between processes.
        raise ValueError(f"{where}: {named}") from None


def answer_batch(judge: Judge, batch: Batch, reasons: int) -> list[Any]:
    """Judge the rows of a batch; return the columns that scoring adds."""
    if judge.encoder is not None:
        own = judge.encoder.inputs.names
        columns = {n: batch.column(called) for n, called in zip(own, judge.inputs, strict=True)}
        table = needs("pyarrow", "parquet").table(columns)
        return answers(judge.table(table, explained=reasons > 0), reasons)
    X = np.empty((batch.num_rows, len(judge.names)), order="F")
    for column, name in enumerate(judge.names):
        X[:, column] = float_values(batch.column(name))
    return answers(judge.rows(X, explained=reasons > 0), reasons)


def judge_of_tables(model: Any, columns: Sequence[str] | None, *, on_worker: bool = False) -> Judge:
    """Return a judge of columns of any kind, called as the tables to come call them."""
    judge = Judge.of(model, on_worker=on_worker)
    if columns is None and hasattr(model, "feature_names_in_"):
        return judge
    called = dict(zip(feature_names(model), features_of(model, columns), strict=True))
    return judge.called(called[name] for name in judge.names)


_VERDICTS = {1: "normal", -1: "outlier"}
_REASONS = 3  # that a sentence may come from


class ScoredColumns:
    """The columns of a table, `kinds`, and those that scoring adds: all are in `schema`.

    Columns that are `numeric` to the model (by their place in ``Judgement.numbers``), written as
    text, are handed on as the numbers that it saw; with `csv` all is handed on as it is written.
    With a `model` the verdict is given in words too, and each outlier has a sentence.
    """

    def __init__(
        self,
        judge: Judge,
        kinds: Mapping[str, Any],
        *,
        numeric: Mapping[str, int],
        reasons: int,
        prefix: str = "",
        csv: bool = False,
        model: Any = None,
    ) -> None:
        pa = needs("pyarrow", "parquet")
        self._reasons, self._model = reasons, model
        self._numeric = {} if csv else numeric
        self._kinds = {
            name: pa.float64()
            if name in self._numeric and is_text(kind)
            else _handed_on(name, kind, csv=csv)
            for name, kind in kinds.items()
        }
        self.added = answer_names(judge, reasons, prefix, kinds)
        types = answer_types(judge, reasons)
        if model is not None:
            words = [f"{prefix}verdict", f"{prefix}because"]
            if clash := sorted({*words} & {*kinds}):
                raise UserError(
                    f"The input already has the columns {clash} that scoring would add.",
                    advice=Advice("Give the new ones another prefix", "prefix", value="refold_"),
                )
            self.added = [*self.added[:2], words[0], *self.added[2:], words[1]]
            types = [*types[:2], pa.string(), *types[2:], pa.string()]
        self.schema = pa.schema([*self._kinds.items(), *zip(self.added, types, strict=True)])

    def batch(self, columns: Mapping[str, Any], found: Judgement) -> Any:
        """Return rows with what is said of them; rows that were not judged have nulls there."""
        pa = needs("pyarrow", "parquet")
        added = answers(found, self._reasons)
        if self._model is not None:
            verdicts = pa.array(list(map(_VERDICTS.get, found.labels.tolist())), pa.string())
            added = [*added[:2], verdicts, *added[2:], self._sentences(found)]
        given = (
            pa.array(found.numbers_as_read(self._numeric[name]), from_pandas=True)
            if name in self._numeric and is_text(columns[name].type)
            else _as(columns[name], kind)
            for name, kind in self._kinds.items()
        )
        return pa.record_batch([*given, *added], schema=self.schema)

    def _sentences(self, found: Judgement) -> Any:
        pa = needs("pyarrow", "parquet")
        sentences: list[str | None] = [None] * len(found)
        outliers = np.flatnonzero(found.outlier)
        if len(outliers):
            rows = explain(self._model, found.of_outliers, reasons=_REASONS, nearest=False)
            for place, row in zip(outliers.tolist(), rows, strict=True):
                sentences[place] = row.sentence()
        return pa.array(sentences, pa.string())


def judged_blocks(
    reader: Reader, blocks: Iterable[Block], *, explained: bool
) -> Iterator[tuple[Block, Judgement]]:
    """Judge block after block, each once."""
    for block in blocks:
        yield block, reader.judge(block, explained=explained)


def _handed_on(name: str, kind: Any, *, csv: bool) -> Any:
    """Return the type of a column in the output."""
    types = needs("pyarrow", "parquet").types
    if csv and types.is_dictionary(kind):
        return kind.value_type
    if csv and types.is_nested(kind):
        raise InputError(
            f"Column {name!r} holds {kind}, which CSV cannot hold. Write .parquet or .arrow."
        )
    return kind


def _as(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind, safe=False)

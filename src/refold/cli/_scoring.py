"""Scoring a table of any length: block by block, in order, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.needs import needs
from refold.cli._models import Judge, Verdicts
from refold.models.scorer import parts_of
from refold.scale._batches import reason_columns
from refold.tabular import Block, Features, InputError, Table
from refold.tabular.errors import listed

pa = needs("pyarrow", "cli")


@dataclass
class Worst:
    """The rows farthest out so far, the worst first."""

    most: int
    rows: list[int] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    X: Any = None

    def add(self, block: Block, X: Floats, verdicts: Verdicts) -> None:
        """Look for worse rows in a block."""
        out = np.flatnonzero(verdicts.outlier)
        if self.most == 0 or len(out) == 0:
            return
        rows = np.array([*self.rows, *(block.first + out)])
        distances = np.array([*self.distances, *verdicts.distances[out]])
        both = X[out] if self.X is None else np.vstack([self.X, X[out]])
        order = np.argsort(-distances, kind="stable")[: self.most]
        self.rows, self.distances = rows[order].tolist(), distances[order].tolist()
        self.X = both[order]


@dataclass
class Scores:
    """What a table came to."""

    worst: Worst
    rows: int = 0
    normal: int = 0
    outliers: int = 0

    def add(self, block: Block, X: Floats, verdicts: Verdicts) -> None:
        """Count a block."""
        outliers = int(verdicts.outlier.sum())
        self.rows += block.rows
        self.outliers += outliers
        self.normal += int(verdicts.judged.sum()) - outliers
        self.worst.add(block, X, verdicts)


def score_table(
    judge: Judge,
    table: Table,
    *,
    writer: Callable[[Any], Any] | None,
    fmt: str | None,
    reasons: int,
    worst: int,
    prefix: str,
    count: Callable[[int], None],
) -> Scores:
    """Judge every row of a table, and write it with the verdict if there is a writer.

    `writer` takes the columns to come and returns a context that gives a function of a batch.
    """
    features = judge.features_in(table)
    scores = Scores(Worst(worst))
    answer = _Answer(judge, table, features, fmt, reasons, prefix)
    needed = features.columns if writer is None else None
    blocks = table.blocks(needed)
    first = next(blocks, None)
    if first is None:
        raise InputError(f"{table.name} has column names but no rows.")
    opened = nullcontext() if writer is None else writer(answer.schema(first))
    with opened as write:
        for block in itertools.chain([first], blocks):
            X = features.matrix(block)
            verdicts = Verdicts.of(judge, X)
            if write is not None:
                write(answer.batch(block, X, verdicts))
            scores.add(block, X, verdicts)
            count(block.rows)
    return scores


class _Answer:
    """The columns of a table with those that scoring adds."""

    def __init__(
        self,
        judge: Judge,
        table: Table,
        features: Features,
        fmt: str | None,
        reasons: int,
        prefix: str,
    ) -> None:
        self._judge, self._reasons = judge, reasons
        # CSV hands on what was written; other formats get the numbers that the model saw.
        self._numeric = {} if fmt == "csv" else features.numeric
        self._features = features.names
        self._csv = fmt == "csv"
        self._table = table.name
        added = ["distance", "label", *(["p_value"] if judge.calibrated else [])]
        added += [f"reason_{number}" for number in range(1, reasons + 1)]
        self._added = [prefix + name for name in added]
        clash = [name for name in self._added if name in table.names]
        if fmt is not None and clash:
            raise InputError(
                f"{table.name} already has the columns {listed(clash)} that scoring adds. Give the "
                "new ones another beginning, for example --prefix refold_."
            )

    def schema(self, block: Block) -> Any:
        """Return the columns to come."""
        rarity = [pa.float64()] if self._judge.calibrated else []
        kinds = [pa.float64(), pa.int8(), *rarity, *[pa.string()] * self._reasons]
        given = [(name, self._kind(name, column)) for name, column in block.columns.items()]
        return pa.schema([*given, *zip(self._added, kinds, strict=True)])

    def batch(self, block: Block, X: Floats, verdicts: Verdicts) -> Any:
        """Return a block with its verdicts; rows that were not judged have none."""
        unknown = ~verdicts.judged
        labels = np.where(verdicts.outlier, -1, 1).astype(np.int8)
        added = [
            pa.array(verdicts.distances, mask=unknown),
            pa.array(labels, mask=unknown),
        ]
        if self._judge.calibrated:
            p_values = self._judge.model.calibration_.p_values(verdicts.distances)
            added.append(pa.array(p_values, mask=unknown))
        if self._reasons:
            added += self._named(X, verdicts)
        given = [
            pa.array(X[:, self._numeric[name]], from_pandas=True)
            if name in self._numeric
            else column.cast(self._kind(name, column))
            for name, column in block.columns.items()
        ]
        return pa.record_batch([*given, *added], schema=self.schema(block))

    def _kind(self, name: str, column: Any) -> Any:
        if name in self._numeric:
            return pa.float64()
        kind = column.type
        if self._csv and pa.types.is_dictionary(kind):
            return kind.value_type
        if self._csv and pa.types.is_nested(kind):
            raise InputError(
                f"{self._table}: column {name!r} holds {kind}, which CSV cannot hold. Write "
                ".parquet or .arrow."
            )
        return kind

    def _named(self, X: Floats, verdicts: Verdicts) -> list[Any]:
        """Name the columns with the largest shares in each row's distance."""
        shares = np.zeros_like(X)
        if verdicts.judged.any():
            shares[verdicts.judged] = parts_of(self._judge.plain, X[verdicts.judged])
        return reason_columns(shares, self._features, self._reasons)

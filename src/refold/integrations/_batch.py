"""A batch of rows as each framework asks about it: which are outliers, why, and does it pass."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from refold.base.errors import UserError, require_columns
from refold.base.words import outliers_among
from refold.decisions.gate import Gate, GateResult, parse_max_outliers
from refold.explanation import Explanation, explain
from refold.judgement import Judge, Judgement
from refold.models.files import load

_LISTED = 100  # outliers that are explained


@dataclass(frozen=True)
class BatchVerdict:
    """What a model says of a batch."""

    rows: int
    judged: int
    outliers: list[int]  # which rows, from 0
    farthest: list[Explanation]  # of the outliers, the farthest first
    gate: list[GateResult]

    @property
    def passed(self) -> bool:
        """Whether all conditions of the gate hold."""
        return all(result.passed for result in self.gate)

    @property
    def summary(self) -> str:
        """Counts and conditions in a sentence."""
        failed = [result.text for result in self.gate if not result.passed]
        return "; ".join(failed) or outliers_among(len(self.outliers), self.rows)


def judge_batch(
    model: Any, rows: Any, gate: Gate | None = None, *, listed: int = _LISTED
) -> BatchVerdict:
    """Judge a dataframe, a file that holds a table, or what is judged, by a model or its file."""
    fitted = load(model) if isinstance(model, str | os.PathLike) else model
    found = _of_file(fitted, rows) if isinstance(rows, str | os.PathLike) else _of(fitted, rows)
    outliers = np.flatnonzero(found.outlier)
    order = np.argsort(-found.distances[outliers], kind="stable")[:listed]
    farthest = outliers[order]
    explained = explain(fitted, found.take(farthest)) if len(farthest) else []
    judged, threshold = int(found.judged.sum()), found.judge.threshold
    far = float(np.nanmax(found.distances, initial=0.0))
    times = far / threshold if threshold > 0.0 else np.inf
    conditions = (gate or Gate()).check(judged, len(outliers), times, found.judge.alpha)
    numbered = zip(explained, farthest.tolist(), strict=True)
    return BatchVerdict(
        rows=len(found),
        judged=judged,
        outliers=outliers.tolist(),
        farthest=[replace(one, row=row) for one, row in numbered],
        gate=conditions,
    )


def _of(model: Any, rows: Any) -> Judgement:
    """Judge a dataframe; columns that the model does not need do not matter."""
    if isinstance(rows, Judgement):
        return rows
    frame = nw.from_native(rows, eager_only=True)
    if len(frame) == 0:
        raise UserError("The batch has no rows.")
    if not hasattr(model, "feature_names_in_"):
        return Judgement.of(model, rows, explained=True)
    wanted = list(Judge.of(model).inputs)
    require_columns("The batch", wanted, frame.columns)
    if hasattr(model, "encoder_"):
        return Judgement.of(model, rows, explained=True)
    return Judgement.of(model, frame.select(wanted).to_native(), explained=True)


def _of_file(model: Any, file: str | os.PathLike[str]) -> Judgement:
    from refold.judgement.reading import reader_of
    from refold.tabular import open_table

    judge = Judge.of(model)
    with open_table(Path(file)) as table:
        reader = reader_of(judge, table)
        blocks = reader.blocks(table, reader.columns)
        parts = [reader.judge(block, explained=True) for block in blocks]
    if not parts:
        raise UserError(f"{file} has column names but no rows.")
    return Judgement.joined(parts)


def batch_gate(gate: bool, max_outliers: int | float | str | None, beyond: float | None) -> Gate:
    """Return the conditions that a batch must meet; a text is read as ``--max-outliers`` is."""
    if isinstance(max_outliers, str):
        max_outliers = parse_max_outliers(max_outliers)
    conditions = Gate(max_outliers, gate, beyond)
    if conditions == Gate():
        raise UserError("There is no condition: set gate, max_outliers or beyond.")
    return conditions

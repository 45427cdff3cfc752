"""Feedback in a model file: what was said, of which rows, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from refold.base.errors import UserError
from refold.columns.columns_file import read_table, table_written
from refold.columns.table import Table
from refold.decisions.calibration_file import (
    calibration_written,
    read_calibration,
    read_rate,
    read_threshold,
)
from refold.modelfile import arrays
from refold.modelfile.document import read_time
from refold.modelfile.fields import Field
from refold.models.feedback.entry import (
    LONGEST_NOTE,
    Decision,
    FeedbackEntry,
    JudgedRows,
    Kind,
    Verdict,
)
from refold.models.feedback.log import MOST_ROWS, FeedbackLog
from refold.models.feedback.mixin import FeedbackMixin

# The member of a model's document.
MEMBER = "feedback"
# What is novel adds ten thresholds, more than once.
LARGEST_THRESHOLD = 1e300
_KINDS = ("accepted", "rejected")

Reader = Callable[[Field, int], JudgedRows]


def log_written(model: FeedbackMixin) -> list[dict[str, Any]]:
    """Return a model's log as the document has it; a decision where another one follows it."""
    entries = model.feedback_
    following = [entry.decision for entry in entries[1:]]
    following.append(model._decision())
    return [
        {
            "kind": entry.kind,
            "time": entry.time,
            "note": entry.note,
            "times": entry.times,
            "before": _verdict_written(entry.before),
            "after": _verdict_written(entry.after),
            "decision": None if entry.decision == then else _decision_written(entry.decision),
            "rows": (
                table_written(entry.rows)
                if isinstance(entry.rows, Table)
                else arrays.NullableArray(entry.rows)
            ),
        }
        for entry, then in zip(entries, following, strict=False)
    ]


def _decision_written(decision: Decision) -> dict[str, Any]:
    calibrated = decision.calibration
    return {
        **decision._asdict(),
        "calibration": None if calibrated is None else calibration_written(calibrated),
    }


def _verdict_written(verdict: Verdict) -> dict[str, Any]:
    return {"threshold": verdict.threshold, "distances": verdict.distances}


def read_log(field: Field, model: FeedbackMixin, rows_of: Reader) -> FeedbackLog:
    """Return a checked log; `rows_of` reads so many rows as the model takes them."""
    if type(field.value) is list and len(field.value) > MOST_ROWS:
        field.refuse(f"must have at most {MOST_ROWS:,} entries")
    entries, decision = [], model._decision()
    for item in reversed(list(field.items())):
        entries.append(_entry(item, rows_of, decision, model))
        decision = entries[-1].decision
    try:
        return FeedbackLog.of(reversed(entries))
    except UserError as error:
        field.refuse(str(error))


def _entry(
    field: Field, rows_of: Reader, decision: Decision, model: FeedbackMixin
) -> FeedbackEntry:
    """Read an entry; `decision` is what was decided when the next one was made."""
    kind, time, note, times, before, after, decided, rows = field.members(
        "kind", "time", "note", "times", "before", "after", "decision", "rows"
    )
    if len(note.text()) > LONGEST_NOTE:
        note.refuse(f"must have at most {LONGEST_NOTE:,} characters")
    first, then = _verdict(before), _verdict(after)
    n = len(first.distances)
    if len(then.distances) != n:
        after.member("distances").refuse(f"must have {n} numbers, as before")
    return FeedbackEntry(
        cast("Kind", kind.text(_KINDS)),
        rows_of(rows, n),
        times.integer(1, MOST_ROWS),
        read_time(time),
        note.text(),
        first,
        then,
        decision if decided.is_null() else _decision(decided, model),
        np.ones(n, dtype=np.bool_),
    )


def _verdict(field: Field) -> Verdict:
    threshold, distances = field.members("threshold", "distances")
    found = arrays.floats(distances, arrays.length_of(distances, MOST_ROWS), least=0.0)
    if threshold.number() < 0.0:
        threshold.refuse(f"must not be negative, is {threshold.value!r}")
    return Verdict(found, float(threshold.number()))


def _decision(field: Field, model: FeedbackMixin) -> Decision:
    threshold, alpha, calibration = field.members("threshold", "alpha", "calibration")
    has_own = "threshold_" not in model._DECIDED
    limit = None if has_own and threshold.is_null() else read_threshold(threshold)
    if limit is not None and limit > LARGEST_THRESHOLD:
        threshold.refuse(f"must be at most {LARGEST_THRESHOLD:g}, is {limit!r}")
    rate = read_rate(alpha)
    if calibration.is_null():
        if rate is not None and not has_own:
            alpha.refuse("must be null where there is no calibration")
        return Decision(limit, rate, None)
    return Decision(limit, rate, read_calibration(calibration, ties=True))


def number_rows_reader(n_features: int) -> Reader:
    """Return what reads rows of numbers, each of which has a value."""

    def rows_of(field: Field, n: int) -> JudgedRows:
        rows = arrays.rows_of(field, n, n_features)
        empty = np.isnan(rows).all(axis=1)
        if empty.any():
            field.at(int(np.argmax(empty))).refuse("must have a value")
        return rows

    return rows_of


def table_rows_reader(names: list[str]) -> Reader:
    """Return what reads rows of a table with these columns."""

    def rows_of(field: Field, n: int) -> JudgedRows:
        rows = read_table(field, n)
        if rows.rows != n:
            field.member("rows").refuse(f"must be {n}, as many as distances")
        if rows.names != names:
            field.member("columns").refuse("must be those of the table that are not ignored")
        return rows

    return rows_of

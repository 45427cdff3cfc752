"""What is said of rows that somebody has judged."""

import numpy as np
import pytest

from refold.columns.table import DateColumn, NumberColumn, Table, TextColumn
from refold.models.feedback.entry import (
    Decision,
    FeedbackEntry,
    Verdict,
    equal_rows,
    in_short,
)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([2.0], [0.5], "1 row accepted; it is normal now."),
        ([2.0, 3.0], [0.5, 0.5], "2 rows accepted; all are normal now."),
        (
            [0.5, 3.0],
            [0.5, 0.5],
            "2 rows accepted; one was normal already; one more is normal now.",
        ),
        (
            [0.5, 2.0, 3.0],
            [0.5] * 3,
            "3 rows accepted; one was normal already; 2 more are normal now.",
        ),
    ],
)
def test_what_became_of_accepted_rows_is_counted(before, after, said):
    entry = FeedbackEntry(
        "accepted",
        np.zeros((len(before), 1)),
        1,
        "2026-01-31",
        "",
        Verdict(np.array(before), 1.0),
        Verdict(np.array(after), 1.0),
        Decision(None, 0.05, None),
        np.ones(len(before), dtype=bool),
    )
    assert str(entry) == said


def entry(kind, before, after, *, times=1, note="", standing=None):
    standing = np.ones(len(before), dtype=bool) if standing is None else np.array(standing)
    verdicts = (Verdict(np.array(distances), 1.0) for distances in (before, after))
    decision = Decision(None, 0.05, None)
    rows = np.zeros((len(before), 1))
    return FeedbackEntry(kind, rows, times, "2026-01-31", note, *verdicts, decision, standing)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            entry("accepted", [2.0], [1.0], times=3),
            "1 row accepted as 3 rows; it is normal now.",
        ),
        (
            entry("accepted", [2.0, 3.0], [0.5, 1.0], times=1200, note="new tool"),
            "2 rows accepted, each as 1,200 rows; all are normal now. Note: new tool",
        ),
        (
            entry("accepted", [2.0, 3.0], [0.5, 1.5]),
            "2 rows accepted; one is normal now; one is still an outlier: rows like it are rare, "
            "distance 3 → 1.5, limit 1.",
        ),
        (
            entry("accepted", [2.0, 4.0, 2.5], [0.5, 3.0, 1.01]),
            "3 rows accepted; one is normal now; 2 of them are still outliers: rows like them are "
            "rare, distances up to 4 → 3, limit 1.",
        ),
        (
            entry("accepted", [2.0], [2.0]),
            "1 row accepted; it is still an outlier: rows like it are rare, distance 2, limit 1.",
        ),
        (
            entry("accepted", [0.1, 1.0, 2.0], [0.1, 1.0, 2.0]),
            "3 rows accepted; 2 of them were normal already; one is still an outlier: rows like it "
            "are rare, distance 2, limit 1.",
        ),
        (entry("rejected", [2.0], [2.0]), "1 row rejected; it is an outlier."),
        (entry("rejected", [2.0, 1.1], [2.0, 1.1]), "2 rows rejected; all are outliers."),
        (
            entry("rejected", [1.0], [1.0]),
            "1 row rejected; it is taken as normal (distance 1, limit 1): tune_threshold() looks "
            "for a better limit.",
        ),
        (
            entry("rejected", [0.5, 0.7, 2.0], [0.5, 0.7, 2.0]),
            "3 rows rejected; 2 of them are taken as normal (distances up to 0.7, limit 1): "
            "tune_threshold() looks for a better limit.",
        ),
        (
            entry("rejected", [2.0, 2.0], [2.0, 2.0], standing=[False, True]),
            "2 rows rejected; all are outliers. The opposite was said of one later.",
        ),
        (
            entry("rejected", [2.0], [2.0], standing=[False], note="x"),
            "1 row rejected; it is an outlier. The opposite was said of it later. Note: x",
        ),
    ],
)
def test_what_was_said_and_what_came_of_it_is_a_sentence(given, said):
    assert str(given) == said


def test_in_short_rows_are_counted_that_still_stand():
    said = [
        entry("accepted", [2.0, 2.0], [2.0, 2.0], standing=[True, False]),
        entry("rejected", [2.0], [2.0]),
        entry("accepted", [2.0, 2.0], [2.0, 2.0]),
    ]
    last = "the last feedback is of 2026-01-31"
    assert in_short(said) == f"3 rows accepted, 1 row rejected; {last}"
    assert in_short(said[1:2]) == f"1 row rejected; {last}"
    assert in_short([entry("rejected", [2.0], [2.0], standing=[False])]) == ""


def test_rows_are_equal_cell_by_cell_and_a_gap_equals_a_gap(rng):
    rows = rng.integers(0, 3, size=(60, 3)).astype(float)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    others = rows[::7]
    same = [any(np.array_equal(row, one, equal_nan=True) for one in others) for row in rows]
    assert equal_rows(rows, others).tolist() == same
    table = Table(
        ["a", "b", "c"],
        [
            NumberColumn(rows[:, 0]),
            DateColumn(rows[:, 1], has_date=True, has_clock=True),
            TextColumn(["x", "y", "z"], np.nan_to_num(rows[:, 2], nan=-1.0).astype(int)),
        ],
        60,
    )
    assert equal_rows(table, table.take(np.arange(0, 60, 7))).tolist() == same

"""What is said of rows that somebody has judged."""

import numpy as np
import pytest

from refold.models.feedback.entry import Decision, FeedbackEntry, Verdict


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

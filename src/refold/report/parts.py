"""Parts of the report that other pages are made of too: words, pictures, groups and rates."""

from refold.base.words import plural
from refold.report import _drawing as drawing
from refold.report._associations import Associations, associations_of
from refold.report._contents import AlarmGroup, ExpectedRejections, MarkedShares
from refold.report._drawing import DistancePicture
from refold.report._report_counts import (
    ColumnShares,
    distances_of,
    expected_of,
    groups_of,
    rows_by_first_reason,
    that_matter,
)
from refold.report._run_chart import RunChart, RunRows
from refold.report._template import count, environment_of, percent, script_source

__all__ = [
    "AlarmGroup",
    "Associations",
    "ColumnShares",
    "DistancePicture",
    "ExpectedRejections",
    "MarkedShares",
    "RunChart",
    "RunRows",
    "associations_of",
    "count",
    "distances_of",
    "drawing",
    "environment_of",
    "expected_of",
    "groups_of",
    "percent",
    "plural",
    "rows_by_first_reason",
    "script_source",
    "that_matter",
]

"""One page that says what a model makes of a table, for whoever has to act on it.

What is said is computed in `_describe` (rates in `_rates`, pictures' counts in `_histograms`, the
small print in `refold.cards`) and is typed in `_contents`; how it is shown is decided in `_page`,
`_drawing` and the templates.
"""

from refold.cards import Card, card_of
from refold.report._associations import Associations
from refold.report._comparison import write_comparison
from refold.report._contents import (
    AlarmGroup,
    Distances,
    ExpectedRejections,
    Feature,
    FeatureHistogram,
    Report,
    WorstRow,
)
from refold.report._describe import describe
from refold.report._in_context import ExpectedBand, GroupRate, InContext
from refold.report._page import render, write_report
from refold.report._reported import ReportedTable

__all__ = [
    "AlarmGroup",
    "Associations",
    "Card",
    "Distances",
    "ExpectedBand",
    "ExpectedRejections",
    "Feature",
    "FeatureHistogram",
    "GroupRate",
    "InContext",
    "Report",
    "ReportedTable",
    "WorstRow",
    "card_of",
    "describe",
    "render",
    "write_comparison",
    "write_report",
]

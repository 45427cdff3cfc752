"""One page that says what a model makes of a table, for whoever has to act on it.

What is said is computed in `_describe` (rates in `_rates`, pictures' counts in `_histograms`, the
small print in `_card`) and is typed in `_contents`; how it is shown is decided in `_page`,
`_drawing` and the templates.
"""

from refold.report._contents import (
    AlarmGroup,
    Card,
    Distances,
    ExpectedRejections,
    Feature,
    FeatureHistogram,
    Report,
    WorstRow,
)
from refold.report._describe import describe
from refold.report._page import render, write_report

__all__ = [
    "AlarmGroup",
    "Card",
    "Distances",
    "ExpectedRejections",
    "Feature",
    "FeatureHistogram",
    "Report",
    "WorstRow",
    "describe",
    "render",
    "write_report",
]

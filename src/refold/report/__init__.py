"""One page that says what a model makes of a table, for whoever has to act on it.

What is said is computed in `_describe` (what pictures show in `_report_counts`, the small print in
`refold.cards`) and is typed in `_contents`; how it is shown is decided in `_page`, `_drawing` and
the templates.
"""

from refold.report._comparison import write_comparison
from refold.report._contents import Report
from refold.report._describe import describe
from refold.report._page import render, write_report
from refold.report._reported import ReportedTable

__all__ = [
    "Report",
    "ReportedTable",
    "describe",
    "render",
    "write_comparison",
    "write_report",
]

"""What a careful colleague would notice about a table before a model learns from it."""

from refold.checks._table.check import check
from refold.checks._table.findings_result import LIMIT, Findings

__all__ = ["LIMIT", "Findings", "check"]

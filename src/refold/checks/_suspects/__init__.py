"""Training rows that look least like the rest."""

from refold.checks._suspects.suspect_rows import Suspects
from refold.checks._suspects.suspects import suspects

__all__ = ["Suspects", "suspects"]

"""The rows farthest out of a table that is read part by part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refold._typing import Integers
from refold.judgement.judgement import Judgement


@dataclass
class WorstRows:
    """The rows farthest out so far, at most so many, the worst first."""

    most: int
    rows: list[int] = field(default_factory=list)  # their numbers
    found: Judgement | None = None  # what is said of them

    def add(self, found: Judgement, numbers: Integers) -> None:
        """Look for worse rows among some with these numbers."""
        out = found.of_outliers  # whoever asked for their reasons has explained these
        if len(out) == 0:
            return
        worst = out.worst_first[: self.most]
        both = out.take(worst)
        rows = np.array([*self.rows, *numbers[found.outlier][worst]])
        if self.found is not None:
            both = Judgement.joined([self.found, both])
        order = np.argsort(-both.distances, kind="stable")[: self.most]
        self.rows, self.found = rows[order].tolist(), both.take(order)

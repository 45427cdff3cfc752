"""The rows farthest out of a table that is read part by part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refold._typing import Integers
from refold.judgement._judgement import Judgement


@dataclass
class WorstRows:
    """The rows farthest out so far, the worst first.

    Parameters
    ----------
    most : int
        How many are kept.
    rows : list of int
        Their numbers.
    found : Judgement or None
        What is said of them; None as long as there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.judgement import Judgement, WorstRows
    >>> model, worst = REF().fit(np.random.default_rng(0).normal(size=(500, 1))), WorstRows(2)
    >>> for first, rows in ((0, [[9.0], [0.1]]), (2, [[7.0], [8.0]])):
    ...     worst.add(Judgement.of(model, rows), first + np.arange(2))
    >>> worst.rows
    [0, 3]
    """

    most: int
    rows: list[int] = field(default_factory=list)
    found: Judgement | None = None

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

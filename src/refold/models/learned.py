"""What REF has learned, in one piece that never changes: threads share it without a lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refold.algorithm.chain import FoldChain
from refold.algorithm.engines.sketch import Sketch
from refold.base.once import once
from refold.columns.frames import check_enough
from refold.columns.summary import Summary


@dataclass(frozen=True, eq=False)
class FromRows:
    """Learned from all rows at once.

    Parameters
    ----------
    chain : FoldChain
        The shifts and scales.
    summary : Summary
        The rows, feature by feature.
    """

    chain: FoldChain
    summary: Summary


@dataclass(frozen=True, eq=False)
class FromSketch:
    """Learned from a sketch of the rows, when it is asked for.

    Parameters
    ----------
    sketch : Sketch
        What is kept of the rows.
    recipe : dict
        How the chain is learned: REF's `n_iter`, `fold`, `max_gain` and `n_jobs`.
    """

    sketch: Sketch
    recipe: dict[str, Any]

    @once
    def chain(self) -> FoldChain:
        """The shifts and scales."""
        rows, weight = self.sketch.rows, self.sketch.weight
        check_enough(rows, None if weight == rows else weight)
        return self.sketch.chain(**self.recipe)

    @once
    def summary(self) -> Summary:
        """The rows, feature by feature."""
        return Summary.of_sketch(self.sketch)

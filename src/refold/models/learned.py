"""What REF has learned, in one piece that never changes: threads share it without a lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Array, Floats
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import ENGINES, exact
from refold.algorithm.engines.sketch import Sketch
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.once import once
from refold.columns.frames import check_enough
from refold.columns.summary import Summary


@dataclass(frozen=True, eq=False)
class FromRows:
    """Learned from all rows at once."""

    chain: FoldChain  # The shifts and scales
    summary: Summary  # The rows, feature by feature

    @classmethod
    def of(cls, X: Array, weights: Floats | None, engine: str, recipe: dict[str, Any]) -> FromRows:
        """Learn the chain and describe the rows; where there are several threads, both at once."""
        learn = partial(ENGINES[engine].learn, X, weights, **recipe)
        rows = to_numpy(X) if is_foreign_array(X) else X
        n_jobs = recipe["n_jobs"]
        if engine == "reference" or exact.threads(rows.size, n_jobs) == 1:
            return cls(learn(), Summary.of(rows, weights, n_jobs=n_jobs))
        with ThreadPoolExecutor(1) as pool:
            described = pool.submit(_quiet_summary, rows, weights)
            return cls(learn(), described.result())  # what is wrong with the rows is said by learn


def _quiet_summary(rows: NDArray[Any], weights: Floats | None) -> Summary:
    """Describe rows that may turn out to be unusable."""
    with np.errstate(all="ignore"):
        return Summary.of(rows, weights, n_jobs=1)


@dataclass(frozen=True, eq=False)
class FromSketch:
    """Learned from a sketch of the rows, when it is asked for."""

    sketch: Sketch  # What is kept of the rows
    # How the chain is learned: REF's `n_iter`, `fold`, `max_gain` and `n_jobs`
    recipe: dict[str, Any]

    def plus_rows(self, X: Floats, weights: Floats) -> FromSketch:
        """Return what is learned with more rows."""
        more = Sketch.of(X, weights, n_bins=self.sketch.n_bins, n_jobs=self.recipe["n_jobs"])
        return FromSketch(self.sketch.plus(more), self.recipe)

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

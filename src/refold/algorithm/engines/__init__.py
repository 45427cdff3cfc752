"""Ways to learn one chain and to evaluate it, under one contract.

An engine is a module with the functions of :class:`Engine`. All of them learn a
:class:`~refold.algorithm.chain.FoldChain`; a model is evaluated by the engine that learned it.
"""

from __future__ import annotations

from typing import Protocol

from refold._typing import Array, Operation
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import exact, reference, sketch


class Engine(Protocol):
    """What every engine offers. Tables may hold NaN (missing); infinity raises a TableError."""

    def learn(
        self,
        X: Array,
        weights: Array | None,
        *,
        n_iter: int,
        fold: Operation,
        max_gain: float | None,
        n_jobs: int | None,
    ) -> FoldChain:
        """Learn a chain from the rows of X, each counted `weights` times."""

    def distances(
        self, chain: FoldChain, X: Array, kind: Operation, *, path: bool, n_jobs: int | None
    ) -> Array:
        """Distance of each row after the last level, or its mean over all levels (`path`)."""

    def trace(self, chain: FoldChain, X: Array, kind: Operation, *, n_jobs: int | None) -> Array:
        """Distance of each row after each level."""

    def transform(self, chain: FoldChain, X: Array, *, n_jobs: int | None) -> Array:
        """Folded features, NaN where missing."""

    def contributions(
        self, chain: FoldChain, X: Array, kind: str, *, path: bool, n_jobs: int | None
    ) -> tuple[Array, Array]:
        """Distance of each row, and the share of each feature in it."""


ENGINES: dict[str, Engine] = {"reference": reference, "exact": exact, "sketch": sketch}

# From here on a sketch is the better way to learn: it is several times as fast as the exact engine
# (as fast from about 40,000 rows), and its error is a hundredth of what another sample of the same
# size would change (docs/sketch.md has the figures).
MANY_ROWS = 250_000


def choose_engine(engine: str, fold: Operation, *, is_numpy: bool, rows: int) -> str:
    """Turn ``"auto"`` into the engine for this fold, kind of array and number of rows."""
    if engine != "auto":
        return engine
    if not (isinstance(fold, str) and is_numpy):
        return "reference"
    return "exact" if rows < MANY_ROWS else "sketch"

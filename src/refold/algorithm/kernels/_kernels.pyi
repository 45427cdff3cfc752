from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats

Table = NDArray[np.floating[Any]]
# kind, row, column; kind 0 is none
Problem = tuple[int, int, int]
# the fields of refold.columns.extremes.Counted
CountedFields = tuple[Floats, Floats, NDArray[np.int64]]
# the fields of refold.algorithm.engines.sketch.Histogram
HistogramFields = tuple[int, NDArray[np.int64], Floats, Floats, float, float, float, int]

FOLDS: tuple[str, ...]
DISTANCES: tuple[str, ...]
LARGEST: float
LEAST_SLOPE: float
GAIN_SLACK: float
FAR_FROM_ZERO: float
MARKS: int
MOST_THREADS: int
MOST_WEIGHT: float
LEAST_BINS: int
MOST_BINS: int
ANY_NUMBER_OF_BINS: int
ASCII: int
INFINITE: int
NOTHING_OBSERVED: int
TOO_LITTLE_WEIGHT: int
TOO_MUCH_WEIGHT: int
instruction_set: str

class Steps:
    def __init__(
        self,
        fold: int,
        offset: Floats,
        unit: Floats,
        shift: Floats,
        factor: Floats,
        levels: NDArray[np.int64],
    ) -> None: ...
    @property
    def n_iter(self) -> int: ...

class Bends:
    def __init__(
        self, knots: Floats, heights: Floats, starts: NDArray[np.int64], slopes: Floats
    ) -> None: ...

class CreaseMap:
    def __init__(
        self,
        center: Floats,
        scale: Floats,
        varying: NDArray[np.int64],
        directions: Floats,
        offsets: Floats,
        shifts: Floats,
        slopes: Floats,
        precision: Floats,
        bends: Bends | None,
        constants: bool,
        largest: float,
    ) -> None: ...
    @property
    def outputs(self) -> int: ...

class LeverageForm:
    def __init__(
        self,
        creases: CreaseMap,
        center: Floats,
        factor: Floats,
        weight: float,
        ridge: float,
        dual: bool,
        n_threads: int,
        some: NDArray[np.int64],
        some_inverted: Floats,
    ) -> None: ...

class BoxSides:
    def __init__(
        self,
        low: Floats,
        high: Floats,
        unit: Floats,
        known: Floats,
        starts: NDArray[np.int64],
        discrete: NDArray[np.int64],
    ) -> None: ...

class KnownMarks:
    def __init__(
        self, marks: Floats, distances: Floats, weights: Floats, gaps: Floats, tolerance: float
    ) -> None: ...

def learn(
    X: Table,
    weights: Floats | None,
    fold: int,
    n_iter: int,
    max_gain: float,
    n_threads: int,
    shifts: Floats,
    scales: Floats,
    levels: NDArray[np.int64],
    gain: Floats,
) -> Problem: ...
def left_out(
    X: Table,
    parts: int,
    fold: int,
    n_iter: int,
    max_gain: float,
    distance: int,
    path: bool,
    n_threads: int,
    out: Floats,
) -> Problem: ...
def distances(
    X: Table, steps: Steps, distance: int, path: bool, n_threads: int, out: Floats
) -> Problem: ...
def trace(X: Table, steps: Steps, distance: int, n_threads: int, out: Floats) -> Problem: ...
def transform(X: Table, steps: Steps, n_threads: int, out: Floats) -> Problem: ...
def contributions(
    X: Table,
    steps: Steps,
    distance: int,
    path: bool,
    n_threads: int,
    distances: Floats,
    out: Floats,
) -> Problem: ...
def learn_each(
    values: list[Floats],
    weights: list[Floats],
    fold: int,
    n_iter: int,
    max_gain: float,
    n_threads: int,
    shifts: Floats,
    scales: Floats,
    levels: NDArray[np.int64],
    gain: Floats,
) -> Problem: ...
def sketch(
    X: Table, weights: Floats | None, n_bins: int, n_threads: int
) -> tuple[Problem, list[HistogramFields]]: ...
def extremes(
    X: Table, weights: Floats | None, n_threads: int, low: Floats, high: Floats, missing: Floats
) -> None: ...

class Tally:
    def __init__(self, n_bins: int) -> None: ...
    def add(self, values: Floats, weights: Floats | None, first: int, column: int) -> Problem: ...
    def histogram(self) -> HistogramFields: ...

def order(values: Floats, out: NDArray[np.int64]) -> None: ...
def quantiles(X: Table, rows: NDArray[np.int64], n_threads: int, out: Floats) -> None: ...
def edge(
    values: Floats, weights: Floats, rows: NDArray[np.int64], depth: int, most: int
) -> tuple[CountedFields, ...]: ...
def least_exponent(low: float, high: float, n_bins: int) -> int: ...
def standardized(
    rows: Floats, center: Floats, scale: Floats, largest: float, out: Floats
) -> bool: ...
def filled(z: Floats, precision: Floats) -> None: ...
def bent(bends: Bends, z: Floats, out: Floats) -> None: ...
def crease_levels(
    rows: Floats,
    directions: Floats,
    offsets: Floats,
    weights: Floats,
    least: float,
    n_threads: int,
    shifts: Floats,
    spreads: Floats,
) -> None: ...
def crease_features(creases: CreaseMap, X: Table, n_threads: int, out: Floats) -> None: ...
def crease_norms(creases: CreaseMap, X: Table, n_threads: int, out: Floats) -> None: ...
def crease_sums(
    creases: CreaseMap, X: Table, weights: Floats, n_threads: int, total: Floats, gram: Floats
) -> None: ...
def sum_products(
    phi: Floats, weights: Floats, n_threads: int, total: Floats, gram: Floats
) -> None: ...
def leverages(
    creases: CreaseMap, form: LeverageForm, X: Table, n_threads: int, out: Floats
) -> Problem: ...
def box_excess(box: BoxSides, rows: Floats, out: Floats) -> None: ...
def row_marks(z: Floats, weights: Floats, gaps: Floats, out: Floats) -> None: ...
def find_known(known: KnownMarks, z: Floats, out: NDArray[np.int64]) -> None: ...
def crease_distances(
    creases: CreaseMap,
    form: LeverageForm,
    box: BoxSides | None,
    known: KnownMarks | None,
    typical: float,
    unit: float,
    gain: float,
    most: float,
    X: Table,
    n_threads: int,
    out: Floats,
) -> Problem: ...
def crease_variants(
    creases: CreaseMap,
    form: LeverageForm,
    z: Floats,
    instead: Floats,
    owners: NDArray[np.int64],
    changed: Floats,
    n_threads: int,
    scores: Floats,
    across: Floats,
) -> None: ...
def product(A: Floats, B: Floats, n_threads: int, out: Floats) -> None: ...
def cholesky(
    upper: Floats, center: Floats | None, weight: float, ridge: float, L: Floats
) -> bool: ...
def pivots(
    upper: Floats,
    center: Floats | None,
    weight: float,
    ridge: float,
    steps: int,
    order: NDArray[np.int64],
) -> bool: ...
def last_rows(
    upper: Floats,
    center: Floats | None,
    weight: float,
    ridge: float,
    features: NDArray[np.int64],
    n_threads: int,
    out: Floats,
) -> bool: ...
def solve_lower(L: Floats, B: Floats | None, n_threads: int, out: Floats) -> None: ...
def svdd(
    kernel: NDArray[np.float32],
    diagonal: Floats,
    box: float,
    tol: float,
    max_steps: int,
    weights: Floats,
    gradient: Floats,
) -> tuple[int, float]: ...
def shapes(
    texts: list[str], collapsed: bool, looked_at: int, codes: NDArray[np.int64]
) -> list[str]: ...
def characters(
    texts: list[str], counts: NDArray[np.int64], looked_at: int, rows_with: NDArray[np.int64]
) -> list[int]: ...
def rarest(
    texts: list[str], rows_with: NDArray[np.int64], looked_at: int, out: NDArray[np.int64]
) -> None: ...
def hashes(texts: list[str], out: NDArray[np.int64]) -> None: ...

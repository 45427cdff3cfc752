"""Sums of features over the rows learned, and the leverage of a row by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm import kernels
from refold.models.creased.creases import Creases
from refold.models.creased.row_sample import n_threads, weighted_sum


@dataclass(frozen=True, eq=False)
class Sums:
    """Weight, sum and sum of products of the features; they add up over chunks and sites."""

    weight: float  # Σ w
    total: Floats  # (p,): σ w φ
    # φ and w one by one, as long as there are fewer rows than features: less than `gram`, and all
    # that the dual form needs
    rows: Floats
    counts: Floats
    gram: Floats | None  # (p, p): σ w φ φᵀ once there are more; its lower triangle

    @classmethod
    def empty(cls, p: int) -> Self:
        """Return the sums of no rows."""
        return cls(0.0, np.zeros(p), np.empty((0, p)), np.empty(0), None)

    @classmethod
    def of(
        cls, creases: Creases, X: NDArray[Any], weights: Floats, n_jobs: int | None = None
    ) -> Self:
        """Sum over the rows of X in one pass."""
        p, weight = creases.n_outputs, float(weights.sum())
        threads = n_threads(len(X) * p * p // 2, n_jobs)
        if len(X) < p:
            rows = kernels.crease_features(creases.map, X, threads)
            return cls(weight, weighted_sum(weights, rows), rows, weights.copy(), None)
        total, gram = kernels.crease_sums(creases.map, X, weights, threads)
        return cls(weight, total, np.empty((0, p)), np.empty(0), gram)

    def plus(self, other: Sums) -> Sums:
        """Return the sums over the rows of both."""
        weight, total = self.weight + other.weight, self.total + other.total
        rows = np.concatenate([self.rows, other.rows])
        counts = np.concatenate([self.counts, other.counts])
        grams = [s.gram for s in (self, other) if s.gram is not None]
        if not grams and len(rows) < len(total):
            return Sums(weight, total, rows, counts, None)
        if len(rows):
            grams.append(kernels.sum_products(rows, counts, 1))
        gram = reduce(np.add, grams)
        return Sums(weight, total, rows[:0], counts[:0], gram)

    def __getstate__(self) -> dict[str, Any]:
        """Send half of what is symmetric: sums travel between machines."""
        if self.gram is None:
            return vars(self)
        return {**vars(self), "gram": self.gram.T[np.triu_indices(len(self.gram))]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if (half := state["gram"]) is not None:
            p = len(state["total"])
            gram = np.zeros((p, p))
            gram[np.triu_indices(p)] = half
            state = {**state, "gram": gram.T}  # in Fortran's order, its lower triangle
        self.__dict__.update(state)

    def products(self) -> Floats:
        """Return Σ w φ φᵀ, its lower triangle."""
        if self.gram is not None:
            return self.gram
        return kernels.sum_products(self.rows, self.counts, 1)


# From so many rows and features on the first and the last quarter of the pivots score as all do, at
# half the multiplications. AUROC/AUPRC of these, of all and of the last quarter alone: 83.4/56.1,
# 83.4/55.9 and 82.4/55.8 on 61 tasks of OddBench with 600 to 4,700 rows; 89.1/84.0, 89.1/84.0 and
# 89.4/84.1 on ten large sets of ADBench. In one column the last quarter alone is far worse.
MANY_ROWS, MANY_FEATURES, _QUARTER = 5_000, 512, 4


@dataclass(frozen=True, eq=False)
class PivotQuarters:
    """The first and the last quarter of the pivots of a Cholesky factorization.

    The leverage by the first features, and what the last have that all others do not explain: the
    leverage by all less that by all but the last.
    """

    features: Integers  # (m,): the first
    first: Floats  # (m, m): L⁻¹ of the first by themselves
    last: Floats  # (k, p): the rows of L⁻¹ of the last

    @classmethod
    def of(cls, scatter: kernels.Scatter, n_jobs: int | None) -> PivotQuarters:
        """Factor sums of products."""
        p = len(scatter.A)
        k, threads = p // _QUARTER, n_threads(p**3 // 6, n_jobs)
        order = scatter.pivots(p - k)
        features = np.sort(order[:k])
        first = scatter.last_rows(features, k, threads)[:, features]
        return cls(features, first, scatter.last_rows(order, k, threads))

    def rows(self) -> Floats:
        """Return all rows, a column for each feature: the score is the square of their length."""
        first = np.zeros(self.last.shape)
        first[:, self.features] = self.first
        return np.concatenate([first, self.last])


@dataclass(frozen=True, eq=False)
class Leverage:
    """s(φ) = 1/n + (φ−φ̄)ᵀ (Φ_cᵀΦ_c + ridge·I)⁻¹ (φ−φ̄), factored."""

    weight: float  # n, the weight of the rows
    center: Floats  # (p,): φ̄
    # Primal: the lower Cholesky factor L of Φ_cᵀΦ_c + ridge·I, shape (p, p), and the quadratic form
    # is ‖L⁻¹v‖². Dual, for r rows fewer than features: G = L⁻¹Φ_c with the factor L of Φ_cΦ_cᵀ +
    # ridge·I, shape (r, p), and the form is (‖v‖² − ‖Gv‖²)/ridge.
    factor: Floats
    ridge: float  # The ridge; never less than the rounding of the sums
    dual: bool  # Which of the two
    quarters: PivotQuarters | None = None  # What scores instead of s where rows are many

    @classmethod
    def of(cls, sums: Sums, ridge: float, n_jobs: int | None = 1) -> Leverage:
        """Factor the sums."""
        if sums.gram is not None:
            return cls.primal(sums, ridge, n_jobs)
        center, V, ridge, roots = _dual(sums, ridge)
        return cls(sums.weight, center, kernels.solve_lower(roots, V), ridge, dual=True)

    @classmethod
    def primal(cls, sums: Sums, ridge: float, n_jobs: int | None = 1) -> Leverage:
        """Factor the sums feature by feature, however few rows there are."""
        center = sums.total / sums.weight
        gram = sums.products()
        spread = gram.diagonal() - sums.weight * np.square(center)
        ridge = _at_least_rounding(ridge, spread)
        scatter = kernels.Scatter(gram, center, sums.weight, ridge)
        quarters = None
        if sums.weight >= MANY_ROWS and len(center) >= MANY_FEATURES:
            quarters = PivotQuarters.of(scatter, n_jobs)
        return cls(sums.weight, center, scatter.cholesky(), ridge, dual=False, quarters=quarters)

    def form(self, creases: Creases, n_jobs: int | None = 1) -> kernels.LeverageForm:
        """Return what scores features along creases."""
        if self.quarters is None:
            return self.whole_form(creases, n_jobs)
        return self._form_of(creases, self.quarters.last)

    def learned_forms(
        self, creases: Creases, n_jobs: int | None = 1
    ) -> tuple[kernels.LeverageForm, ...]:
        """Return what gives the leverages that :func:`of_parts` needs beside the score."""
        if self.quarters is None:
            return ()
        first = self._form_of(creases, self.quarters.last[:0])
        return self.whole_form(creases, n_jobs), first

    def _form_of(self, creases: Creases, last: Floats) -> kernels.LeverageForm:
        assert self.quarters is not None
        return kernels.leverage_form(
            creases.map,
            self.center,
            last,
            weight=self.weight,
            ridge=self.ridge,
            dual=False,
            some=(self.quarters.features, self.quarters.first),
        )

    def whole_form(self, creases: Creases, n_jobs: int | None = 1) -> kernels.LeverageForm:
        """Return what gives s of features along creases."""
        threads = n_threads(len(self.center) ** 3 // 6, n_jobs)
        return kernels.leverage_form(
            creases.map,
            self.center,
            self.factor,
            weight=self.weight,
            ridge=self.ridge,
            dual=self.dual,
            n_threads=threads,
        )

    @property
    def products(self) -> int:
        """How many multiplications a score takes."""
        if self.quarters is not None:
            return self.quarters.last.size + self.quarters.first.size // 2
        height, width = self.factor.shape
        return int(2 * height * width if self.dual else height * width // 2)


def few_leverages(sums: Sums, others: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Return s of the rows that sums are of, fewer than features, and of the features of others.

    Where others are few, this takes less than to factor what scores any row.
    """
    center, V, ridge, roots = _dual(sums, ridge)
    inverse = kernels.solve_lower(roots)
    learned = (1.0 - ridge * np.square(inverse).sum(axis=0)) / sums.counts
    v = others - center
    shared = kernels.product(kernels.product(v, V), inverse)
    fitted = kernels.product(kernels.product(shared, inverse.T), V.T)
    # v · (v − GᵀGv) loses fewer digits than a difference of two, G being L⁻¹Φ_c.
    rest = np.maximum((v * (v - fitted)).sum(axis=1), 0.0) / ridge
    return 1.0 / sums.weight + learned, 1.0 / sums.weight + rest


def _dual(sums: Sums, ridge: float) -> tuple[Floats, Floats, float, Floats]:
    """Return φ̄, Φ_c, the ridge and the lower factor of Φ_cΦ_cᵀ + ridge·I."""
    center = sums.total / sums.weight
    V = (sums.rows - center) * np.sqrt(sums.counts)[:, None]
    ridge = _at_least_rounding(ridge, np.einsum("ij,ij->j", V, V))
    return center, V, ridge, kernels.Scatter(kernels.product(V, V), ridge=ridge).cholesky()


def deleted_leverages(leverages: Floats, weights: Floats) -> Floats:
    """Return the leverages that rows learned would have had without themselves.

    A row of weight w is left out once, or wholly where w is below 1.
    """
    return np.asarray(leverages / _positive(1.0 - np.minimum(weights, 1.0) * leverages))


def gained(across: Floats) -> Floats:
    """Return what leverages of a learned row, and of it changed, gain where it is left out.

    `across`, of shape (n, m), is what each has in common with the row, which is the first and
    weighs 1: it gains h(x, own)²/(1 − h(own)).
    """
    return np.asarray(np.square(across) / _positive(1.0 - across[:, :1]))


def of_parts(part: Callable[[Floats], Floats], scores: Floats, *others: Floats) -> Floats:
    """Return what scores become if each leverage that they are made of becomes `part` of it.

    The others are s and the leverage by the first quarter; without, the score is s.
    """
    if not others:
        return part(scores)
    whole, first = others
    return part(first) + part(whole) - part(whole - (scores - first))


def _positive(kept: Floats) -> Floats:
    return np.maximum(kept, np.finfo(np.float64).eps)


def _at_least_rounding(ridge: float, diagonal: Floats) -> float:
    """Return the ridge, or what keeps the Cholesky factor of rounded sums positive."""
    rounding = len(diagonal) * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(ridge, rounding)

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from refold.peers import NaiveParzen

TINY = float(np.finfo(np.float64).tiny)
LARGEST = float(np.finfo(np.float64).max)


def rows(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def score(train: np.ndarray, x: np.ndarray, widths: np.ndarray) -> float:
    total = 0.0
    for i, h in enumerate(widths):
        bumps = [math.exp(-0.5 * ((x[i] - seen) / h) ** 2) for seen in train[:, i]]
        total += math.log(np.mean(bumps) / (math.sqrt(2.0 * math.pi) * h + TINY) + TINY)
    return total


def test_parzen_score_is_its_formula() -> None:
    X, new = rows(40), 3.0 * rows(20, seed=1)
    model = NaiveParzen(width=0.5).fit(X)
    expected = [score(X, x, np.full(3, 0.5)) for x in new]
    np.testing.assert_allclose(model.score_samples(new), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("fracrej", "rejected"), [(0.1, 4), (0.01, 0), (0.99, 40), (0.5, 20), (0.11, 4), (0.12, 5)]
)
def test_parzen_threshold_is_midway_between_training_scores(fracrej: float, rejected: int) -> None:
    X = rows(40)
    model = NaiveParzen(fracrej=fracrej).fit(X)
    d = np.sort(model.score_samples(X))
    expected = (d[max(rejected, 1) - 1] + d[min(rejected, 39)]) / 2.0
    assert model.offset_ == expected
    # At k = n the threshold is the best score itself, and a tie is a target.
    assert (model.predict(X) == -1).sum() == min(rejected, 39)


def brute_width(x: np.ndarray) -> float:
    """Transcribe the rule for the width, with full matrices."""
    n = len(x)
    D = (x[:, None] - x) ** 2
    np.fill_diagonal(D, 1e70)
    E = D.min(axis=0)

    def F(h: np.float64) -> np.float64:
        falls = (D - E) / (2.0 * h**2)
        P = np.where(falls < 20.0, np.exp(-falls), 0.0)
        inverse = np.where(P.sum(axis=1) == 0.0, LARGEST, 1.0 / P.sum(axis=1))
        return ((D * P).sum(axis=1) * inverse).sum() / h**2 - n

    with np.errstate(all="ignore"):
        h1 = np.sqrt(E.max())
        F1 = F(h1)
        if abs(F1) < 1e-70:
            return float(h1)
        h2 = np.sqrt((F1 + n) * h1**2 / n)
        F2 = F(h2)
        alpha = 1.0
        if not (abs(F2) < 1e-70 or abs(1 - h1 / h2) < 1e-6):
            while abs(1 - F2 / F1) > 1e-4 and abs(1 - h2 / h1) > 1e-3 and abs(F2) > 1e-70:
                v = h1**2 * h2**2 * (F2 - F1) / (F2 * h2**2 - F1 * h1**2)
                h3 = np.sqrt((F2 + n) * h2**2 / n) if v < 0 else np.sqrt(v)
                h3 = h2 + alpha * (h3 - h2)
                h1, F1, h2, F2 = h2, F2, h3, F(h3)
                alpha *= 0.99
    return float(h2) if np.isfinite(h2) else 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_parzen_most_likely_width_follows_its_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=150),
            rng.uniform(size=150),
            rng.standard_t(2, size=150),
            np.where(rng.uniform(size=150) < 0.5, 0.0, rng.normal(size=150)),
            rng.integers(0, 4, size=150),
            np.round(rng.normal(size=150), 1),
            1e10 + np.round(rng.normal(size=150), 3),
            np.full(150, 3.0),
        ]
    )
    expected = [brute_width(x) for x in X.T]
    np.testing.assert_allclose(NaiveParzen(width="ml").fit(X).widths_, expected, rtol=1e-9)


def test_parzen_discrete_feature_gets_the_narrowest_width() -> None:
    X = np.random.default_rng(0).integers(0, 4, (100, 2)).astype(float)
    model = NaiveParzen(width="ml").fit(X)
    assert np.array_equal(model.widths_, [1e-12, 1e-12])
    assert (model.predict(X) == 1).mean() >= 0.85
    assert model.predict([[0.5, 1.0]]) == -1


def test_parzen_width_is_near_the_largest_leave_one_out_likelihood() -> None:
    # Near, as the rule weighs neighbours by column and stops early: a smooth, dense feature.
    x = rows(400, d=1)[:, 0]
    D = (x[:, None] - x) ** 2
    np.fill_diagonal(D, np.inf)

    def loss(log_h: float) -> float:
        h = math.exp(log_h)
        return float(-(logsumexp(-D / (2.0 * h * h), axis=1) - log_h).sum())

    best = minimize_scalar(loss, bounds=(-4.0, 1.0), method="bounded").x
    width = NaiveParzen(width="ml").fit(x[:, None]).widths_[0]
    assert loss(math.log(width)) - loss(best) < 2.0
    assert width == pytest.approx(math.exp(best), rel=0.3)


@pytest.mark.slow
def test_parzen_holds_at_5000_rows() -> None:
    X = rows(5000, d=2)
    model = NaiveParzen(width="ml").fit(X)
    assert (model.predict(X) == -1).sum() == 500

"""The score written down once more, as plainly as possible; the creases are taken as given."""

import numpy as np
from scipy.stats import norm, rankdata


def features(Z_first, Z, W, c, n_levels, gauss=None):
    """Fold rows along creases, with means and deviations of the first rows."""
    half = len(W) if gauss is None else len(W) - len(W) // 2
    first, y = (
        np.hstack([z @ W[:half].T, *([] if gauss is None else [gauss(z) @ W[half:].T])]) - c
        for z in (Z_first, Z)
    )
    levels = []
    for _ in range(n_levels):
        first, y = np.abs(first), np.abs(y)
        m, s = first.mean(axis=0), first.std(axis=0, ddof=1)
        first, y = (first - m) / s, (y - m) / s
        levels.append(y)
    return np.hstack(levels)


def rank_gauss(Z_first):
    """Return what bends columns so that the first rows look normal."""
    tables = []
    for z in Z_first.T:
        g = norm.ppf((rankdata(z) - 0.5) / len(z))
        tables.append((z, g, g.std(ddof=1)))

    def bend(Z):
        columns = []
        for x, (z, g, sd) in zip(Z.T, tables, strict=True):
            order = np.argsort(z)
            inside = np.interp(x, z[order], g[order])
            columns.append((inside + np.maximum(x - z.max(), 0) - np.maximum(z.min() - x, 0)) / sd)
        return np.column_stack(columns)

    return bend


def scores(Phi, phi, ridge):
    """s of the rows phi after learning the rows Phi."""
    center = Phi.mean(axis=0)
    A = (Phi - center).T @ (Phi - center) + ridge * np.eye(Phi.shape[1])
    v = phi - center
    return 1 / len(Phi) + (v * np.linalg.solve(A, v.T).T).sum(axis=1)


def left_out(Phi, ridge):
    """s of each learned row after learning all others."""
    rows = np.arange(len(Phi))
    return np.array([scores(Phi[rows != i], Phi[[i]], ridge)[0] for i in rows])


def outside(X, new, gain=10.0):
    """What continuous columns without absurd cells add outside the range of X."""
    q10, q50, q90 = np.quantile(X, [0.1, 0.5, 0.9], axis=0, method="inverted_cdf")
    reach = 5 * (q90 - q10)
    unit = np.clip(X, q50 - reach, q50 + reach).std(axis=0)
    away = np.maximum(X.min(axis=0) - new, new - X.max(axis=0)).clip(0)
    return gain * (np.minimum(away / unit, 3) ** 2).sum(axis=1)


def distances(X, new, W, c, *, n_init, n_levels=2, ridge=1.0, alpha=0.1, box=10.0):
    """Learn X, judge new rows: the whole of it, for continuous columns and more than 200 rows."""
    mu, sigma = X[:n_init].mean(axis=0), X[:n_init].std(axis=0, ddof=1)
    Z, Z_new = (X - mu) / sigma, (new - mu) / sigma
    gauss = rank_gauss(Z[:n_init])
    Phi, phi = (features(Z[:n_init], z, W, c, n_levels, gauss) for z in (Z, Z_new))
    unseen, score = left_out(Phi, ridge), scores(Phi, phi, ridge)
    if box:
        typical = np.quantile(unseen, 0.5, method="inverted_cdf")
        unseen = unseen / typical + [gaps_to_next(X, x, box) for x in X]
        score = score / typical + outside(X, new, box)
    unseen, place = np.sort(unseen), (len(X) + 1) * (1 - alpha)
    T = np.exp(np.interp(place, np.arange(1, len(X) + 1), np.log(unseen)))
    return score / T + (10.0 * beyond_zero(X, new) if box else 0.0)


def beyond_zero(X, new):
    """How many values of new rows have a sign that their column never has and would not have."""
    size, median = np.abs(X), np.abs(np.quantile(X, 0.5, axis=0, method="inverted_cdf"))
    skewed = (size > 2.0 * median).sum(axis=0) >= 4
    ends = skewed | ~(size > 1.75 * median).any(axis=0)
    positive, negative = (X >= 0.0).all(axis=0) & ends, (X <= 0.0).all(axis=0) & ends
    return (((new < 0.0) & positive) | ((new > 0.0) & negative)).sum(axis=1)


def gaps_to_next(X, x, gain):
    """What a learned row that is outermost would add without itself; units are those with it."""
    others = X[(x != X).any(axis=1)]
    low, high = others.min(axis=0), others.max(axis=0)
    beyond = np.where(x < low, low, np.where(x > high, high, x))  # the nearest other value
    inside, moved = np.median(X, axis=0), np.median(X, axis=0)
    moved = np.where(x < low, X.min(axis=0) - (beyond - x), moved)
    moved = np.where(x > high, X.max(axis=0) + (x - beyond), moved)
    assert outside(X, inside[None], gain) == 0
    return outside(X, moved[None], gain)[0]

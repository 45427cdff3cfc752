"""How creases are drawn: through rows and between rows, along all columns or a few."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats

# How often a pair is drawn again because its two rows are the same.
_ATTEMPTS = 32


class Drawer:
    """Draws rows by their weight, whatever order they are in."""

    def __init__(self, Z: Floats, weights: Floats, random: np.random.RandomState) -> None:
        # Along a random line equal rows are neighbours: a row of weight 2 is the row twice. Summed
        # column by column, because BLAS would round equal rows differently.
        place = np.zeros(len(Z))
        steps = random.standard_normal((Z.shape[1],))
        for column, step in zip(Z.T, steps, strict=True):
            place += column * step
        order = np.argsort(place, kind="stable")
        self.Z, self.random, self._order = Z, random, order
        self._up_to = np.cumsum(weights[order])

    def rows(self, n: int) -> Floats:
        """Return `n` random rows, one may come twice."""
        at = np.searchsorted(self._up_to, self.random.random_sample(n) * self._up_to[-1], "right")
        chosen: Floats = self.Z[self._order[np.minimum(at, len(self._order) - 1)]]
        return chosen

    def among(self, Z: Floats) -> Drawer:
        """Return one that draws the same rows in another form."""
        other = object.__new__(Drawer)
        other.__dict__.update(vars(self), Z=Z)
        return other


def dense(drawer: Drawer, n_creases: int) -> tuple[Floats, Floats]:
    """Draw half of the creases through rows, half between rows; return directions and offsets."""
    through = n_creases // 2
    directions = drawer.random.standard_normal((n_creases, drawer.Z.shape[1]))
    points = drawer.rows(n_creases)
    a, b = points[through:].copy(), drawer.rows(n_creases - through)
    for _ in range(_ATTEMPTS):
        same = (a == b).all(axis=1)
        a[same], b[same] = drawer.rows(same.sum()), drawer.rows(same.sum())
    apart = (a != b).any(axis=1)  # rows that are nearly all the same keep a direction through them
    directions[through:][apart] = (a - b)[apart]
    points[through:] = (a + b) / 2.0
    return _unit(directions, points)


def sparse(drawer: Drawer, n_creases: int) -> tuple[Floats, Floats]:
    """Draw creases in the same way, each along a few random columns only.

    How many is log-uniform from one to all.
    """
    random, d = drawer.random, drawer.Z.shape[1]
    k = np.minimum(d, np.exp(random.uniform(0.0, np.log(d + 1.0), n_creases)).astype(np.int64))
    rank = random.random_sample((n_creases, d)).argsort(axis=1).argsort(axis=1)
    used = rank < k[:, None]
    through = n_creases // 2
    directions = random.standard_normal((n_creases, d))
    points = drawer.rows(n_creases)
    a, b = points[through:].copy(), drawer.rows(n_creases - through)
    apart = (used[through:] & (a != b)).any(axis=1)
    directions[through:][apart] = (a - b)[apart]
    points[through:][apart] = (a + b)[apart] / 2.0
    return _unit(np.where(used, directions, 0.0), points)


def of_four_kinds(plain: Drawer, bent: Drawer, n_creases: int) -> tuple[Floats, Floats]:
    """Draw a quarter of the creases of each kind: dense and sparse, among plain and bent rows."""
    there = n_creases // 2
    here = n_creases - there
    kinds = [
        dense(plain, here - here // 2),
        sparse(plain, here // 2),
        dense(bent, there - there // 2),
        sparse(bent, there // 2),
    ]
    directions, offsets = zip(*kinds, strict=True)
    return np.concatenate(directions), np.concatenate(offsets)


def _unit(directions: Floats, points: Floats) -> tuple[Floats, Floats]:
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions, np.einsum("ij,ij->i", directions, points)

"""From a kernel to explicit features, by way of reference rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats
from refold.peers._base import read_rows
from refold.peers._blocks import by_rows
from refold.peers._kernel import rbf

# Directions of the centred kernel below this eigenvalue are noise.
SMALLEST_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class KernelMap:
    """Features whose inner products are those of the kernel, centred on the reference rows."""

    reference: Floats
    gamma: float
    row_means: Floats
    eigenvalues: Floats
    projection: Floats

    def __call__(self, X: Floats) -> Floats:
        """Return the features of rows."""
        return (rbf(X, self.reference, self.gamma) - self.row_means) @ self.projection


def learn_map(reference: Floats, gamma: float) -> KernelMap:
    """Decompose the centred kernel of the reference rows, largest eigenvalue first.

    Where no eigenvalue is large enough the space has no dimension, which no table can have; one
    column of zeros stands for it. All rows are then at the centre of a sphere without radius, and
    because only rows strictly inside are normal, all are outliers.
    """
    K = rbf(reference, reference, gamma)
    row_means = K.mean(axis=1)
    K -= row_means
    K -= K.mean(axis=1)[:, None]
    eigenvalues, vectors = eigh(K, overwrite_a=True)
    kept = eigenvalues >= SMALLEST_EIGENVALUE
    eigenvalues, vectors = eigenvalues[kept][::-1], vectors[:, kept][:, ::-1]
    vectors = vectors - vectors.mean(axis=0)
    projection = vectors / np.sqrt(eigenvalues)
    if eigenvalues.size == 0:
        projection = np.zeros((reference.shape[0], 1))
    return KernelMap(reference, gamma, row_means, eigenvalues, np.ascontiguousarray(projection))


class KernelMapper(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer to the features of a kernel map."""

    gamma: float

    def _learn(self, reference: Floats) -> Self:
        self._map = learn_map(reference, self.gamma)
        self.eigenvalues_ = self._map.eigenvalues
        return self

    def transform(self, X: Array) -> Floats:
        """Return the features of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to map.

        Returns
        -------
        ndarray of shape (n, n_kept)
        """
        check_is_fitted(self)
        return by_rows(self._map, read_rows(self, X, reset=False))

    @property
    def _n_features_out(self) -> int:
        return int(self._map.projection.shape[1])

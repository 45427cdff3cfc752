"""The paper's Algorithm 1 as one would write it in NumPy."""

import numpy as np

from benchmarks.adapters import Method

N_ITER = 101


def fit(X):
    levels = []
    for j in range(N_ITER):
        if j > 0:
            X = np.abs(X)
        mean, std = X.mean(axis=0), X.std(axis=0, ddof=1)
        levels.append((mean, std))
        X = (X - mean) / std
    return levels


def score(levels, X):
    for j, (mean, std) in enumerate(levels):
        if j > 0:
            X = np.abs(X)
        X = (X - mean) / std
    return -np.abs(X).mean(axis=1)


def make():
    return Method("NumPy, Algorithm 1", fit, score)

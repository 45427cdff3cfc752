"""Reading a table once: what a single pass over it cannot be faster than."""

from benchmarks.adapters import Method


def make():
    return Method("NumPy, X.sum(axis=0)", lambda X: X.sum(axis=0), lambda sums, X: X.sum(axis=1))

"""Texts: their shapes, characters and hashes."""

from __future__ import annotations

import numpy as np

from refold._typing import Integers
from refold.algorithm.kernels import _kernels
from refold.algorithm.kernels._kernels import ASCII
from refold.algorithm.kernels.loop_arrays import contiguous


def shapes(texts: list[str], *, collapsed: bool, looked_at: int) -> tuple[Integers, list[str]]:
    """Return which shape each text has, -1 if it is not ASCII, and the different shapes."""
    codes = np.empty(len(texts), dtype=np.int64)
    return codes, _kernels.shapes(texts, collapsed, looked_at, codes)


def characters(texts: list[str], counts: Integers, *, looked_at: int) -> tuple[Integers, list[int]]:
    """Return how many rows have each ASCII character, and which texts have others too.

    Those are not counted.
    """
    rows_with = np.empty(ASCII, dtype=np.int64)
    others = _kernels.characters(texts, contiguous(counts, np.int64), looked_at, rows_with)
    return rows_with, others


def rarest(texts: list[str], rows_with: Integers, *, looked_at: int) -> Integers:
    """Return how many rows have the rarest character of each text, -1 if it is not ASCII."""
    out = np.empty(len(texts), dtype=np.int64)
    _kernels.rarest(texts, contiguous(rows_with, np.int64), looked_at, out)
    return out


def hashes(texts: list[str]) -> Integers:
    """Return 63 bits of each text, the same on every machine."""
    out = np.empty(len(texts), dtype=np.int64)
    _kernels.hashes(texts, out)
    return out

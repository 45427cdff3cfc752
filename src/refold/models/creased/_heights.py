"""How many rows a product needs so that each gets the bits that it would get among many.

BLAS sums in an order that depends on the shapes of the matrices, never on what is in them. So a
height at which some rows come out as they do in a full block is one for all rows: it is tried once
for each shape. A row alone then takes a tenth of the time of a block.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Protocol

import numpy as np

from refold._typing import Floats

# Rows at once. With 512 BLAS is a few hundredths faster, but the last block is filled up.
BLOCK = 128
# One row alone is no matrix: NumPy takes another function for it.
_LEAST = 2
# Numbers that an operand is made of; a prime, so that its rows differ.
_DIFFERENT = 4099


class Product(Hashable, Protocol):
    """A product of some shape; a frozen dataclass, so that it is known again."""

    def __call__(self, rows: int) -> Floats:
        """Return what comes of the first so many rows of a block, always the same one."""


def operand(*shape: int) -> Floats:
    """Return a matrix for trying, in which every sum is rounded."""
    numbers = np.random.RandomState(0).random_sample(_DIFFERENT) - 0.5
    return np.resize(numbers, shape)


def least_height(rows: int, *products: Product) -> int:
    """Return how many rows a block of so many must be filled up to."""
    height = max(_LEAST, 1 << (rows - 1).bit_length())
    while height < BLOCK and not all(_agrees(product, height) for product in products):
        height *= 2
    return min(height, BLOCK)


@lru_cache(maxsize=256)
def _agrees(product: Product, height: int) -> bool:
    return np.array_equal(product(height), product(BLOCK)[:height])

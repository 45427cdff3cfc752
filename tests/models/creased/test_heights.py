"""A block is filled up to a height at which rows get the bits they get among many."""

from dataclasses import dataclass

import numpy as np
import pytest

from refold.models.creased._heights import BLOCK, least_height, operand


@dataclass(frozen=True)
class Picky:
    """A product that rounds otherwise below a height."""

    below: int

    def __call__(self, rows):
        return operand(BLOCK, 3)[:rows] + (1e-12 if rows < self.below else 0.0)


@pytest.mark.parametrize(
    ("rows", "below", "height"),
    [(1, 0, 2), (1, 3, 4), (1, 16, 16), (3, 0, 4), (16, 0, 16), (17, 0, 32), (5, 16, 16)],
)
def test_the_least_height_that_agrees_is_found(rows, below, height):
    assert least_height(rows, Picky(below)) == height
    assert least_height(rows, Picky(0), Picky(below)) == height


@pytest.mark.parametrize("rows", [1, 60, 65, 128, 129, 10_000])
def test_where_none_agrees_or_rows_are_many_it_is_a_whole_block(rows):
    assert least_height(rows, Picky(BLOCK)) == BLOCK


def test_a_shape_is_tried_once():
    tried = []

    @dataclass(frozen=True)
    class Counted:
        def __call__(self, rows):
            tried.append(rows)
            return operand(rows, 2)

    for _ in range(5):
        least_height(3, Counted())
    assert len(tried) == 2


def test_operands_are_always_the_same_and_full_of_different_numbers():
    one, other = operand(128, 60), operand(128, 60)
    np.testing.assert_array_equal(one, other)
    assert len(np.unique(one)) > 4000
    assert len(np.unique(one, axis=0)) == 128

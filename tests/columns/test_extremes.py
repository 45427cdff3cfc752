"""The outermost values of columns."""

import numpy as np
import pytest

from refold.columns.extremes import extremes_of


@pytest.mark.parametrize(
    ("column", "alone"),
    [
        ([-1.0, 1.0, 2.0], -1.0),
        ([-1.0, 0.0, 2.0], -1.0),
        ([-1.0, -1.0, 2.0, 3.0], 0.0),  # two rows have it
        ([-2.0, -1.0, 2.0, 3.0], 0.0),
        ([-3.0, -2.0, 1.0], 1.0),
        ([-3.0, 0.0, 1.0], -3.0),
        ([-3.0, -2.0, 1.0, 1.0], 0.0),
        ([1.0, 2.0], 0.0),
        ([-1.0], 0.0),
    ],
)
def test_the_only_row_of_another_sign(column, alone):
    assert extremes_of(np.array(column)[:, None], None)[0].alone_beyond_zero == alone

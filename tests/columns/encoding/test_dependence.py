"""A cell beside another one, against the surprise of each slice by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.encoding.dependence import N_CODES, NONE, ContingencyTable
from refold.columns.encoding.surprise import Surprise

codes = st.integers(0, 5) | st.just(NONE)


@pytest.mark.parametrize(
    ("attribute", "left_out"),
    [
        ("surprise", False),
        ("surprise_left_out", True),
        ("surprise_left_out_exactly", "exactly"),
    ],
)
@given(st.lists(st.tuples(codes, codes), min_size=1, max_size=80), st.integers(1, 12))
def test_a_code_surprises_as_it_does_in_a_column_of_its_slice_alone(
    attribute, left_out, pairs, times
):
    beside, own = np.array(pairs[:1] * times + pairs).T
    slices = ContingencyTable.of(beside, own)
    found = getattr(slices, attribute)
    for code in range(N_CODES):
        counts = slices.counts[code]
        alone = np.zeros(N_CODES)
        if counts.sum() > bool(left_out):
            alone = Surprise.of_counts(counts).of_rows(counts, left_out=left_out)
        np.testing.assert_array_equal(found[code], alone)

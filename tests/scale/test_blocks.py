"""The blocks of a table: how large, and for whom."""

import numpy as np
import pytest

from refold.columns.table import Table
from refold.models.parts import FirstPass
from refold.scale.blocks import BlockParts, rows_at_once
from refold.tabular.block import Block


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("rows", [3000, 200_000, 10**8])
def test_every_thread_has_some_of_a_table(rows, known):
    """Or a model that takes long for each row would be learned by one of them."""
    asked = []

    def read(at_once):
        asked.append(at_once)
        yield Block(1, {}, 2, str, "a.csv"), lambda: Table.of_numbers("abcdef", np.ones((6, 2)))

    parts = BlockParts(read, "abcdef", rows=rows if known else None, n_jobs=2, show=False)
    parts.added_up(FirstPass(10))
    assert asked[0] == (min(max(rows // 8, 4096), 2**18) if known else rows_at_once(6))

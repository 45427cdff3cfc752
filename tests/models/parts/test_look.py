"""What is counted of the parts of a table: no part sends more rows than will be kept."""

from functools import reduce

import numpy as np
import pytest

from refold.columns.encoding.plan import Plan
from refold.columns.table import Table
from refold.models.detector.learned import SIZE
from refold.models.draws import draws
from refold.models.parts.drawn import _SEED, HeldOut, enough
from refold.models.parts.passes import FirstPass, PiecewisePass, TableCount, TableTotals


def test_the_rows_kept_of_parts_are_those_kept_of_all_rows():
    rows, part = 3 * SIZE, SIZE // 2
    table = Table.of_numbers(["place"], [np.arange(rows, dtype=float)])
    plan, _ = Plan.of(table.head(100), {})
    held = HeldOut(0.1)
    count = TableCount(plan, 5, enough(SIZE, int(held.kept(0, rows).sum())), held, None)
    parts = [count(table.take(np.arange(k, k + part)), k) for k in range(0, rows, part)]
    assert max(len(each.sample.keys) for each in parts) < part / 2
    found = reduce(TableTotals.plus, parts).sample
    keys = np.where(held.kept(0, rows), draws(5, 0, rows), 2.0)
    chosen = np.sort(np.argsort(keys)[:SIZE])
    assert found.rows is not None
    assert found.rows["place"].values.tolist() == chosen.tolist()


@pytest.mark.parametrize("apart", [True, False])
def test_of_a_part_in_pieces_every_row_is_drawn_or_in_the_sketch(apart):
    rows, piece = 3000, 400
    table = Table.of_numbers(["place"], [np.arange(rows, dtype=float)])
    looking = PiecewisePass(FirstPass(500, 8192, apart), 1)
    for first in range(0, rows, piece):
        looking.add(table.take(np.arange(first, min(first + piece, rows))), first)
    found, whole = looking.found(), FirstPass(500, 8192, apart)(table, 0)
    wanted = np.argsort(draws(_SEED, 0, rows))[:500]
    for each in (found, whole):
        drawn = Table.concat(each.drawn.chunks)["place"].values.astype(int)
        assert set(wanted) <= set(drawn)
        left = np.delete(np.arange(rows), drawn) if apart else np.arange(rows)
        [histogram] = each.rest.histograms
        assert histogram.rows == len(left)
        assert histogram.high == left.max()

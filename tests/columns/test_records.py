"""Rows as mappings become columns, never many more cells than were given."""

import pytest

from refold.base.errors import UserError
from refold.columns.records import DEEPEST, columns_of_records, flat_records, refuse_sparse


def nested(depth):
    return {"a": nested(depth - 1)} if depth else {"b": 1}


def test_records_are_flat_columns():
    assert flat_records([nested(DEEPEST)]) == [{"a." * DEEPEST + "b": 1}]
    with pytest.raises(UserError, match="Row 7: objects are nested more than 32 deep"):
        flat_records([{}] * 6 + [nested(DEEPEST + 1)])
    with pytest.raises(UserError, match=r"Row 1: the column 'a.b' appears twice"):
        flat_records([{"a": {"b": 1}, "a.b": 2}])
    records = [{"a": 1, "b": 2}, {"b": 3, "c": 4}]
    assert columns_of_records(records, ["c"]) == {"a": [1, None], "b": [2, 3]}
    refuse_sparse(64, 100, 100, few=10)
    for rows, columns, values, few in ((65, 100, 100, 10), (11, 1, 0, 10)):
        with pytest.raises(UserError, match="cells, of which"):
            refuse_sparse(rows, columns, values, few)
    refuse_sparse(10, 1, 0, few=10)


def test_a_million_cells_may_be_missing():
    refuse_sparse(2**10, 2**10, 0)
    with pytest.raises(UserError, match="1,049,600 cells, of which 0 have a value"):
        refuse_sparse(2**10, 2**10 + 1, 0)

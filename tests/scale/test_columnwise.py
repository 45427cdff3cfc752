"""Columns that are read apart give the model of rows that are read together."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold import REF, scale
from refold.columns.table import NumberColumn, Table
from refold.models.parts import FirstPass
from refold.scale._columnwise import ColumnParts
from refold.tabular import InputError
from refold.tabular.block import Block
from refold.tabular.files import Files


@pytest.fixture
def source(rows, names, tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table([*rows.T], names=names), file, row_group_size=700)
    return file


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("alpha", [None, 0.05])
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
def test_the_model_is_that_of_rows_read_together(
    alpha, n_jobs, source, rows, names, monkeypatch, assert_same_model
):
    model = scale.learn(source, REF(alpha=alpha, n_jobs=n_jobs))
    monkeypatch.setattr(Files, "by_column", False, raising=False)
    monkeypatch.setattr("refold.tabular.arrow_table.ParquetTable.by_column", False)
    together = scale.learn(source, REF(alpha=alpha))
    known = pd.DataFrame(rows, columns=names).dropna(how="all")
    assert_same_model(model, together, known)
    assert model.threshold_ == pytest.approx(together.threshold_, rel=1e-12)
    assert model.sketch_.rows == len(rows) - (500 if alpha else 0)


@pytest.mark.usefixtures("in_parts")
def test_the_model_does_not_depend_on_the_number_of_threads(source, rows, names):
    one, many = (scale.learn(source, REF(alpha=0.05, n_jobs=n)) for n in (1, 4))
    known = pd.DataFrame(rows, columns=names).dropna(how="all")
    np.testing.assert_array_equal(one.score_samples(known), many.score_samples(known))


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("alpha", [None, 0.05])
def test_infinity_is_said_where_it_is(alpha, rows, names, tmp_path):
    rows[4321, 3] = np.inf
    pq.write_table(pa.table([*rows.T], names=names), tmp_path / "a.parquet", row_group_size=700)
    with pytest.raises(InputError, match=r"a\.parquet, row 4322, column 'level': inf is not"):
        scale.learn(tmp_path / "a.parquet", REF(alpha=alpha))


def test_columns_with_other_numbers_of_rows_are_refused():
    def read(names, _):
        rows = 5 if "a" in names else 4
        block = Block(1, {}, rows, str, "a.parquet")
        yield block, lambda: Table([*names], [NumberColumn(np.arange(1.0 * rows))], rows)

    parts = ColumnParts(read, ["a", "b"], rows=None, n_jobs=2, show=False)
    with pytest.raises(InputError, match=r"Some columns had 5 rows and others 4: files must not"):
        parts.added_up(FirstPass(10, 8192))

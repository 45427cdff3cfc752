"""What a user calls missing is missing, in every format."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from refold.tabular import open_table, read_arrow
from tests.tabular.numbers import read_numbers

MISSING = ["-999", "n.d."]


def test_words_and_numbers_in_text(tmp_path):
    cells = ["-999", "-999.0", "-999,00", " N.D. ", "-9990", "-99", "n.d", "999", "-0999", "-999.5"]
    (tmp_path / "t").write_text("a;b\n" + "".join(f"{cell};1\n" for cell in cells))
    with open_table(tmp_path / "t", missing=MISSING) as table:
        found = read_arrow(table)["a"].to_pylist()
    assert found == [None] * 4 + ["-9990", "-99", "n.d", "999", None, "-999.5"]


@pytest.mark.parametrize("form", ["csv", "parquet", "json", "xlsx"])
def test_the_same_numbers_are_left_whatever_the_format(tmp_path, form):
    columns = {"x": [1.5, -999.0, 2.5], "n": [-999, 4, 5], "s": ["7", "n.d.", "8"]}
    file = tmp_path / "t"
    if form == "csv":
        rows = zip(*columns.values(), strict=True)
        file.write_text("x,n,s\n" + "".join(f"{x},{n},{s}\n" for x, n, s in rows))
    elif form == "parquet":
        pq.write_table(pa.table(columns), file)
    elif form == "json":
        file.write_text(json.dumps(columns))
    else:
        with xlsxwriter.Workbook(file) as book:
            sheet = book.add_worksheet()
            for k, (name, cells) in enumerate(columns.items()):
                sheet.write_column(0, k, [name, *cells])
    with open_table(file, missing=MISSING) as table:
        found = read_numbers(table)
    nan = float("nan")
    np.testing.assert_array_equal(found.X, [[1.5, nan, 7], [nan, 4, nan], [2.5, 5, 8]])

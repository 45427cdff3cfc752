"""Arrow's decoding and our own careful reader: the same numbers, the same errors."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.text_cells import MISSING_WORDS
from refold.tabular import Column, InputError, open_table, text
from refold.tabular.plain import PlainReader
from tests.tables import OTHERS, PACKAGED, of_tables, real_table
from tests.tabular.numbers import read_numbers

# All but the mushrooms, which have no column of numbers.
TABLES = [name for name in (*PACKAGED, *OTHERS) if "mushroom" not in name]


def as_numbers(file, **how):
    """All columns as numbers, or what is wrong."""
    try:
        with open_table(file, **how) as table:
            columns = [Column(name) for name in table.names]
            blocks = table.blocks(numbers=table.names)
            parts = [[column.numbers(block) for column in columns] for block in blocks]
            rows = [np.concatenate(part) for part in zip(*parts, strict=True)]
    except InputError as error:
        return str(error)
    return [column.tolist() for column in rows]


def carefully(read, *arguments, **keywords):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainReader, "read", lambda self, text: None)
        return read(*arguments, **keywords)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("two") / "t.csv"


number = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["1.", ".5", "+2", "1E5", "007", " 3", "4 ", "\t5", "\u00a06"]),
)
missing = st.sampled_from(sorted(MISSING_WORDS)).flatmap(
    lambda word: st.sampled_from([word, word.upper(), word.title(), f" {word}"])
)
odd = st.sampled_from(
    ["x", "inf", "-inf", "-nan", "nan(x)", "1e400", "0x10", "1_0", "5%", "1,5", "true", "False"]
)
mostly = st.one_of(*[number] * 6, *[missing] * 3, odd)
clean = st.one_of(number, missing)
rows = st.one_of(
    st.lists(st.tuples(clean, clean), min_size=1, max_size=20),
    st.lists(st.tuples(mostly, mostly), min_size=1, max_size=20),
    st.lists(st.tuples(st.sampled_from(["true", "FALSE", "", "1"]), clean), min_size=1),
)


@given(rows, st.sampled_from(",;\t|"), st.sampled_from(".,"), st.data())
def test_numbers_and_errors_do_not_depend_on_the_way(file, rows, delimiter, decimal, data):
    lines = ["one" + delimiter + "two"]
    for row in rows:
        cells = [cell.replace(".", decimal) for cell in row]
        quote = [delimiter in cell or data.draw(st.integers(0, 9)) == 0 for cell in cells]
        cells = [f'"{c}"' if q else c for c, q in zip(cells, quote, strict=True)]
        lines.append(delimiter.join(cells))
        lines += [""] * (data.draw(st.integers(0, 9)) == 0)
    file.write_text("\n".join(lines) + data.draw(st.sampled_from(["", "\n"])), newline="")
    how = {"delimiter": delimiter, "decimal": decimal}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", data.draw(st.sampled_from([9, 40, 2**22])))
        np.testing.assert_equal(as_numbers(file, **how), carefully(as_numbers, file, **how))


cell = st.text('"\n,; a', max_size=5)


@given(st.lists(st.tuples(cell, cell), max_size=12), st.integers(3, 40))
def test_cells_and_errors_do_not_depend_on_the_way_however_quotes_stand(file, rows, block):
    """Lines as they come, most of them not written by any CSV writer."""
    file.write_text("one,two\n" + "".join(f"{a},{b}\n" for a, b in rows), newline="")

    def texts():
        try:
            with open_table(file, delimiter=",") as table:
                blocks = [[column_texts(c) for c in b.columns.values()] for b in table.blocks()]
                return [row for block in blocks for row in zip(*block, strict=True)]
        except InputError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        assert texts() == carefully(texts)


def column_texts(column):
    # Python's reader leaves out the spaces before a cell.
    return [cell.lstrip(" ") for cell in column.to_pylist()]


def test_a_column_that_turns_odd_is_read_on(file, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 2**10)
    cells = [["1.5"] * 900, ["true"] * 900, ["7"] * 900, [""] * 900]
    cells[0][500], cells[2][600] = "\u00a02", " NA "
    cells[3][700] = "FALSE"
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    file.write_text("a,b,c,d\n" + "\n".join(lines) + "\n")
    found = as_numbers(file)
    assert (found[0][500], found[1][0], found[3][700]) == (2.0, 1.0, 0.0)
    assert np.flatnonzero(np.isnan(found[2])).tolist() == [600]
    np.testing.assert_equal(found, carefully(as_numbers, file))


def test_truth_and_numbers_are_not_mixed_whatever_came_as_numbers(file, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 64)
    for before, after, said in [
        ("1", "true", "line 101, column 'a': 'true' is not a number."),
        ("true", "1", "line 101, column 'a': '1' is neither true nor false, as the cells before"),
    ]:
        file.write_text("a,b\n" + f"{before},1\n" * 99 + f"{after},1\n")
        assert said in as_numbers(file)
        assert as_numbers(file) == carefully(as_numbers, file)


@pytest.mark.parametrize("name", of_tables(*TABLES))
def test_real_tables_are_read_as_pandas_reads_them(name):
    table = real_table(name)

    def read():
        with open_table(table) as opened:
            return read_numbers(opened, ignore_text=True)

    found, careful = read(), carefully(read)
    assert (found.names, found.ignored) == (careful.names, careful.ignored)
    np.testing.assert_array_equal(found.X, careful.X)
    words = [word for word in MISSING_WORDS if word] + ["NA", "?"]
    frame = pd.read_csv(table, dtype=str, na_values=words)[found.names]
    truth = {"true": "1", "false": "0"}
    expected = frame.map(lambda cell: float(truth.get(str(cell).lower(), cell)))
    np.testing.assert_array_equal(found.X, expected)


def test_plain_text_is_decoded_by_arrow(file, monkeypatch):
    """The careful reader is for what needs it: neither words for missing values nor quotes do."""
    monkeypatch.setattr("refold.tabular.delimited.DelimitedTable._careful_block", None)
    lines = [f'{k};"said ""{k}"", loud";{k},5;{"?" if k % 7 == 0 else k}' for k in range(1, 200)]
    content = "\r\n".join(["n;text;half;holes", *lines, ""])
    file.write_bytes(content.encode())
    packed = file.with_suffix(".gz")
    packed.write_bytes(gzip.compress(content.encode()))
    for path in (file, packed):
        with open_table(path) as table:
            (block,) = table.blocks(numbers=["n", "half", "holes"])
        assert block.columns["text"][3].as_py() == 'said "4", loud'
        assert str(block.columns["half"].type) == "double"
        assert block.columns["holes"].null_count == 28
    packed.unlink()

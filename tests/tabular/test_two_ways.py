"""Arrow's decoding and our own careful reader: the same numbers, the same errors."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Detector, scale
from refold.columns.missing import MISSING_WORDS
from refold.tabular import InputError, _lines, open_table
from refold.tabular._csv_arrow import ArrowCsvReader
from refold.tabular.features import Column
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
        patch.setattr(ArrowCsvReader, "read", lambda self, text: None)
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
        patch.setattr(_lines, "BLOCK", data.draw(st.sampled_from([9, 40, 2**22])))
        np.testing.assert_equal(as_numbers(file, **how), carefully(as_numbers, file, **how))


def as_texts(file, **how):
    """All cells with their places, or what is wrong."""
    try:
        with open_table(file, totals=False, **how) as table:
            rows = []
            for block in table.blocks():
                cells = zip(*(c.to_pylist() for c in block.columns.values()), strict=True)
                rows += [(block.where(k), *row) for k, row in enumerate(cells)]
            return rows
    except InputError as error:
        return str(error)


piece = st.sampled_from(['"', '""', '"""', "\n", "\r\n", "\r", ",", ";", " ", "a", "ä", "NA", "1"])
quoted = st.text('a"\n,; ', max_size=5).map(lambda text: '"' + text.replace('"', '""') + '"')
written_cell = st.one_of(quoted, quoted.map(" {}".format), st.text("ab 1.,;", max_size=4))
record = st.lists(written_cell, min_size=1, max_size=4)


@given(
    st.one_of(
        st.lists(piece, max_size=40).map("".join),  # most of it not written by any CSV writer
        st.lists(record, max_size=12).map(lambda rows: "\n".join(map(",".join, rows))),
    ),
    st.sampled_from(["a,b", "a", '"a\nb",c', "\ufeffa,b", "a;b"]),
    st.integers(3, 60),
)
def test_a_file_means_the_same_whoever_reads_it(file, body, header, block):
    file.write_text(f"{header}\n{body}", newline="")
    delimiter = ";" if ";" in header else ","
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "BLOCK", block)
        found = as_texts(file, delimiter=delimiter)
        assert found == carefully(as_texts, file, delimiter=delimiter)


@given(st.lists(st.tuples(*[st.text('"\n,; aä1', max_size=5)] * 3), max_size=9), st.data())
def test_cells_are_those_of_pythons_reader(file, rows, data):
    """An oracle that is not ours, for what any writer of CSV writes."""
    sink = io.StringIO(newline="")
    how = {"delimiter": data.draw(st.sampled_from(",;\t|")), "lineterminator": "\r\n"}
    csv.writer(sink, **how).writerows([("one", "two", "three"), *rows])
    file.write_text(sink.getvalue(), newline="", encoding=data.draw(st.sampled_from(ENCODINGS)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "BLOCK", data.draw(st.sampled_from([4, 40, 2**22])))
        found = as_texts(file, delimiter=how["delimiter"])
    assert [row[1:] for row in found] == rows


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16"]


@given(st.lists(record, min_size=1, max_size=6), st.lists(record, min_size=1, max_size=2))
def test_further_rows_never_change_the_cells_of_others(file, rows, further):
    width = len(rows[0])
    rows = [[*row, *[""] * width][:width] for row in rows]
    further = [[*row, *[""] * width][:width] for row in further]
    header = ",".join(f"c{k}" for k in range(width))
    file.write_text("\n".join([header, *map(",".join, rows)]) + "\n", newline="")
    alone = as_texts(file, delimiter=",")
    with file.open("a", newline="") as appended:
        appended.write("\n".join(map(",".join, further)) + "\n")
    together = as_texts(file, delimiter=",")
    if not isinstance(alone, str) and not isinstance(together, str):
        assert together[: len(alone)] == alone


def test_a_quoted_line_break_does_not_take_the_spaces_from_other_rows(file):
    """`` red`` was ``red`` as soon as another row had a line break in quotes."""
    file.write_text("x,c\n0.1, red\n")
    assert as_texts(file) == [("line 2", "0.1", " red")]
    file.write_text('x,c\n0.1, red\n0.2,"blue\n"\n0.3, "a, b"\n0.4,5" pipe\n')
    rows = [("0.1", " red"), ("0.2", "blue\n"), ("0.3", "a, b"), ("0.4", '5" pipe')]
    assert [row[1:] for row in as_texts(file)] == rows


def test_a_further_row_never_changes_the_verdict_on_another(file):
    rng = np.random.default_rng(0)
    colors = rng.choice(["red", "green", "blue"], 200)
    learned = pd.DataFrame({"x": rng.normal(size=200).round(3), "c": colors})
    model = Detector().fit(learned)
    lines = ["0.1, red", "0.1,red", '0.1,"red"', '0.1, "red"', "0.2,green "]

    def verdicts(rows):
        file.write_text("x,c\n" + "\n".join(rows) + "\n", newline="")
        scored = scale.score(model, file, progress=False)
        return next(iter(scored)).to_pydict()

    alone = verdicts(lines)
    assert alone["c"][:4] == [" red", "red", "red", "red"]
    for further in ['0.2,"blue\n"', '0.2,5" pipe', '0.2, "a, b"', "", '9,""']:
        together = verdicts([*lines, further])
        for name in ("c", "label", "distance"):
            assert together[name][: len(lines)] == alone[name]


def test_line_breaks_in_quotes_are_decoded_by_arrow_across_blocks(file, monkeypatch):
    monkeypatch.setattr("refold.tabular.csv_table.CsvTable._careful_block", None)
    rows = [(str(k), "first\n\nsecond, " * (k % 9), "x") for k in range(300)]
    with file.open("w", newline="") as sink:
        csv.writer(sink).writerows([("n", "said", "x"), *rows])
    monkeypatch.setattr(_lines, "BLOCK", 700)
    found = as_texts(file)
    assert [row[1:] for row in found] == rows
    lines = file.read_text().split("\n")
    assert all(lines[int(row[0].split()[1]) - 1].startswith(f"{row[1]},") for row in found)


def test_a_column_that_turns_odd_is_read_on(file, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 2**10)
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
    monkeypatch.setattr(_lines, "BLOCK", 64)
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
    monkeypatch.setattr("refold.tabular.csv_table.CsvTable._careful_block", None)
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

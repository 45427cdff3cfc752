"""JSON in the forms that people have, and what is none."""

from __future__ import annotations

import io
import json
import signal
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refold
from refold import Detector
from refold.base.errors import UserError
from refold.columns.missing import is_missing
from refold.judgement import Judge
from refold.judgement.reading import reader_of
from refold.tabular import InputError, TrainingSelection, json_table, open_table, read_arrow
from refold.tabular.json_table import JsonError, parse_json
from refold.tabular.table_source import ReadOptions
from tests.environment import default_signals

ROWS = [{"part": "007", "torque": 75.5, "n": 1}, {"part": "NA", "torque": 74, "n": None}]
FORMS = {
    "a list": json.dumps(ROWS),
    "a list, indented, with a mark": "\ufeff" + json.dumps(ROWS, indent=4),
    "line by line": "\n".join(map(json.dumps, ROWS)) + "\n",
    "line by line, Windows": "\r\n\r\n".join(map(json.dumps, ROWS)),
    "columns": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    "columns as pandas writes them": pd.DataFrame(ROWS).to_json(),
    "data": json.dumps({"count": 2, "data": ROWS}),
    "results": json.dumps({"page": 1, "results": ROWS}),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("json") / "t"


def read(file, content):
    file.write_text(content, encoding="utf-8", newline="")
    with open_table(file) as table:
        assert table.format == "JSON"
        return read_arrow(table)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", [3, 2**20])
def test_the_forms_of_a_table(file, form, piece, monkeypatch):
    monkeypatch.setattr(json_table, "_PIECE", piece)
    found = read(file, FORMS[form])
    assert found.to_pydict() == {"part": ["007", "NA"], "torque": [75.5, 74.0], "n": [1, None]}
    assert found.schema.types == [pa.string(), pa.float64(), pa.int64()]


scalar = st.one_of(
    st.none(), st.booleans(), st.text(max_size=5), st.floats(-9, 9), st.integers(-(10**25), 10**25)
)


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), scalar), min_size=2, max_size=9),
    st.sampled_from([1, 7, 2**20]),
    st.sampled_from([1, 3, 2**14]),
)
def test_values_are_those_of_pythons_reader(file, rows, piece, batch):
    names = list(dict.fromkeys(name for row in rows for name in row))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_table, "_PIECE", piece)
        patch.setattr(json_table, "_BATCH", batch)
        if not names:
            with pytest.raises(InputError, match="has no columns"):
                read(file, json.dumps(rows))
            return
        file.write_text(json.dumps(rows))
        with open_table(file) as table:
            columns = {name: [] for name in table.names}
            for block in table.blocks():
                for name, column in block.columns.items():
                    columns[name] += column.to_pylist()
    assert list(columns) == names
    for name, cells in columns.items():
        for cell, row in zip(cells, rows, strict=True):
            value = row.get(name)
            if isinstance(cell, str) and not isinstance(value, str):
                assert cell == str(value) or float(cell) == pytest.approx(float(value))
            elif cell is None:
                assert value is None or is_missing(value)
            else:
                assert cell == value or cell == pytest.approx(float(value))


def test_objects_within_a_row_are_columns(file):
    found = read(file, '[{"size": {"w": 1, "h": 2}}, {"size": {"w": 3}, "x": "y"}]')
    assert found.to_pydict() == {"size.w": [1, 3], "size.h": [2, None], "x": [None, "y"]}


def test_objects_within_objects_are_columns_too(file):
    found = read(file, '[{"a": {"b": {"c": 1}, "d": 2}}, {"a": {"b": {"c": 3}}}]')
    assert found.to_pydict() == {"a.b.c": [1, 3], "a.d": [2, None]}


@pytest.mark.parametrize("piece", [3, 2**20])
def test_lists_are_passed_on_but_neither_learned_nor_judged(file, piece, monkeypatch):
    monkeypatch.setattr(json_table, "_PIECE", piece)
    content = '[{"a": 1, "tags": "x"}, {"a": 2, "tags": ["y", {"z": 1}]}]'
    assert read(file, content)["tags"].to_pylist() == ["x", '["y", {"z": 1}]']
    with open_table(file) as table:
        assert TrainingSelection(ignore=["tags"]).of(table) == ["a"]
        with pytest.raises(InputError, match=r"row 2, column 'tags': a list is neither learned"):
            TrainingSelection().of(table)
    model = Detector().fit([{"tags": "xy"[k % 2], "b": k % 7} for k in range(60)])
    for content, column in (
        ('[{"tags": "x", "b": 1}, {"tags": ["x"], "b": 2}]', "tags"),
        ('[{"tags": "x", "b": 1}, {"tags": "x", "b": [2]}]', "b"),
    ):
        file.write_text(content)
        with (
            open_table(file) as table,
            pytest.raises(InputError, match=f"row 2, column '{column}': a list is neither"),
        ):
            reader_of(Judge.of(model), table)


def test_a_model_takes_records_as_it_takes_files(file):
    """Rows learned from a file are judged alike when Python or a request has them."""
    rng = np.random.default_rng(0)
    rows = [{"id": {"n": k}, "size": {"w": w}} for k, w in enumerate(rng.normal(size=60))]
    learned = read(file, json.dumps(rows))
    model = Detector().fit(learned)
    assert model.feature_names_in_.tolist() == ["id.n", "size.w"]
    odd = [*rows, {"id": {"n": 3}, "size": {"w": 99.0}}]
    np.testing.assert_array_equal(
        model.score_samples(odd), model.score_samples(read(file, json.dumps(odd)))
    )


def keys_of_their_own(n):
    return [{f"k{k}": 1} for k in range(n)]


@pytest.mark.parametrize(
    "door",
    [
        lambda file, rows: read(file, json.dumps(rows)),
        lambda file, rows: read(file, "\n".join(map(json.dumps, rows))),
        lambda file, rows: Detector().fit(rows),
        lambda file, rows: refold.check(rows),
    ],
)
def test_rows_that_share_no_keys_are_refused_before_cells_are_made(file, door):
    """8,600 rows of 11 bytes would be 74 million cells."""
    rows = keys_of_their_own(8_600)
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=r"73,960,000 cells, of which 8,600 have a value"):
            door(file, rows)
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()


def test_few_cells_may_be_sparse_and_many_may_be_missing(file):
    assert read(file, json.dumps(keys_of_their_own(500))).num_columns == 500
    rows = [dict.fromkeys(f"k{k}" for k in range(300))] * 5_000
    assert read(file, json.dumps(rows)).num_columns == 300


def test_keys_may_come_late(file):
    rows = [{"a": k} for k in range(20_000)] + [{"a": "x", "b": 1.5}]
    found = read(file, json.dumps(rows))
    assert found["a"].to_pylist()[-2:] == ["19999", "x"]
    assert found["b"].null_count == 20_000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"a": 1}, 2]', "row 2: '2' is not an object"),
        ("[[1, 2], [3, 4]]", r"row 1: '\[1, 2\]' is not an object with the names of columns"),
        ('[{"a": {"b": 1}, "a.b": 2}]', "Row 1: the column 'a.b' appears twice"),
        ('[{"z": 1}, ' + '{"a": ' * 40 + "1" + "}" * 40 + "]", "Row 2: objects are nested more"),
        (
            '[{"a": 1}, {"a": NaN}]',
            "line 1: this is not JSON: row 2, column 'a': NaN is not",
        ),
        (
            '[{"a": 1},\n {"b": {"c": -Infinity}}]',
            "line 2: .*row 2, column 'b.c': -Infinity is not",
        ),
        ('{"a": [1, NaN]}', "row 2, column 'a': NaN is not a number"),
        ('{"a": 1}\n{"b": 1, "b": 2}', "line 2: .*row 2, column 'b': the key appears twice"),
        (f'[{{"a": {"1" * 5000}}}]', "row 1, column 'a': a number has 5,000 digits"),
        ('[{"a": 1} {"a": 2}]', "a comma is missing between two rows"),
        ('[{"a": 1},]', "line 1: this is not JSON: Expecting value"),
        ('{"a": [1, 2], "b": [1]}', "its columns have 1 to 2 cells"),
        ('[{"a": 1},\n{"a": oops}]', "line 2: this is not JSON: Expecting value"),
        ('[{"a": 1}', "line 1: this is not JSON: the list does not end"),
        ('[{"a": "x', "line 1: this is not JSON: Unterminated"),
        ('[{"a": 1}] x', "something after the end"),
        ("[]", "is an empty list"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('[{"a": "\udcff"}]', "line 1: this is not JSON: this is not UTF-8"),
    ],
)
def test_what_is_no_table(file, content, problem):
    file.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=problem), open_table(file):
        pass


@pytest.mark.parametrize("depth", [10, 900, 5_000, 9_000])
@pytest.mark.parametrize(("opened", "closed"), ["[]", ('{"a": ', "}"), ('[1, {"a": ', "}]")])
def test_what_is_wrong_deep_inside_is_said_whatever_python_allows(opened, closed, depth):
    with pytest.raises(JsonError, match=r"NaN is not a number|nested too deeply"):
        parse_json(opened * depth + "NaN" + closed * depth)


def test_numbers_have_as_many_digits_as_python_is_told_to_read():
    allowed = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(1_000)
        with pytest.raises(JsonError, match="row 2, column 'a': a number has 2,000 digits"):
            parse_json(f'[{{"a": 1}}, {{"a": {"7" * 2_000}}}]')
    finally:
        sys.set_int_max_str_digits(allowed)


def test_text_that_begins_like_json_is_text(file):
    file.write_text("[Nm],[mm]\n1,2\n")
    with open_table(file) as table:
        assert table.names == ["[Nm]", "[mm]"]


def test_reading_is_ended_by_an_interrupt():
    class Endless(io.RawIOBase):
        """Rows that never end; somebody loses patience."""

        reads = 0

        def readable(self):
            return True

        def readinto(self, room):
            self.reads += 1
            if self.reads == 3:
                signal.raise_signal(signal.SIGINT)
            rows = b'{"a": 1}\n' * (len(room) // 9)
            room[: len(rows)] = rows
            return len(rows)

    with default_signals(), pytest.raises(KeyboardInterrupt):
        json_table.JsonTable(io.BufferedReader(Endless()), "t", ReadOptions())

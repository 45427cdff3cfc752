"""JSON in the forms that people have, and what is none."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.text_cells import is_missing
from refold.tabular import InputError, documents, open_table, read_arrow

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
    monkeypatch.setattr(documents, "_PIECE", piece)
    found = read(file, FORMS[form])
    assert found.to_pydict() == {"part": ["007", None], "torque": [75.5, 74.0], "n": [1, None]}
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
        patch.setattr(documents, "_PIECE", piece)
        patch.setattr(documents, "_BATCH", batch)
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
                assert cell == str(value).lower() or float(cell) == pytest.approx(float(value))
            elif cell is None:
                assert value is None or is_missing(value)
            else:
                assert cell == value or cell == pytest.approx(float(value))


def test_objects_within_a_row_are_columns(file):
    found = read(file, '[{"size": {"w": 1, "h": 2}}, {"size": {"w": 3}, "x": "y"}]')
    assert found.to_pydict() == {"size.w": [1, 3], "size.h": [2, None], "x": [None, "y"]}


def test_keys_may_come_late(file):
    rows = [{"a": k} for k in range(20_000)] + [{"a": "x", "b": 1.5}]
    found = read(file, json.dumps(rows))
    assert found["a"].to_pylist()[-2:] == ["19999", "x"]
    assert found["b"].null_count == 20_000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"a": 1}, 2]', "row 2: '2' is no object"),
        ('[{"a": [1]}, {}]', "row 1, column 'a': it holds a list"),
        ('[{"a": {"b": {"c": 1}}}]', "row 1, column 'a.b': it holds an object within an object"),
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


def test_text_that_begins_like_json_is_text(file):
    file.write_text("[Nm],[mm]\n1,2\n")
    with open_table(file) as table:
        assert table.names == ["[Nm]", "[mm]"]

"""Large bodies of JSON are read in pieces: the same rows and errors, no more than is allowed."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.service import RequestError, json_rows
from refold.service.json_rows import _Reader, rows_of_json
from refold.service.requests import JSON, NDJSON, read_rows
from refold.tabular.json_table import parse_json

CELLS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    *(st.text(max_size=5), st.lists(st.integers(), max_size=2)),
)
NAMES = st.text(max_size=3)
DOCUMENTS = st.one_of(
    st.lists(st.one_of(st.dictionaries(NAMES, CELLS), CELLS)),
    st.dictionaries(NAMES, st.one_of(CELLS, st.lists(CELLS))),
    CELLS,
)
WRONG = ["NaN", ",", "]", "}", "[", '"', ' "a": ', "1.2.3", "-", "\ufeff", " \n ", "0", "\\", "x"]


def said(read, text):
    """Return a document, or the place where it is no JSON; None of NaN and keys that come twice."""
    try:
        return repr(read(text))
    except json.JSONDecodeError as error:
        return error.pos
    except ValueError:
        return None


def in_pieces(text):
    return _Reader(text, 10**6).document()


@given(DOCUMENTS, st.booleans())
def test_a_document_in_pieces_is_the_same(document, spaced):
    text = json.dumps(document, ensure_ascii=spaced, indent=1 if spaced else None)
    assert repr(in_pieces(text)) == repr(parse_json(text))


@given(DOCUMENTS, st.sampled_from(WRONG), st.data())
def test_what_is_wrong_in_pieces_is_wrong_at_the_same_place(document, wrong, data):
    text = json.dumps(document)
    at = data.draw(st.integers(0, len(text)))
    text = text[:at] + wrong + text[at:]
    pieces, whole = said(in_pieces, text), said(parse_json, text)
    if pieces is not None:  # else what comes behind is not read
        assert pieces == whole
    else:
        assert not isinstance(whole, str)


@pytest.mark.parametrize(
    ("begin", "item", "end"),
    [
        ("[", "0,", "0]"),
        ("[", "[],", "0]"),
        ("[", '{"a":1},', "{}]"),
        ('{"a":[', "0,", "0]}"),
        ('{"a":[', "[],", "0]}"),
        ('{"a":[', '"\\u0041",', '""]}'),
        ('{"a":[', "{},", "NaN]}"),
    ],
)
def test_more_rows_than_are_allowed_are_not_made(begin, item, end):
    text = begin + item * 200_000 + end
    tracemalloc.start()
    try:
        with pytest.raises(RequestError, match="1,000 rows"):
            rows_of_json(text, 1_000, ["a"])
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("row", ['{"a":[%s0]}', '{"a":{"b":[%s0]}}', '{"a": "%s"}', "[[%s0]]"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_row_has_an_end(row, listed):
    body = (f"[{row}]" if listed else row) % ("0," * 700_000)
    tracemalloc.start()
    try:
        with pytest.raises(RequestError, match=r"1,048,576 characters|100,000 rows"):
            read_rows(body.encode(), JSON, 100_000, ["a"])
        problem = read_rows(body.encode(), NDJSON, 100_000, ["a"])[1][0]
        assert "1,048,576 characters" in problem.message
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20 + 3 * len(body)
    finally:
        tracemalloc.stop()


def test_a_row_has_as_many_columns_as_that_of_a_file():
    text = json.dumps(dict.fromkeys(map(str, range(100_001)), 0))
    with pytest.raises(RequestError, match="100,000 columns"):
        rows_of_json(text, 10, ["a"])


def test_columns_that_nobody_asks_for_make_no_rows(monkeypatch):
    monkeypatch.setattr(json_rows, "_AT_ONCE", 0)
    text = json.dumps({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    assert rows_of_json(text, 10, ["a", "x"]) == [{"a": 1}, {"a": 2}]
    assert rows_of_json(text, 10, ["x"]) == [{"a": 1, "b": 3, "c": 5}, {"a": 2, "b": 4, "c": 6}]

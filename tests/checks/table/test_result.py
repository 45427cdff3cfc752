"""Findings as a sequence, a table, plain values and a page; odd tables are no exceptions."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import Detector, Findings, check
from refold.base.findings import Finding

HOSTILE = "<script>alert(1)</script>\x1b[2J"


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=200), "gear": 5, "part": np.arange(200)})


def test_what_matters_most_comes_first_and_kinds_can_be_asked_for(table):
    table.loc[3, "a"] = 1e9
    found = check(table)
    assert found.kinds == ("absurd-cell", "running-number", "constant")
    assert found.of("constant") == (found[2],)
    assert found.of("constant", "a") == ()
    assert [each.column for each in found[:2]] == ["a", "part"]


def test_findings_are_plain_values_for_json(table):
    table.loc[3, "a"] = np.inf
    document = json.loads(json.dumps(check(table).to_dict(), allow_nan=False))
    assert (document["rows"], document["columns"]) == (200, 3)
    assert document["findings"][0]["rows"] == [3]
    assert {*document["findings"][0]} == {*Finding.__dataclass_fields__}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_findings_are_a_dataframe(table, backend):
    frame = check(table).to_frame(backend)
    assert len(frame) == 2
    assert list(frame["kind"].to_pylist() if backend == "pyarrow" else frame["kind"]) == [
        *("running-number", "constant"),
    ]
    nothing = check(table[["a"]]).to_frame(backend)
    assert len(nothing) == 0


def test_names_from_users_can_do_nothing_on_a_page_or_terminal(table):
    found = check(table.rename(columns={"gear": HOSTILE}))
    for page in (found._repr_html_(), found.to_html()):
        assert "<script>" not in page
        assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in str(found)


def test_a_page_needs_no_network(table):
    page = check(table).to_html()
    assert "http" not in page.replace("http-equiv", "")


def test_many_findings_of_a_kind_are_summed_up_and_advice_comes_once():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(300, 6)), 2, axis=1)
    found = check(X).of("duplicate-column")
    assert len(found) == 6
    told = check(X).to_text(limit=None)
    assert told.count("counts twice") == 3
    assert "3 more times" in told


def test_seven_findings_are_shown_first_and_the_others_on_request():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.repeat(rng.normal(size=(300, 9)), 2, axis=1)).add_prefix("v")
    X.loc[3, "v0"] = np.inf
    found = check(X.assign(gear=5))
    assert len(found) == 10
    text = str(found)
    assert text.index("infinite") < text.index("v3 is the same as v2")
    assert (
        "3 less important ones (duplicate-column 2, constant 1) are not shown: to_text(limit=None)"
        in text
    )
    assert "gear" not in text
    assert "gear" in found.to_text(limit=None)
    assert "gear" in found.to_html()
    assert repr(found) == (
        "<Findings of 300 rows, 19 columns: absurd-cell: 1, duplicate-column: 8, constant: 1>"
    )


def test_notes_are_told_in_one_line_and_are_no_findings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    X[200:] += 3.0
    found = check(X)
    assert not found
    (note,) = found.notes
    assert (note.kind, set(note.values)) == ("drift", {f"x{k}" for k in range(12)})
    assert found.of("drift", "x7") == (note,)
    assert str(found).count("So do 11 other columns") == 1
    assert found.to_dict()["notes"][0]["kind"] == "drift"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0]}),
        pd.DataFrame({"a": [1.0, 1.0], "b": ["x", None]}),
        pd.DataFrame({"a": [None] * 50, "b": [np.nan] * 50}),
        pd.DataFrame({"a": np.arange(50)}),
        pd.DataFrame({"a": [True, False] * 30, "b": [0.0] * 60}),
        pd.DataFrame({"a": [1e308, -1e308] * 40, "b": [5e-324, 0.0] * 40}),
        [{"a": "", "b": "9" * 400}, {"a": "\x00"}, {"a": "\ud800"}, {"a": " "}] * 20,
        pd.DataFrame({"a": [np.inf, -np.inf] * 30}),
        [{"a": dt.date(1, 1, 1)}, {"a": dt.date(9999, 12, 31)}, {"a": None}] * 20,
        [{"a": 1}, {"b": "x"}, {}],
        np.full((30, 3), np.nan),
        np.zeros((3, 1)),
        pl.DataFrame({"a": [1, None, 3] * 9, "b": ["x", "y", None] * 9}),
        pa.table({"a": pa.array([None] * 30), "b": pa.array(range(30))}),
    ],
    ids=range(14),
)
def test_odd_tables_are_no_exceptions(frame):
    found = check(frame)
    assert isinstance(found, Findings)
    str(found), found._repr_html_(), found.to_frame(), json.dumps(found.to_dict(), allow_nan=False)


def test_a_table_without_rows_is_refused_in_words():
    with pytest.raises(ValueError, match=r"no rows"):
        check(pd.DataFrame({"a": []}))


def test_roles_are_taken_and_ignored_columns_not_looked_at(table):
    found = check(table, roles={"part": "number", "gear": "ignore"})
    assert found.columns == 2
    assert not found.of("constant")
    with pytest.raises(ValueError, match="not there"):
        check(table, roles={"nope": "ignore"})
    with pytest.raises(ValueError, match="alpha"):
        check(table, alpha=2.0)


def test_judged_rows_are_looked_at_with_the_roles_of_the_model(table):
    from refold.judgement import Judgement

    model = Detector().fit(table)
    new = table.assign(a=table["a"].sample(frac=1, random_state=1).to_numpy())
    new.loc[7, "a"] = 1e6
    found = check(Judgement.of(model, new))
    assert found.of("absurd-cell")[0].rows == (7,)
    assert not found.of("too-few-rows")


def test_a_number_column_of_another_role_is_read_so():
    rows = [{"zip": 10000 + k * 7 % 83, "x": k % 13} for k in range(100)]
    assert check(rows).of("code", "zip")
    assert not check(rows, roles={"zip": "number"}).of("code")


def test_a_role_with_a_decimal_mark_for_a_column_without_values():
    found = check(pd.DataFrame({"a": [None] * 40, "b": range(40)}), roles={"a": "number:,"})
    assert found.columns == 2


def test_rows_are_called_by_the_labels_of_their_index(rng):
    table = pd.DataFrame({"heat": rng.normal(20, 2, 300)}, index=[f"P{k}" for k in range(300)])
    table.loc["P17", "heat"] = 2000.0
    (found,) = check(table)
    assert found.rows == (17,)
    assert found.message.startswith("heat 2000 in row P17 is far")
    (noticed,) = Detector().fit(table).noticed_
    assert noticed.message == found.message

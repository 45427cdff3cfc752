"""What a query gives is learned as files with the same rows are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from refold import REF, CreasedREF, Detector, scale
from refold.tabular import InputError

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")

MODELS = {
    "REF": REF(alpha=0.05),
    "CreasedREF": CreasedREF(alpha=0.05, n_creases=16, n_init=1000),
    "Detector": Detector(alpha=0.05, method="ref"),
}


@pytest.fixture
def frame(rows, names):
    return pd.DataFrame(rows, columns=names)


@pytest.fixture
def con(frame, tmp_path):
    frame.to_parquet(tmp_path / "a.parquet")
    con = duckdb.connect()
    con.execute(f"create temp table parts as from '{tmp_path / 'a.parquet'}'").fetchall()
    return con


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("query", ["parts", "select\n*\nfrom parts;"])
def test_every_model_is_that_of_files(name, query, con, frame, tmp_path):
    expected = scale.learn(tmp_path / "a.parquet", clone(MODELS[name]))
    model = scale.duckdb.learn(con, query, clone(MODELS[name]))
    assert model.calibration_.source == "held-out"
    scores = [m.calibration_.scores for m in (model, expected)]
    np.testing.assert_allclose(*scores, rtol=1e-8)
    known = frame.dropna()[:300]
    np.testing.assert_allclose(model.score_samples(known), expected.score_samples(known), rtol=1e-8)


def test_rows_are_scored_with_all_columns(con, frame):
    known = frame.dropna(how="all")
    model = REF().fit(known)
    query = "select 'x' as code, level, flow, \"count\", heat from parts"
    scored = scale.duckdb.score(model, con, query, reasons=1, prefix="is_").read_pandas()
    added = ["is_distance", "is_label", "is_reason_1"]
    assert scored.columns.tolist() == ["code", "level", "flow", "count", "heat", *added]
    distances = scored["is_distance"][known.index]
    np.testing.assert_array_equal(-distances, model.score_samples(known))


def test_columns_of_any_kind_are_learned(con):
    query = """
        select heat, ['A', 'B', 'C'][rowid % 3 + 1] as machine,
        (date '2026-01-01' + (hash(rowid) % 90)::int) as "on ""day", rowid % 2 = 0 as tested,
        1.5::decimal(9, 2) + rowid % 7 as size from parts
    """
    model = scale.duckdb.learn(con, query)
    roles = {column.name: column.role for column in model.columns_}
    assert (roles["heat"], roles["machine"], roles['on "day']) == ("number", "category", "date")


def test_what_cannot_be_learned_is_refused_in_words(con):
    with pytest.raises(InputError, match=r"the query: there is no column 'cold'"):
        scale.duckdb.learn(con, "parts", columns=["cold"])
    with pytest.raises(InputError, match=r"column 'word' holds text, for example 'x' in row 1"):
        scale.duckdb.learn(con, "select heat, 'x' as word from parts", REF())
    with pytest.raises(ValueError, match=r"the query: .*infinity.*row 1, column 'heat'"):
        scale.duckdb.learn(con, "select 'inf'::double as heat, level from parts")
    with pytest.raises(InputError, match=r"the query, row 1, column 'heat': inf is not a finite"):
        scale.duckdb.learn(con, "select 'inf'::double as heat from parts", REF())
    with pytest.raises(InputError, match="no rows in the query"):
        scale.duckdb.learn(con, "select * from parts where false", REF())
    with pytest.raises(duckdb.Error, match="nobody"):
        scale.duckdb.learn(con, "select * from nobody")


@pytest.mark.parametrize("alpha", [None, 0.05])
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.usefixtures("in_parts")
def test_counted_in_the_database_the_model_is_that_of_the_rows(alpha, few, con, frame, tmp_path):
    """Bins and counts bit by bit, also where values are so few that each has a bin of its own."""
    if few:
        con.execute("update parts set level = null where rowid % 10 > 0").fetchall()
        con.execute("update parts set heat = -1e-310, flow = 1e300 where rowid = 7").fetchall()
        con.execute(f"copy parts to '{tmp_path / 'a.parquet'}'").fetchall()
    how = {"alpha": alpha, "n_bins": 512}
    expected = scale.learn(tmp_path / "a.parquet", REF(**how))
    model = scale.duckdb.learn(con, "select * from parts", REF(**how), in_database=True)
    assert model.sketch_.rows == expected.sketch_.rows == 5000 - (500 if alpha else 0)
    for ours, theirs in zip(model.sketch_.histograms, expected.sketch_.histograms, strict=True):
        facts = [(h.exponent, h.low, h.high, h.missing, h.rows) for h in (ours, theirs)]
        assert facts[0] == facts[1]
        np.testing.assert_array_equal(ours.bins, theirs.bins)
        np.testing.assert_array_equal(ours.counts, theirs.counts)
        assert (abs(ours.positions - theirs.positions) <= ours.counts * 2.0**-38).all()
    known = frame.dropna()[:300]
    np.testing.assert_allclose(model.score_samples(known), expected.score_samples(known), rtol=1e-8)
    assert model.threshold_ == pytest.approx(expected.threshold_, rel=1e-8)


@pytest.mark.usefixtures("in_parts")
def test_no_row_but_the_sample_leaves_the_database(con, monkeypatch):
    sizes = []
    ask = scale.duckdb.QueryTable.ask

    def counted(*arguments, **tables):
        found = ask(*arguments, **tables)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(scale.duckdb.QueryTable, "ask", counted)
    monkeypatch.setattr(
        scale.duckdb.QueryTable, "_blocks", lambda *_: pytest.fail("rows were read")
    )
    scale.duckdb.learn(con, "parts", REF(n_bins=16), in_database=True)
    assert sizes == [1, sizes[1]]
    assert sizes[1] <= 4 * 16
    sizes.clear()
    scale.duckdb.learn(con, "parts", REF(n_bins=16, alpha=0.05), in_database=True)
    assert 500 <= sizes[0] < 700


def test_a_small_query_is_learned_in_the_database_as_by_fit(con, frame):
    model = scale.duckdb.learn(con, "parts", REF(alpha=0.05), in_database=True)
    expected = REF(alpha=0.05).fit(frame)
    assert model.threshold_ == expected.threshold_
    assert model.calibration_.source == expected.calibration_.source


@pytest.mark.usefixtures("in_parts")
def test_what_cannot_be_counted_in_the_database_is_refused(con):
    with pytest.raises(ValueError, match=r"in_database=True is for REF, not for Detector"):
        scale.duckdb.learn(con, "parts", in_database=True)
    with pytest.raises(InputError, match=r"column 'word' holds .*string.*: cast it in the query"):
        scale.duckdb.learn(con, "select heat, 'x' as word from parts", REF(), in_database=True)
    query = "select if(rowid = 9, 'inf'::double, heat) as \"a b\" from parts"
    with pytest.raises(InputError, match=r"column 'a b' has infinity in 1 row"):
        scale.duckdb.learn(con, query, REF(), in_database=True)
    with pytest.raises(ValueError, match=r"0 sample"):
        scale.duckdb.learn(con, "select * from parts where false", REF(), in_database=True)


@pytest.mark.usefixtures("in_parts")
def test_every_type_of_number_is_counted_in_the_database(con):
    query = """
        select heat > 0 as hot, flow::float as price, "count"::smallint as n,
        'nan'::double as "no""thing", (level * 1e9)::bigint as huge, 5.0 as same from parts
    """
    columns = ["hot", "price", "n", "huge", "same"]
    expected = scale.duckdb.learn(con, query, REF(), columns=columns)
    model = scale.duckdb.learn(con, query, REF(), columns=columns, in_database=True)
    for ours, theirs in zip(model.sketch_.histograms, expected.sketch_.histograms, strict=True):
        np.testing.assert_array_equal(ours.bins, theirs.bins)
        np.testing.assert_array_equal(ours.counts, theirs.counts)
    with pytest.raises(ValueError, match="Nothing is observed in column 'no\"thing'"):
        scale.duckdb.learn(con, query, REF(), in_database=True)

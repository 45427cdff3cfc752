"""The SQL of a Detector against the Detector: DuckDB, SQLite, a real PostgreSQL server."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.base.errors import UserError
from refold.export import to_sql
from tests.export import mixed
from tests.export.test_sql import DuckDB, Postgres, SQLite, all_databases, quoted

TYPES = {"f": "DOUBLE PRECISION", "i": "BIGINT", "b": "BOOLEAN", "M": "TIMESTAMP"}


def plain(cell):
    """A cell as a database's driver takes it."""
    if pd.isna(cell):
        return None
    cell = cell.item() if isinstance(cell, np.generic) else cell
    return cell.to_pydatetime() if isinstance(cell, pd.Timestamp) else cell


def fill(database, table, types=None):
    types = types or {name: TYPES.get(table[name].dtype.kind, "TEXT") for name in table}
    columns = ", ".join(f"{quoted(name)} {types[name]}" for name in table)
    database.run(f'CREATE TABLE "rows" (place INTEGER, {columns})')
    marks = ", ".join([database.mark] * (1 + table.shape[1]))
    cells = [[plain(cell) for cell in row] for row in table.itertuples(name=None)]
    database.many(f'INSERT INTO "rows" VALUES ({marks})', [tuple(row) for row in cells])


def judged(database, model, table, without=(), types=None):
    """Label, distance and reasons of each row of a table, in its order."""
    fill(database, table.reset_index(drop=True), types)
    statement = to_sql(model, "rows", database.dialect, prefix="r_", without=without)
    found = sorted(database.run(statement), key=lambda row: row[0])
    return [row[1 + table.shape[1] :] for row in found]


def assert_same(model, table, database, without=(), types=None, *, exact=True):
    """Labels are Python's, and distances but for those of new texts that are rejected anyway."""
    found = judged(database, model, table, without, types)
    expected = mixed.distances(model, table, without)
    near = np.abs(expected - model.threshold_) <= 1e-9
    pairs = zip((row[0] for row in found), mixed.labels(model, expected), near, strict=True)
    differ = [row for row, (given, wanted, at) in enumerate(pairs) if given != wanted and not at]
    assert not differ, table.iloc[differ[0]].to_dict()
    distance = np.array([row[1] for row in found], dtype=float)
    sure = np.isnan(expected) if exact else expected > model.scorer().certain
    np.testing.assert_allclose(distance[~sure], expected[~sure], rtol=1e-9, atol=1e-9)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", mixed.REAL_TABLES)
def test_real_tables_have_pythons_labels_in_every_database(name, postgres):
    train, new = mixed.halves(name)
    model = mixed.fitted(train)
    unsaid = mixed.open_columns(model)
    if unsaid:
        with pytest.raises(ValueError, match=rf"^Column {unsaid[0]!r}: .* be said in SQLite"):
            to_sql(model, "rows", "sqlite", prefix="r_")
    for database in (DuckDB(), Postgres(postgres)):
        with database:
            assert_same(model, new, database)
    with SQLite() as database:
        assert_same(model, new, database, mixed.BLIND if unsaid else (), exact=False)


def orders(rows=400, seed=0):
    """A table of a shop, with a column of every kind."""
    rng = np.random.default_rng(seed)
    begin = dt.datetime(2026, 3, 2, 8)
    return pd.DataFrame(
        {
            "shop": rng.choice(["north", "south", "it's"], rows, p=[0.6, 0.3, 0.1]),
            "code": [f"AB-{k:04d}" for k in rng.integers(0, 9999, rows)],
            "paid": rng.random(rows) < 0.7,
            "when": [begin + dt.timedelta(hours=int(h)) for h in 24 * rng.integers(0, 20, rows)],
            "sum": np.where(rng.random(rows) < 0.1, np.nan, rng.lognormal(3, 1, rows).round(2)),
            "pieces": rng.integers(1, 9, rows),
        }
    )


ODD = [
    {},
    {"shop": "east"},
    {"shop": None},
    {"shop": " N/A "},
    {"shop": "North"},
    {"code": "AB-12"},
    {"code": "ab-1234"},
    {"code": "ÄB-١٢٣٤"},
    {"code": "AB–1234"},
    {"code": "x" * 1_000_000},
    {"code": "'; DROP TABLE canary; --"},
    {"code": "\\'; DROP TABLE canary; --"},
    {"code": '=HYPERLINK("http://x")'},
    {"code": "🦆" * 200},
    {"code": "a\nb\tc"},
    {"code": "%s {} ? $1 :x"},
    {"paid": None},
    {"when": dt.datetime(2026, 3, 8, 3)},
    {"when": dt.datetime(2031, 1, 1, 8)},
    {"when": dt.datetime(1899, 2, 28, 23, 59, 59, 999_999)},
    {"when": None},
    {"sum": 1e300},
    {"sum": -5.0},
    {"sum": None},
    {"pieces": None},
    {"pieces": 1000},
    dict.fromkeys(["shop", "code", "paid", "when", "sum", "pieces"]),
]


def odd_rows():
    usual = orders(1, seed=1).iloc[0].to_dict()
    table = pd.DataFrame([{**usual, **change} for change in ODD])
    table["when"] = pd.to_datetime(table["when"])
    return table.astype({"sum": float, "pieces": float, "paid": object})


@pytest.fixture(scope="module")
def shop():
    return mixed.fitted(orders())


TYPED = {
    "shop": "TEXT",
    "code": "TEXT",
    "paid": "BOOLEAN",
    "when": "TIMESTAMP",
    "sum": "DOUBLE PRECISION",
    "pieces": "BIGINT",
}


def test_columns_with_types_of_their_own_and_hostile_cells(shop, server):
    new = odd_rows()
    for database in all_databases(server)[::2]:  # SQLite has no such types
        with database:
            database.run("CREATE TABLE canary (alive INTEGER)")
            assert_same(shop, new, database, types=TYPED)
            assert database.run("SELECT COUNT(*) FROM canary") == [(0,)]


def test_sqlite_has_texts_for_dates_and_numbers_for_truth():
    model = mixed.fitted(orders().assign(when=lambda t: t["when"].astype(str)))
    new = odd_rows()
    new["when"] = [None if pd.isna(w) else str(w) for w in new["when"]]
    with SQLite() as database:
        assert_same(model, new, database, mixed.BLIND, {**TYPED, "when": "TEXT"})


@pytest.mark.parametrize("kind", [float, int])
def test_whole_numbers_among_texts_may_be_written_as_floats(kind, server):
    cells = [kind(3), "abc", kind(-40), kind(12)] * 100
    train = pd.DataFrame({"x": pd.Series(cells, dtype=object), "y": np.arange(400) % 7})
    model = mixed.fitted(train)
    texts = ["3", "3.0", "-40.0", "abc", "3.00", "-.0", ".0", "ab.0", "99.0", "--3.0", "3.0\n"]
    new = pd.DataFrame({"x": texts, "y": 1})
    for database in all_databases(server):
        with database:
            without = mixed.BLIND if database.dialect == "sqlite" else ()
            assert_same(model, new, database, without, exact=database.dialect != "sqlite")


MOMENTS = [
    "2026-03-09 08:00:00",
    "2026-03-09T07:00:00Z",
    "2026-03-09 12:00+05:00",
    "2026-03-08 23:30:00.5-0730",
    "2026-03-09 06:00:00-01",
    "2026-03-29T00:59:59Z",
    "2026-03-29T01:00:00Z",
    "2026-10-25 00:30:00+00:00",
    "2026-10-25T01:30:00Z",
    "1950-01-01T00:00:00Z",
    "2026-02-30T07:00:00Z",
    "2026-03-09T07:00:00Q",
]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_moments_are_those_of_the_clock_that_was_learned(zone, server):
    when = pd.to_datetime(orders()["when"]).dt.tz_localize(zone)
    model = mixed.fitted(orders().assign(when=when))
    usual = orders(1, seed=1).iloc[0].to_dict()
    texts = pd.DataFrame([{**usual, "when": moment} for moment in MOMENTS])
    typed = texts.head(9).assign(when=pd.to_datetime(texts["when"][:9], utc=True, format="ISO8601"))
    for database in all_databases(server):
        with database:
            if database.dialect == "sqlite":
                if zone == "UTC":
                    assert_same(model, texts, database, mixed.BLIND, exact=False)
                    continue
                with pytest.raises(ValueError, match=r"'when': .* zone Europe/Berlin, which SQL"):
                    to_sql(model, "rows", "sqlite", without=mixed.BLIND)
                continue
            assert_same(model, texts, database)
            database.run('DROP TABLE "rows"')
            assert_same(model, typed, database, types={**TYPED, "when": "TIMESTAMPTZ"})


def as_texts(table):
    return table.apply(lambda column: [None if pd.isna(v) else str(v) for v in column])


READ_AS_TEXT = [
    {"when": "2026-03-09T08:00"},
    {"when": "2026-03-09 08:00:00.25+01:00"},
    {"when": " 2026-03-09 "},
    {"when": "2026-02-30"},
    {"when": "2026-13-01"},
    {"when": "2026-03-09 25:00:00"},
    {"when": "2024-02-29 08:00:00"},
    {"when": "1900-02-29"},
    {"when": "yesterday"},
    {"sum": " 12.5 "},
    {"sum": "1e2"},
    {"sum": "-3"},
    {"sum": "1e999"},
    {"sum": "1e-999"},
    {"sum": "12 €"},
    {"sum": "nan"},
    {"sum": "inf"},
    {"sum": "1_000"},
    {"sum": "0x10"},
    {"sum": "9" * 400},
    {"sum": "=1+1"},
]
# Python reads these, SQLite does not: numbers there are written as JSON has them.
PYTHON_ALONE = [{"sum": "+5"}, {"sum": ".5"}, {"sum": "007"}, {"when": "2026-3-9"}]


@pytest.fixture(scope="module")
def written():
    """A model of texts alone, as a CSV has them."""
    return mixed.fitted(as_texts(orders()))


def test_numbers_and_dates_that_are_written_as_texts(written, server):
    usual = as_texts(orders(1, seed=1)).iloc[0].to_dict()
    for database in all_databases(server):
        changes = READ_AS_TEXT if database.dialect == "sqlite" else READ_AS_TEXT + PYTHON_ALONE
        new = pd.DataFrame([{**usual, **change} for change in changes])
        without = mixed.BLIND if database.dialect == "sqlite" else ()
        with database:
            assert_same(written, new, database, without, exact=database.dialect != "sqlite")


def test_reasons_are_the_columns_with_the_largest_parts(shop):
    with DuckDB() as database:
        found = assert_same(shop, odd_rows(), database, types=TYPED)
    reasons = [row[2] for row in found]
    for change, reason in zip(ODD, reasons, strict=True):
        if len(change) == 1 and change not in ({"sum": -5.0}, {"sum": None}):
            assert [reason] == list(change)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_value_with_the_character_zero_is_known_where_a_cell_can_have_it(dialect):
    train = pd.DataFrame({"a": ["x\0y", "x\0z", "xy"] * 50, "b": np.arange(150) % 7})
    model = mixed.fitted(train)
    with DuckDB() if dialect == "duckdb" else SQLite() as database:
        assert_same(model, train[:9], database)


def test_postgresql_has_no_character_zero_and_leaves_such_values_out(postgres):
    train = pd.DataFrame({"a": ["x\0y", "x\0z", "xy"] * 50, "b": np.arange(150) % 7})
    with Postgres(postgres) as database:
        assert_same(mixed.fitted(train), train[2:9:3], database)


def test_names_that_would_inject(server):
    name = 'a"; DROP TABLE canary; --'
    train = pd.DataFrame({name: ["x'; DROP TABLE canary; --", "y"] * 50, "b": np.arange(100) % 7})
    for database in all_databases(server):
        with database:
            database.run("CREATE TABLE canary (alive INTEGER)")
            assert_same(mixed.fitted(train), train[:4], database)
            assert database.run("SELECT COUNT(*) FROM canary") == [(0,)]


def test_a_table_of_numbers_alone_knows_what_never_was_missing(rng, server):
    train = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    train.loc[::9, "b"] = np.nan
    new = pd.DataFrame(
        [[0.1, 0.2, 0.3], [np.nan, 0.2, 0.3], [0.1, np.nan, 0.3], [9.0, 0.0, 0.0], [np.nan] * 3],
        columns=list("abc"),
    )
    model = mixed.fitted(train)
    assert model.encoder_.counts.plan.plain
    assert mixed.labels(model, mixed.distances(model, new)) == [1, -1, 1, -1, -1]
    for database in all_databases(server):
        with database:
            assert_same(model, new, database)


def test_infinity_has_no_answer(shop, server):
    new = orders(2, seed=1).assign(sum=[np.inf, 20.0])
    for database in all_databases(server)[::2]:
        with database:
            found = judged(database, shop, new, types=TYPED)
            assert [row[0] is None for row in found] == [True, False]


def test_what_a_database_cannot_say_is_refused_by_name(shop):
    with pytest.raises(ValueError, match=r"'code': the shape and the character .* SQLite.*without"):
        to_sql(shop, "rows", "sqlite")
    with pytest.raises(ValueError, match=r"not in bigquery"):
        to_sql(shop, "rows", "bigquery")
    with pytest.raises(ValueError, match=r"without=\('colour',\) is not a collection of views"):
        to_sql(shop, "rows", "duckdb", without=("colour",))
    with pytest.raises(UserError, match=r'CreasedREF, which cannot be written.*method="ref"'):
        to_sql(mixed.fitted(orders(), "creased"), "rows", "duckdb")
    euros = orders().assign(sum=lambda t: [None if pd.isna(s) else f"{s} €" for s in t["sum"]])
    with pytest.raises(ValueError, match=r"'sum': its numbers are written as .*€"):
        to_sql(mixed.fitted(euros), "rows", "duckdb")
    german = orders().assign(when=lambda t: t["when"].dt.strftime("%d.%m.%Y"))
    with pytest.raises(ValueError, match=r"'when': dates written as %d\.%m\.%Y cannot be read"):
        to_sql(mixed.fitted(german), "rows", "postgres")


def test_columns_that_are_ignored_need_not_be_in_the_table():
    train = orders().assign(number=lambda t: np.arange(len(t)))
    model = mixed.fitted(train, roles={"number": "ignore"})
    with DuckDB() as database:
        assert_same(model, orders(5, seed=2), database, types=TYPED)


def test_a_model_without_names_takes_those_of_the_table():
    rows = orders()[["shop", "pieces"]].to_numpy(dtype=object)
    model = Detector(method="ref").fit(rows)
    with DuckDB() as database:
        fill(database, orders()[["shop", "pieces"]])
        statement = to_sql(model, "rows", "duckdb", columns=["shop", "pieces"])
        found = sorted(database.run(statement), key=lambda row: row[0])
        assert [row[3] for row in found] == model.predict(rows).tolist()


@pytest.mark.parametrize("kind", [False, True], ids=["numbers", "mixed"])
def test_a_number_of_a_new_sign_is_an_outlier_in_sql_too(kind, rng):
    model, new = mixed.of_new_signs(rng, kind=kind)
    assert (model.predict(new.iloc[:30]) == -1).all()
    for database in (DuckDB(), SQLite()):
        with database:
            assert_same(model, new, database)

"""The SQL of a model against the model: DuckDB, SQLite, a real PostgreSQL server."""

from __future__ import annotations

import re
import sqlite3
import sys

import duckdb
import numpy as np
import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from refold import REF, scale
from refold.export import to_sql
from tests.conftest import FOLDS

DIALECTS = ("duckdb", "postgres", "sqlite", "snowflake", "bigquery")
HOSTILE = [
    'a"; DROP TABLE canary; --',
    "b'); DROP TABLE canary; --",
    "c c",
    "ü ß 日本",
    "back\\slash\\",
    "`tick`",
    "x0",
    "v0",
    "refold_row",
    "refold_1",
    "%s %(x)s {y} ?",
    "SELECT",
    "value",
    "line\nbreak",
]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class DuckDB:
    dialect, kind = "duckdb", "DOUBLE"

    def __enter__(self):
        self.connection = duckdb.connect()
        return self

    def __exit__(self, *_):
        self.connection.close()

    def fill(self, names, X, table="rows"):
        columns = ", ".join(f"{quoted(name)} {self.kind}" for name in names)
        self.run(f"CREATE TABLE {quoted(table)} ({columns})")
        marks = ", ".join([self.mark] * len(names))
        self.many(f"INSERT INTO {quoted(table)} VALUES ({marks})", list(map(tuple, X)))

    mark = "?"

    def many(self, statement, rows):
        self.connection.executemany(statement, rows)

    def run(self, statement):
        return self.connection.execute(statement).fetchall()


class SQLite(DuckDB):
    dialect, kind = "sqlite", "REAL"

    def __enter__(self):
        self.connection = sqlite3.connect(":memory:")
        return self


class Postgres(DuckDB):
    dialect, kind, mark = "postgres", "DOUBLE PRECISION", "%s"

    def __init__(self, address):
        self.address = address

    def __enter__(self):
        import psycopg

        self.connection = psycopg.connect(self.address)
        return self

    def __exit__(self, *_):
        self.connection.rollback()
        self.connection.close()

    def many(self, statement, rows):
        self.connection.cursor().executemany(statement.replace("%s %(x)s", "%%s %%(x)s"), rows)

    def run(self, statement):
        cursor = self.connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def all_databases(server):
    """Those that are libraries, or PostgreSQL at its address."""
    return [DuckDB(), SQLite()] if server is None else [Postgres(server)]


def nulls(X, every_other=True):
    """The rows for a database; half of the missing values as NULL, the others as NaN."""
    rows = []
    for i, row in enumerate(np.asarray(X, dtype=float)):
        none = i % 2 == 0 or not every_other
        rows.append([None if np.isnan(v) and none else float(v) for v in row])
    return rows


def assert_same_answers(model, X, names, found, reasons=3):
    """Compare rows of the table and answers with what Python says."""
    X = np.asarray(X, dtype=float)
    d = len(names)
    assert len(found) == len(X)
    given = np.array([row[:d] for row in found], dtype=float)
    np.testing.assert_array_equal(given, X)
    distances = -model.score_samples(X)
    near = np.abs(distances - model.threshold_) <= 1e-6
    labels = np.array([row[d] for row in found])
    np.testing.assert_array_equal(labels[~near], model.predict(X)[~near])
    tolerance = 1e-9 if model.fold == "abs" else 1e-6
    np.testing.assert_allclose([row[d + 1] for row in found], distances, rtol=tolerance, atol=1e-12)
    shares = model.contributions(X)
    least = 0.01 if model.distance == "l1" else 0.0
    for share, row in zip(shares, found, strict=True):
        counts = share * (share >= least * share.sum()) * (row[d] == -1)  # a normal row has none
        assert_reasons(counts, names, row[d + 2 :], reasons)


def assert_reasons(share, names, given, reasons):
    """The largest shares in their order; features whose shares are equal but for rounding may
    change places."""
    assert len(given) == reasons
    order = np.argsort(-share, kind="stable")
    expected = [names[j] if share[j] > 0.0 else None for j in order[:reasons]]
    expected += [None] * (reasons - len(expected))
    if list(given) == expected:
        return
    slack = 1e-6 * share.max()
    of = dict(zip(names, share, strict=True))
    named = [name for name in given if name is not None]
    assert len(set(named)) == len(named)
    for name, j in zip(given, order, strict=False):
        assert (0.0 if name is None else of[name]) == pytest.approx(share[j], abs=slack)


def training_rows(rng, rows, d):
    """Columns of every kind: continuous, discrete, constant, huge, tiny, far from 0, with holes."""
    makers = [
        lambda: rng.normal(size=rows),
        lambda: rng.integers(0, 4, size=rows).astype(float),
        lambda: np.full(rows, rng.choice([0.0, 3.5, -1e-300, 1e300])),
        lambda: rng.lognormal(size=rows) * 10.0 ** rng.integers(-200, 200),
        lambda: rng.choice([-1.0, 1.0], size=rows) * np.resize([1.0, 2.0, 3.0], rows),
        lambda: 1e9 + rng.uniform(size=rows),
    ]
    X = np.column_stack([makers[rng.integers(len(makers))]() for _ in range(d)])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[: min(4, rows)] = np.nan_to_num(X[: min(4, rows)], nan=1.0)
    return X


def new_rows(rng, X, rows=12):
    """Rows near the training rows, and some with values that overflow, vanish or are missing."""
    d = X.shape[1]
    T = X[rng.integers(len(X), size=rows)] * rng.choice([1.0, 1.0, 0.3, -2.0], size=(rows, d))
    extreme = rng.choice([1e308, -1e308, 1e-308, -5e-324, 0.0, 1e150, -1e200], size=(rows, d))
    T = np.where(rng.random(T.shape) < 0.1, extreme, T)
    T[rng.random(T.shape) < 0.15] = np.nan
    T[np.isnan(T).all(axis=1), 0] = 1.0
    return np.where(np.isinf(T), 1e308, T)


@settings(max_examples=14, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.one_of(st.integers(1, 6), st.integers(1, 60)),
    rows=st.integers(6, 60),
    names=st.permutations(HOSTILE),
    recipe=st.fixed_dictionaries(
        {
            "n_iter": st.sampled_from([1, 2, 5, 21, 41, 101]),
            "fold": st.sampled_from(FOLDS),
            "distance": st.sampled_from(["l1", "l2"]),
            "levels": st.sampled_from(["last", "all"]),
            "threshold": st.sampled_from([0.0, 0.7, 1.0, 2.5]),
            "engine": st.sampled_from(["exact", "reference", "sketch"]),
        }
    ),
)
def test_python_is_duckdb_is_sqlite_is_postgresql(seed, d, rows, names, recipe, server):
    rng = np.random.default_rng(seed)
    names = [*names, *(f"column {number}" for number in range(60))][:d]
    train = training_rows(rng, rows, d)
    model, X = REF(**recipe).fit(train), new_rows(rng, train)
    for database in all_databases(server):
        with database:
            database.fill(names, nulls(X))
            statement = to_sql(model, "rows", database.dialect, columns=names)
            assert_same_answers(model, X, names, database.run(statement))


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("levels", ["last", "all"])
def test_every_kind_of_model(fold, distance, levels, rng, server):
    X = training_rows(rng, 50, 3)
    model = REF(fold=fold, distance=distance, levels=levels, n_iter=31).fit(X)
    T = new_rows(rng, X, 30)
    for database in all_databases(server):
        with database:
            database.fill("abc", nulls(T))
            statement = to_sql(model, "rows", database.dialect, columns=list("abc"))
            assert_same_answers(model, T, list("abc"), database.run(statement))


@pytest.mark.parametrize("fold", ["abs", "sqr"])
def test_chaotic_models_keep_their_labels(fold, rng, server):
    """Without max_gain rounding is amplified without end: only the same operations will do."""
    X = rng.integers(0, 5, size=(80, 3)).astype(float)
    model = REF(fold=fold, engine="reference", max_gain=None).fit(X)
    assert model.chain_.gain.max() > 1e9
    for database in all_databases(server):
        with database:
            database.fill("abc", nulls(X))
            statement = to_sql(model, "rows", database.dialect, columns=list("abc"))
            assert_same_answers(model, X, list("abc"), database.run(statement))


def test_the_papers_tasks(paper_tasks, server):
    tasks = [(key, rows) for key, rows in paper_tasks.items() if key[1] == min(paper_tasks)[1]]
    assert len(tasks) == 14
    for _, (train, test, _) in tasks:
        names = [f"f{number}" for number in range(train.shape[1])]
        model = REF().fit(train)
        for database in all_databases(server):
            with database:
                database.fill(names, test.tolist())
                found = database.run(to_sql(model, "rows", database.dialect, columns=names))
                assert_same_answers(model, test, names, found)


def test_answers_are_those_of_scored_files(rng, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    X[0] = X.copy()[np.isfinite(X).all(axis=1)][0]
    table = pa.table({name: pa.array(X[:, k], from_pandas=True) for k, name in enumerate("abc")})
    pq.write_table(table, tmp_path / "in.parquet")
    model = REF(engine="sketch").fit(table.to_pandas())
    scale.score(model, tmp_path / "in.parquet", tmp_path / "out.parquet", reasons=3)
    expected = pq.read_table(tmp_path / "out.parquet")
    source = f"CREATE VIEW rows AS FROM '{tmp_path / 'in.parquet'}'"
    with duckdb.connect() as connection:
        connection.execute(source)
        found = connection.sql(to_sql(model, "rows", "duckdb")).to_arrow_table()
    for name in ("label", "distance", "reason_1", "reason_2", "reason_3"):
        assert found[name].to_pylist() == expected[name].to_pylist(), name


@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("levels", ["last", "all"])
def test_rows_that_python_refuses_have_no_answers(distance, levels, rng, server):
    model = REF(n_iter=11, distance=distance, levels=levels).fit(rng.normal(size=(50, 2)))
    infinity, nan = float("inf"), float("nan")
    refused = [(None, None), (nan, None), (infinity, 1.0), (1.0, -infinity), (nan, infinity)]
    for database in all_databases(server):
        with database:
            database.fill("ab", [*refused, (50.0, None)])
            *empty, last = database.run(to_sql(model, "rows", database.dialect, columns=["a", "b"]))
            assert [row[2:] for row in empty] == [(None,) * 5] * len(refused)
            assert last[2:] == (-1, last[3], "a", None, None)


def test_text_in_sqlite_is_no_number(rng):
    """SQLite would read 'abc' as 0 and '12 apples' as 12."""
    model = REF(n_iter=5).fit(rng.normal(size=(50, 1)))
    with SQLite() as database:
        database.run("CREATE TABLE rows (a)")
        database.many("INSERT INTO rows VALUES (?)", [("abc",), ("1",), (b"1",), (1,), (1.0,)])
        found = database.run(to_sql(model, "rows", "sqlite", columns=["a"]))
    assert [row[1:3] for row in found[:3]] == [(None, None)] * 3
    assert found[3][2] == found[4][2] == -model.score_samples([[1.0]])[0]


@pytest.mark.parametrize("kind", ["INTEGER", "DECIMAL(12, 3)", "REAL", "SMALLINT"])
def test_columns_of_other_types(kind, rng, server):
    model = REF().fit(rng.normal(10, 5, size=(50, 1)))
    X = np.array([[1.0], [7.0], [12.0], [300.0]])
    for database in all_databases(server):
        with database:
            database.kind = kind
            database.fill("a", [(int(v),) for v in X[:, 0]])
            found = database.run(to_sql(model, "rows", database.dialect, columns=["a"]))
            answers = [(float(row[0]), *row[1:]) for row in found]
            assert_same_answers(model, X, ["a"], answers)


# ---- names ------------------------------------------------------------------------------------


def test_no_name_can_inject(rng, server):
    names = HOSTILE[:4]
    model = REF(n_iter=3).fit(rng.normal(size=(30, 4)))
    table, view = 'rows"; DROP TABLE canary; --', "seen'; DROP TABLE canary; --"
    for database in all_databases(server):
        with database:
            database.run("CREATE TABLE canary (alive INTEGER)")
            database.fill(names, [(1.0, 2.0, 3.0, None)], table=table)
            database.run(to_sql(model, (table,), database.dialect, view=(view,), columns=names))
            prefix = "out\"; DROP TABLE canary; --'"
            database.run(to_sql(model, [view], database.dialect, prefix=prefix, columns=names))
            assert database.run("SELECT COUNT(*) FROM canary") == [(0,)]
            (row,) = database.run(f"SELECT * FROM {quoted(view)}")
            assert set(row[6:9]) == set(names[:3])


@pytest.mark.parametrize("setting", ["on", "off"])
def test_a_backslash_stays_in_a_name_whatever_the_session_takes_it_for(setting, rng, postgres):
    names = ["\\'; DROP TABLE canary; --", "\\", "a\\\\'b\\n", "''\\''"]
    model = REF(n_iter=3).fit(rng.normal(size=(30, 4)))
    with Postgres(postgres) as database:
        database.run("CREATE TABLE canary (alive INTEGER)")
        database.fill(names, [(40.0, 40.0, 40.0, 40.0)])
        database.run(f"SET standard_conforming_strings = {setting}")
        database.run("SET escape_string_warning = off")
        (row,) = database.run(to_sql(model, "rows", "postgres", reasons=4, columns=names))
        assert set(row[6:]) == set(names)
        assert database.run("SELECT COUNT(*) FROM canary") == [(0,)]


def test_other_columns_of_the_table_come_through(rng, server):
    """Whatever they are called: like columns and tables of the statement's own, too."""
    others = ["x0", "v0", "m0", "n", "d", "t", "k1", "value", "refold_answer", "refold_whole"]
    model = REF(n_iter=3).fit(rng.normal(size=(30, 1)))
    for database in all_databases(server):
        with database:
            database.fill(["a", *others], [(9.0, *range(len(others)))], table="refold_2")
            (row,) = database.run(to_sql(model, "refold_2", database.dialect, columns=["a"]))
            assert row[: len(others) + 1] == (9.0, *map(float, range(len(others))))
            assert row[-5:-3] == (-1, -model.score_samples([[9.0]])[0])


@pytest.mark.parametrize(
    "dialect", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow), "sqlite", "bigquery"]
)
def test_our_own_names_as_columns_are_never_a_wrong_answer(dialect, rng, request):
    """PostgreSQL and SQLite keep them apart; DuckDB and BigQuery may say that they cannot."""
    model = REF(n_iter=3).fit(rng.normal(size=(30, 1)))
    statement = to_sql(model, "rows", dialect, columns=["a"])
    for name in set(re.findall(r"\brefold_\w+", statement)):
        database = SQLite() if dialect == "sqlite" else DuckDB()
        if dialect == "postgres":
            database = Postgres(request.getfixturevalue("postgres"))
        with database:
            database.fill(["a", name], [(9.0, 4.0)])
            text = statement
            if dialect == "bigquery":
                (text,) = sqlglot.transpile(statement, read=dialect, write="duckdb")
            try:
                (row,) = database.run(text)
            except duckdb.BinderException:
                assert name == "refold_row"
                continue
            assert row[:4] == (9.0, 4.0, -1, -model.score_samples([[9.0]])[0]), name


def test_views(rng, server):
    model = REF(n_iter=5).fit(rng.normal(size=(30, 2)))
    for database in all_databases(server):
        with database:
            database.fill("ab", [(0.1, 9.0)])
            made = to_sql(model, "rows", database.dialect, view="judged", columns=["a", "b"])
            assert made.startswith("CREATE VIEW")
            database.run(made)
            (row,) = database.run("SELECT label, reason_1 FROM judged WHERE b > 5")
            assert row == (-1, "b")


def test_duckdb_does_not_look_up_the_worst_rows_late(rng):
    """It would write all stages into the expression to order by: with 101 it never ended."""
    X = rng.normal(size=(300, 3))
    model = REF(n_iter=5, levels="all").fit(X)
    worst = "SELECT name, distance FROM judged ORDER BY distance DESC LIMIT 5"
    with DuckDB() as database:
        database.fill("abc", X)
        database.run("CREATE TABLE named AS SELECT 'row ' || rowid AS name, * FROM rows")
        database.run(to_sql(model, "named", "duckdb", view="judged", columns=list("abc")))
        ((_, plan),) = database.run(f"EXPLAIN {worst}")
        found = database.run(worst)
    assert re.search(r"top.n", plan, re.IGNORECASE)
    assert "rowid" not in plan.lower()
    expected = np.argsort(model.score_samples(X))[:5]
    assert [name for name, _ in found] == [f"row {row}" for row in expected]


def test_schemas(rng, postgres):
    model = REF(n_iter=2).fit(rng.normal(size=(30, 1)))
    assert 'FROM "plant one"."rows"' in to_sql(model, "plant one.rows", "duckdb", columns=["a"])
    assert 'FROM "odd.name"' in to_sql(model, ("odd.name",), "duckdb", columns=["a"])
    with Postgres(postgres) as database:
        database.run('CREATE SCHEMA "plant one"')
        database.run('CREATE TABLE "plant one"."rows" ("a" REAL)')
        assert database.run(to_sql(model, "plant one.rows", "postgresql", columns=["a"])) == []


def test_prefix_and_number_of_reasons(rng):
    model = REF(n_iter=3).fit(rng.normal(size=(30, 2)))
    with DuckDB() as database:
        database.fill(["label", "b"], [(1.0, 5.0)])
        statement = to_sql(
            model, "rows", "duckdb", prefix="ref_", reasons=4, columns=["label", "b"]
        )
        database.connection.execute(statement)
        names = [column[0] for column in database.connection.description]
        assert names == ["label", "b", "ref_label", "ref_distance"] + [
            f"ref_reason_{rank}" for rank in (1, 2, 3, 4)
        ]
        (row,) = database.run(statement)
        assert row[-4:] == ("b", "label", None, None)
        none = to_sql(model, "rows", "duckdb", prefix="r", reasons=0, columns=["label", "b"])
        assert len(database.run(none)[0]) == 4


# ---- databases that are not here --------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery"])
@pytest.mark.parametrize("model", [{}, {"levels": "all"}, {"levels": "all", "distance": "l2"}])
def test_warehouse_sql_read_back_gives_the_same_answers(dialect, model, rng):
    names = ["a b", "ü", "Select"]
    if dialect == "snowflake":
        names += ["it's", 'quo"ted', "back\\slash"]
    X = training_rows(rng, 60, len(names))
    fitted = REF(n_iter=31, **model).fit(X)
    T = new_rows(rng, X)
    statement = to_sql(fitted, "rows", dialect, columns=names)
    (parsed,) = sqlglot.parse(statement, read=dialect)
    written = {i.name for i in parsed.find_all(sqlglot.exp.Identifier) if i.args["quoted"]}
    assert {*names, "rows", "label", "distance", "reason_3"} <= written
    with DuckDB() as database:
        database.fill(names, nulls(T))
        assert_same_answers(fitted, T, names, database.run(parsed.sql(dialect="duckdb")))


# ---- limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [{}, {"levels": "all"}, {"fold": "cos-abs"}])
def test_sixty_features_and_all_levels_fit_into_sqlite(kind, rng):
    X = rng.normal(size=(400, 60))
    model = REF(**kind).fit(X)
    assert model.chain_.levels.min() > 50
    names = [f"feature {number}" for number in range(60)]
    statement = to_sql(model, "rows", "sqlite", columns=names)
    assert len(statement.encode()) < 900_000
    with SQLite() as database:
        database.fill(names, X[:3].tolist())
        assert_same_answers(model, X[:3], names, database.run(statement))


def test_many_features(rng, server):
    X = rng.normal(size=(20, 150))
    model = REF(n_iter=2, distance="l2").fit(X)
    names = [f"f{number}" for number in range(150)]
    for database in all_databases(server):
        with database:
            database.fill(names, X[:2].tolist())
            found = database.run(to_sql(model, "rows", database.dialect, columns=names))
            assert_same_answers(model, X[:2], names, found)


def test_too_much_for_a_database_is_refused(rng):
    wide = REF(n_iter=1).fit(rng.normal(size=(9, 840)))
    names = [f"f{number}" for number in range(840)]
    with pytest.raises(ValueError, match=r"840 features need 1681 columns .* at most 1664"):
        to_sql(wide, "rows", "postgres", reasons=0, columns=names)
    model = REF(n_iter=2).fit(rng.normal(size=(9, 2)))
    with pytest.raises(ValueError, match="sqlite reads at most 1,000,000"):
        to_sql(model, "rows", "sqlite", columns=["a" * 300_000, "b" * 300_000])


# ---- what is refused --------------------------------------------------------------------------


@pytest.fixture
def model(rng):
    return REF(n_iter=3).fit(rng.normal(size=(30, 2)))


def test_unknown_dialect_is_refused_with_the_list(model):
    with pytest.raises(ValueError, match="'oracle' is not among duckdb, postgres, sqlite, snow"):
        to_sql(model, "rows", "oracle", columns=["a", "b"])


def test_models_that_are_not_sql_are_refused(rng, model):
    X = rng.normal(size=(30, 2))
    with pytest.raises(NotFittedError):
        to_sql(REF(), "rows", "duckdb", columns=["a", "b"])
    own_fold = REF(fold=abs, n_iter=2).fit(X)
    with pytest.raises(ValueError, match=r"The fold .* cannot be written as SQL"):
        to_sql(own_fold, "rows", "duckdb", columns=["a", "b"])
    own_distance = REF(distance=lambda y: abs(y).max(axis=1), engine="reference").fit(X)
    with pytest.raises(ValueError, match=r"The distance .* cannot be written as SQL"):
        to_sql(own_distance, "rows", "duckdb", columns=["a", "b"])
    with pytest.raises(TypeError, match="Only REF models"):
        to_sql("model.json", "rows", "duckdb")

    class Otherwise(REF):
        def score_samples(self, X):
            return -super().score_samples(X)

    with pytest.raises(TypeError, match="not Otherwise"):
        to_sql(Otherwise().fit(X), "rows", "duckdb", columns=["a", "b"])


@pytest.mark.parametrize(
    ("dialect", "columns", "message"),
    [
        ("duckdb", ["a", "label"], r"\['label'\] .* prefix=.refold_."),
        ("postgres", ["a", "Distance"], r"\['distance'\] .* prefix="),
        ("duckdb", ["a", "A"], "'a' and 'A' of the model are the same name to duckdb"),
        ("sqlite", ["straße", "STRASSE"], "the same name to sqlite"),
        ("bigquery", ["a", "b.c"], r"'b.c' cannot be used in bigquery: names there cannot have \."),
        ("bigquery", ["a", "b`c"], "names there cannot have `"),
        ("postgres", ["a", "ü" * 40], "it takes 80 bytes, names there at most 63"),
        ("sqlite", ["a", "b\0c"], "a character that text in a database cannot have"),
        ("duckdb", ["a", "\ud800"], "a character that text in a database cannot have"),
        ("duckdb", ["a", ""], "it is empty"),
        ("duckdb", ["a"], "has 1 names; the model has 2 features"),
        ("duckdb", None, "fitted without column names"),
    ],
)
def test_names_that_cannot_be_used_are_refused(dialect, columns, message, model):
    with pytest.raises(ValueError, match=message):
        to_sql(model, "rows", dialect, columns=columns)


def test_names_that_differ_by_case_are_two_columns_in_postgresql(rng, postgres):
    model = REF(n_iter=3).fit(rng.normal(size=(30, 2)))
    with Postgres(postgres) as database:
        database.fill(["a", "A"], [(0.0, 9.0)])
        (row,) = database.run(to_sql(model, "rows", "postgres", columns=["a", "A"]))
        assert row[4:6] == ("A", "a")


@pytest.mark.parametrize("table", ["", "a..b", "a.b.c.d", (), ("a", ""), (1,)])
def test_bad_table_names_are_refused(table, model):
    with pytest.raises(ValueError, match="is not a name of one to three parts"):
        to_sql(model, table, "duckdb", columns=["a", "b"])


@pytest.mark.parametrize("reasons", [-1, 1.5, True, "3"])
def test_bad_numbers_of_reasons_are_refused(reasons, model):
    with pytest.raises(ValueError, match="is not a number of columns"):
        to_sql(model, "rows", "duckdb", reasons=reasons, columns=["a", "b"])


def test_a_missing_sqlglot_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ImportError, match=r"pip install 'refold\[sql\]'"):
        to_sql(model, "rows", "duckdb", columns=["a", "b"])

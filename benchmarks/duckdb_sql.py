"""Judging a million rows where they lie: the SQL of a model in DuckDB, beside refold itself.

``python -m benchmarks.duckdb_sql`` prints a table; both run in memory.
"""

import os

import duckdb
import numpy as np

from benchmarks.measure import best_time
from refold import REF
from refold.export import to_sql

ROWS, COLUMNS = 1_000_000, 10
NAMES = [f"x{number}" for number in range(COLUMNS)]


def _in_duckdb(statement, threads):
    """Return a function that judges all rows of the table and lets the answers go."""
    connection = duckdb.connect(config={"threads": threads})
    connection.execute("SELECT setseed(0.5)")
    normals = ", ".join(
        f"sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS {name}" for name in NAMES
    )
    connection.execute(f"CREATE TABLE rows AS SELECT {normals} FROM range({ROWS})")
    kept = ", ".join(f"max({name})" for name in ("label", "distance", "reason_1", "reason_3"))
    return lambda: connection.execute(f"SELECT {kept} FROM ({statement})").fetchall()


def measure():
    """Return rows of a table: what, with how many threads, seconds, rows per second."""
    X = np.random.default_rng(0).standard_normal((ROWS, COLUMNS))
    names = np.array(NAMES, dtype=object)
    model = REF(engine="exact").fit(X[:10_000])
    without, with_reasons = (
        to_sql(model, "rows", "duckdb", reasons=reasons, columns=NAMES) for reasons in (0, 3)
    )
    results = []
    for threads in sorted({1, os.cpu_count() or 1}):
        model.set_params(n_jobs=threads)
        work = {
            "refold, distance": lambda: model.score_samples(X),
            "refold, reasons": lambda: names[np.argsort(-model.contributions(X), axis=1)[:, :3]],
            "DuckDB, distance": _in_duckdb(
                f"SELECT *, '' AS reason_1, '' AS reason_3 FROM ({without})", threads
            ),
            "DuckDB, reasons": _in_duckdb(with_reasons, threads),
        }
        for what, function in work.items():
            seconds, _ = best_time(function)
            results.append((what, threads, seconds, ROWS / seconds))
    return results


def markdown(results):
    lines = [
        f"## SQL in DuckDB, {ROWS:,} rows of {COLUMNS} columns, 101 levels",
        "",
        "| | threads | seconds | rows/s |",
        "|---|--:|--:|--:|",
    ]
    lines += [f"| {what} | {n} | {s:.2f} | {speed:,.0f} |" for what, n, s, speed in results]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(measure()))

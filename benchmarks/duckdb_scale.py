"""A table in DuckDB, learned and judged: rows handed over as Arrow batches, or work done in SQL.

``python -m benchmarks.duckdb_scale`` prints a table. Seconds of the processor are those of all
threads: other people's work on the machine does not count.
"""

import time

import duckdb
import numpy as np
import pandas as pd

from refold import REF, scale
from refold.export import to_sql

ROWS, COLUMNS, RUNS = 1_000_000, 8, 2
NAMES = [f"x{number}" for number in range(COLUMNS)]


def table():
    """Return a connection with a table of normal deviates."""
    con = duckdb.connect()
    con.execute("select setseed(0.5)")
    normal = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    columns = ", ".join(f"{normal} as {name}" for name in NAMES)
    con.execute(f"create table parts as select {columns} from range({ROWS})")
    return con


def batches(model, con, reasons):
    for _ in scale.duckdb.score(model, con, "parts", reasons=reasons):
        pass


def in_sql(model, con, reasons):
    statement = to_sql(model, "parts", "duckdb", reasons=reasons)
    added = ["label", "distance", *(f"reason_{k + 1}" for k in range(reasons))]
    kept = ", ".join(f"max({name})" for name in added)
    con.execute(f"select {kept} from ({statement})").fetchall()


def measure():
    """Return lines: what, seconds of the processor, seconds on the clock."""
    con = table()
    rows = np.random.default_rng(0).standard_normal((10_000, COLUMNS))
    model = REF(engine="exact").fit(pd.DataFrame(rows, columns=NAMES))
    how = {"progress": False}
    work = {
        "learn, Arrow batches": lambda: scale.duckdb.learn(con, "parts", REF(), **how),
        "learn, in the database": lambda: scale.duckdb.learn(
            con, "parts", REF(), in_database=True, **how
        ),
        "learn with alpha, Arrow batches": lambda: scale.duckdb.learn(
            con, "parts", REF(alpha=0.01), **how
        ),
        "learn with alpha, in the database": lambda: scale.duckdb.learn(
            con, "parts", REF(alpha=0.01), in_database=True, **how
        ),
        "distances, Arrow batches": lambda: batches(model, con, 0),
        "distances, SQL": lambda: in_sql(model, con, 0),
        "three reasons, Arrow batches": lambda: batches(model, con, 3),
        "three reasons, SQL": lambda: in_sql(model, con, 3),
    }
    return [(what, *_best(function)) for what, function in work.items()]


def _best(function):
    times = []
    for _ in range(RUNS):
        begin = time.process_time(), time.perf_counter()
        function()
        times.append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
    return tuple(min(each) for each in zip(*times, strict=True))


def main():
    """Print what was measured."""
    print(f"## DuckDB {duckdb.__version__}, {ROWS:,} rows of {COLUMNS} columns\n")
    print("| REF | seconds of the processor | on the clock |\n|---|--:|--:|")
    for what, processor, clock in measure():
        print(f"| {what} | {processor:.2f} | {clock:.2f} |")


if __name__ == "__main__":
    main()

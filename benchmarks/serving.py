"""Models that travel: what an answer takes in ONNX Runtime, in DuckDB and in refold itself.

``python -m benchmarks.serving`` prints the shortest of many calls.
"""

import time

import numpy as np
import onnxruntime

from benchmarks import duckdb_sql
from refold import REF
from refold.export import to_onnx

TRAINING_ROWS = 10_000
COLUMNS = (10, 60)
CALLS = 2_000


def seconds_per_call(work):
    """The shortest of many calls: what is above it is other people's work."""
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def refold_one_row(model, row):
    return seconds_per_call(lambda: model.predict(row))


def onnx_one_row(model, row, dtype):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        to_onnx(model, dtype=dtype).SerializeToString(),
        options,
        providers=["CPUExecutionProvider"],
    )
    row = row.astype(dtype)
    return seconds_per_call(lambda: session.run(["label"], {"X": row}))


def one_row():
    """Microseconds for the label of one row, as a Markdown table."""
    lines = [
        "## The label of one row, microseconds, one thread",
        "",
        "| columns | levels | refold | ONNX Runtime, float64 | ONNX Runtime, float32 |",
        "|--:|---|--:|--:|--:|",
    ]
    rng = np.random.default_rng(0)
    for columns in COLUMNS:
        X, row = rng.normal(size=(TRAINING_ROWS, columns)), rng.normal(size=(1, columns))
        for levels in ("last", "all"):
            model = REF(levels=levels, n_jobs=1).fit(X)
            times = [refold_one_row(model, row)]
            times += [onnx_one_row(model, row, dtype) for dtype in ("float64", "float32")]
            cells = " | ".join(f"{1e6 * seconds:.0f}" for seconds in times)
            lines.append(f"| {columns} | {levels} | {cells} |")
    return "\n".join(lines)


def main():
    print(one_row())
    print()
    print(duckdb_sql.markdown(duckdb_sql.measure()))


if __name__ == "__main__":
    main()

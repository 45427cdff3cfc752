"""CreasedREF beside the three matrix products that it cannot do without, its memory and threads.

``python -m benchmarks.creased``: speed and memory single-threaded; then the same work with one and
two threads of BLAS, on the machine as it is and with all of its cores kept busy.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm

from benchmarks.__main__ import ONE_THREAD
from benchmarks.measure import best_time, peak_bytes
from refold import CreasedREF

ROWS, COLUMNS, GOAL = 100_000, 20, 3.0
MEMORY_ROWS = (250_000, 1_000_000)
CHUNK = 50_000
SMALL_ROWS, CORES = 10_000, os.cpu_count() or 1
BLOCK = 512  # rows at once in the products: the fastest of 64, 128, … 1024


def products(X, model):
    """Do Z·Wᵀ, ΦᵀΦ and L⁻¹Φᵀ once over all rows, in blocks, with nothing in between."""
    W, L = model.creases_.directions, model.scoring_.leverage.factor
    p = len(L)
    block = np.random.default_rng(0).standard_normal((BLOCK, p))
    phi, y = block.copy(), np.empty((BLOCK, len(W)))
    gram = np.zeros((p, p), order="F")
    for begin in range(0, len(X), BLOCK):
        Z = X[begin : begin + BLOCK]
        np.dot(Z, W.T, out=y[: len(Z)])
        dsyrk(1.0, block.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        np.copyto(phi, block)
        dtrsm(1.0, L, phi.T, lower=1, overwrite_b=1)


def speed():
    X = np.random.default_rng(0).standard_normal((ROWS, COLUMNS))
    model = CreasedREF().fit(X)
    model.score_samples(X)
    needed, learn, score = np.min([_one_round(X, model) for _ in range(3)], axis=0).tolist()
    one_row, _ = best_time(lambda: model.score_samples(X[:1]))
    return {
        "products_s": needed,
        "learn_s": learn,
        "score_s": score,
        "ratio": (learn + score) / needed,
        "one_row_ms": one_row * 1e3,
    }


def _one_round(X, model):
    """All three by turns, so that a busy moment hurts them alike; CPU time."""
    work = (lambda: products(X, model), lambda: CreasedREF().fit(X), lambda: model.score_samples(X))
    times = []
    for task in work:
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return times


def memory(rows):
    """Learn a stream of rows that are made as they are needed."""
    rng = np.random.default_rng(0)
    model = CreasedREF().partial_fit(rng.standard_normal((CHUNK, COLUMNS)))
    for _ in range(CHUNK, rows, CHUNK):
        model.partial_fit(rng.standard_normal((CHUNK, COLUMNS)))
    model.predict(rng.standard_normal((100, COLUMNS)))
    return {"rows": rows, "peak_mb": peak_bytes() / 1e6}


def threads():
    """Learn and score a small table: wall and CPU time."""
    X = np.random.default_rng(0).standard_normal((SMALL_ROWS, COLUMNS))
    model = CreasedREF().fit(X)
    return {
        "learn_s": _wall_and_cpu(lambda: CreasedREF().fit(X)),
        "rows_s": _wall_and_cpu(lambda: [model.predict(X[:1]) for _ in range(20)]),
    }


def _wall_and_cpu(task):
    times = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        task()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(times)


@contextmanager
def busy_cores():
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(CORES)]
    try:
        yield
    finally:
        for process in others:
            process.kill()
            process.wait()


def fresh(*arguments, env=ONE_THREAD):
    """Run one part in a process of its own, by default with one thread."""
    command = [sys.executable, "-m", "benchmarks.creased", *map(str, arguments)]
    env = {**os.environ, **env}
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speed", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--threads", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.threads:
        return json.dump(threads(), sys.stdout)
    if arguments.speed or arguments.memory:
        return json.dump(speed() if arguments.speed else memory(arguments.memory), sys.stdout)
    s = fresh("--speed")
    print(
        f"## CreasedREF, {ROWS:,} rows × {COLUMNS} columns, one thread\n\n"
        f"learning {s['learn_s']:.2f} s, scoring {s['score_s']:.2f} s, the three products once "
        f"{s['products_s']:.2f} s: {s['ratio']:.2f} times (wanted < {GOAL:g}); "
        f"one row {s['one_row_ms']:.2f} ms"
    )
    for m in (fresh("--memory", rows) for rows in MEMORY_ROWS):
        print(f"learning {m['rows']:,} rows: {m['peak_mb']:.0f} MB at most, the process included")
    print(f"\n{SMALL_ROWS:,} rows, seconds (CPU): learning; 20 single rows")
    for said, load in (("as it is", nullcontext), ("all cores busy", busy_cores)):
        for n in (1, 2):
            with load():
                t = fresh("--threads", env={"OPENBLAS_NUM_THREADS": str(n)})
            shown = "; ".join(f"{wall:.3f} ({cpu:.3f})" for wall, cpu in t.values())
            print(f"{said}, {n} BLAS threads: {shown}")
    return None


if __name__ == "__main__":
    main()

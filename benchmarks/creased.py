"""CreasedREF beside the three matrix products that it cannot do without; one row; memory; threads.

``python -m benchmarks.creased``: speed, one row and memory with one thread, then learning and
scoring with one and two. CPU time, which others on the machine hardly change; of threads the
calling one's, which on cores that are free is the time that passes.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from functools import partial

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm

from benchmarks.__main__ import ONE_THREAD
from benchmarks.measure import peak_bytes
from refold import CreasedREF
from refold.algorithm import kernels

ROWS, COLUMNS, GOAL = 100_000, 20, 3.0
MEMORY_ROWS = (250_000, 1_000_000)
CHUNK = 50_000
CREASES, WIDTHS, ONE_BY_ONE = (256, 512), (10, 60), 200
THREADED = (1_000, 10_000, 100_000)
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
    model = CreasedREF(n_jobs=1).fit(X)
    tasks = (
        lambda: products(X, model),
        lambda: CreasedREF(n_jobs=1).fit(X),
        lambda: model.score_samples(X),
    )
    # All three by turns, so that a busy moment hurts them alike.
    rounds = [[_cpu(task) for task in tasks] for _ in range(3)]
    needed, learn, score = np.min(rounds, axis=0).tolist()
    return {
        "products_s": needed,
        "learn_s": learn,
        "score_s": score,
        "ratio": (learn + score) / needed,
    }


def one_row():
    """Microseconds for the label of one row, and for its reasons."""
    rng, found = np.random.default_rng(0), []
    for creases in CREASES:
        for width in WIDTHS:
            X = rng.standard_normal((4_000, width)) @ rng.standard_normal((width, width))
            model, row = CreasedREF(n_creases=creases, n_jobs=1).fit(X), 1.1 * X[:1]
            times = [_each(partial(ask, row)) for ask in (model.predict, model.reasons)]
            found.append([creases, width, *times])
    return found


def _each(task):
    def often():
        for _ in range(ONE_BY_ONE):
            task()

    return min(_cpu(often) for _ in range(9)) / ONE_BY_ONE * 1e6


def _cpu(task, clock=time.process_time):
    start = clock()
    task()
    return clock() - start


def memory(rows):
    """Learn a stream of rows that are made as they are needed."""
    rng = np.random.default_rng(0)
    model = CreasedREF().partial_fit(rng.standard_normal((CHUNK, COLUMNS)))
    for _ in range(CHUNK, rows, CHUNK):
        model.partial_fit(rng.standard_normal((CHUNK, COLUMNS)))
    model.predict(rng.standard_normal((100, COLUMNS)))
    return {"rows": rows, "peak_mb": peak_bytes() / 1e6}


def threads():
    """Learn and score tables with one and two threads: times of the calling thread."""
    X, found = np.random.default_rng(0).standard_normal((max(THREADED), COLUMNS)), []
    for rows in THREADED:
        part = X[:rows]
        times = {}
        for n in (1, 2):
            model = CreasedREF(n_jobs=n).fit(part)
            tasks = (partial(CreasedREF(n_jobs=n).fit, part), partial(model.score_samples, part))
            times[n] = [min(_cpu(task, time.thread_time) for _ in range(5)) for task in tasks]
        found.append([rows, *zip(times[1], times[2], strict=True)])
    return found


def fresh(*arguments, env=ONE_THREAD):
    """Run one part in a process of its own, by default with one thread."""
    command = [sys.executable, "-m", "benchmarks.creased", *map(str, arguments)]
    env = {**os.environ, **env}
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout)


PARTS = {"speed": speed, "one-row": one_row, "threads": threads}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part or arguments.memory:
        found = PARTS[arguments.part]() if arguments.part else memory(arguments.memory)
        return json.dump(found, sys.stdout)
    s = fresh("--part", "speed")
    print(
        f"## CreasedREF, {ROWS:,} rows × {COLUMNS} columns, one thread, "
        f"{kernels.instruction_set}\n\n"
        f"learning {s['learn_s']:.2f} s, scoring {s['score_s']:.2f} s, the three products once "
        f"{s['products_s']:.2f} s: {s['ratio']:.2f} times (wanted < {GOAL:g})"
    )
    for m in (fresh("--memory", rows) for rows in MEMORY_ROWS):
        print(f"learning {m['rows']:,} rows: {m['peak_mb']:.0f} MB at most, the process included")
    print("\n| one row, µs | columns | label | reasons |\n|---|--:|--:|--:|")
    for creases, width, label, reasons in fresh("--part", "one-row"):
        print(f"| CreasedREF, {creases} creases | {width} | {label:.0f} | {reasons:.0f} |")
    print("\n| rows | learning, s: 1 and 2 threads | times | scoring, s | times |")
    print("|--:|--:|--:|--:|--:|")
    for rows, *both in fresh("--part", "threads", env={"OPENBLAS_NUM_THREADS": "1"}):
        shown = " | ".join(f"{one:.4f}, {two:.4f} | {one / two:.2f}" for one, two in both)
        print(f"| {rows:,} | {shown} |")
    return None


if __name__ == "__main__":
    main()

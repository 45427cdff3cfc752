"""Measures one method in a process of its own, so that memory and threads are its own too."""

import argparse
import importlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

ENOUGH_SECONDS, ENOUGH_RUNS = 2.0, 9


def best_time(work):
    """The shortest of several runs: what is above it is other people's work."""
    times = []
    while len(times) < ENOUGH_RUNS and sum(times) < ENOUGH_SECONDS:
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def peak_bytes():
    """The most memory so far. Linux hands getrusage's figure on from parent to child; this not."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adapter")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--columns", type=int, required=True)
    parser.add_argument("--options", type=json.loads, default={})
    arguments = parser.parse_args()
    adapter = importlib.import_module(f"benchmarks.adapters.{arguments.adapter}")
    method = adapter.make(**arguments.options)
    rows = min(arguments.rows, getattr(adapter, "MAX_ROWS", arguments.rows))
    X = np.random.default_rng(0).standard_normal((rows, arguments.columns))

    before = peak_bytes()
    learn, model = best_time(lambda: method.fit(X))
    after_learning = peak_bytes()
    score, _ = best_time(lambda: method.score(model, X))
    json.dump(
        {
            "name": method.name,
            "rows": rows,
            "learn_ns": learn / X.size * 1e9,
            "score_ns": score / X.size * 1e9,
            "learn_peak_mb": (after_learning - before) / 1e6,
            "score_peak_mb": (peak_bytes() - before) / 1e6,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()

"""``refold fit`` and ``refold score`` of a CSV beside pyarrow: ``python -m benchmarks.csv_file``.

CPU seconds of whole processes, start-up included, for 20 columns: numbers alone, and ten of them
texts, two of which are different in every row. Peak memory is that of the process.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

VALUES = (2, 5, 7, 12, 30, 50, 200, 1_000)
READ = "import sys; from pyarrow import csv; csv.read_csv(sys.argv[1])"


def columns(rows, *, mixed):
    """Numbers, categories of few and many values, running names and hashes."""
    rng = np.random.default_rng(0)
    found = {f"n{k}": rng.normal(50, 10, rows).round(k % 4) for k in range(10 if mixed else 20)}
    if mixed:
        for values in VALUES:
            names = np.array([f"type {k}" for k in range(values)])
            found[f"of {values}"] = names[rng.integers(0, values, rows)]
        found["name"] = [f"C-{k:08d}" for k in rng.permutation(rows)]
        found["hash"] = [f"{k:016x}" for k in rng.integers(0, 2**62, rows)]
    return found


def write(rows, file, *, mixed):
    """Write a table, in a process of its own: others would begin with the memory it took."""
    csv.write_csv(pa.table(columns(rows, mixed=mixed)), file)


def took(*command):
    """Return the CPU seconds of a process, and its peak memory in MB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{command} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="?", type=int, default=200_000)
    rows = parser.parse_args().rows
    refold = (sys.executable, "-c", "from refold.cli import app; app()")
    print(
        f"| {rows:,} rows | | CPU, s | times pyarrow's reading | peak MB |\n|---|---|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, model, scored = (str(folder / n) for n in ("a.csv", "model.json", "scored.csv"))
        for table in ("numbers", "mixed"):
            with ProcessPoolExecutor(1) as process:
                process.submit(write, rows, file, mixed=table == "mixed").result()
            alone, memory = took(sys.executable, "-c", READ, file)
            print(f"| {table} | pyarrow reads | {alone:.2f} | 1.0 | {memory:,.0f} |")
            for method in ("ref", "creased"):
                fit = ("fit", file, "-o", model, "--method", method)
                for what in (fit, ("score", model, file, "-o", scored)):
                    seconds, memory = took(*refold, *what)
                    line = (
                        f"| {table} | {what[0]}, {method} | {seconds:.2f} | {seconds / alone:.1f} |"
                    )
                    print(f"{line} {memory:,.0f} |", flush=True)


if __name__ == "__main__":
    main()

"""Learning from a Parquet file: memory however many rows, speed beside pyarrow alone.

``python -m benchmarks.parquet`` makes the files in a temporary folder, row group by row group.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from benchmarks.measure import best_time, peak_bytes
from refold import REF, scale
from refold.scale.blocks import rows_at_once

COLUMNS = [f"x{number}" for number in range(8)]
ROW_GROUP = 1_000_000
GOAL = 0.75
RUNS = 2


def make(path, rows):
    """Write a file of normal deviates without ever having it in memory."""
    rng = np.random.default_rng(0)
    schema = pa.schema([(name, pa.float64()) for name in COLUMNS])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, rows, ROW_GROUP):
            size = min(ROW_GROUP, rows - begin)
            columns = list(rng.standard_normal((len(COLUMNS), size)))
            writer.write_batch(pa.record_batch(columns, schema=schema), ROW_GROUP)


def scan(path):
    """Let pyarrow alone scan the file in batches of the same size, as far ahead as it likes."""
    options = ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    table = ds.dataset(path, format=ds.ParquetFileFormat(default_fragment_scan_options=options))
    for _ in table.to_batches(batch_size=rows_at_once(len(COLUMNS))):
        pass


def read_row_groups(path):
    """Let pyarrow alone read row group by row group: less memory, often faster on large files."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for number in range(file.num_row_groups):
            file.read_row_group(number)


READERS = {"scan": scan, "row groups": read_row_groups}
WORK = {**READERS, "fit": lambda path: scale.learn(path, REF(), progress=False)}


def measure(path, what):
    """Do one thing in a process of its own: seconds of the work, bytes of the whole process."""
    command = [sys.executable, "-m", "benchmarks.parquet", "--child", what, str(path)]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def child(what, path):
    seconds, _ = best_time(lambda: WORK[what](path))
    json.dump({"seconds": seconds, "peak": peak_bytes()}, sys.stdout)


def compare(path, rows):
    """Measure in turns, so that other people's work on the machine meets all; the best counts.

    Learning stands beside the way of reading that is faster for this file.
    """
    runs = [{what: measure(path, what) for what in WORK} for _ in range(RUNS)]
    seconds = {what: min(run[what]["seconds"] for run in runs) for what in WORK}
    peak = {what: max(run[what]["peak"] for run in runs) / 1e6 for what in WORK}
    reader = min(READERS, key=seconds.__getitem__)
    return {
        "rows": rows,
        "file_mb": path.stat().st_size / 1e6,
        "reader": reader,
        "read_rows_per_s": rows / seconds[reader],
        "fit_rows_per_s": rows / seconds["fit"],
        "speed": seconds[reader] / seconds["fit"],
        "read_peak_mb": peak[reader],
        "fit_peak_mb": peak["fit"],
    }


def markdown(results):
    lines = [
        f"## Parquet, {len(COLUMNS)} columns of float64, row groups of {ROW_GROUP:,}",
        "",
        f"| rows | file MB | pyarrow alone, rows/s | learning, rows/s | of pyarrow (>= {GOAL:.0%}) "
        "| peak MB, pyarrow alone | peak MB, learning |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r['rows']:,} | {r['file_mb']:,.0f} | {r['read_rows_per_s']:,.0f} ({r['reader']}) "
        f"| {r['fit_rows_per_s']:,.0f} | {r['speed']:.0%} | {r['read_peak_mb']:.0f} "
        f"| {r['fit_peak_mb']:.0f} |"
        for r in results
    ]
    return "\n".join(lines)


def run(sizes):
    """Make, measure and remove one file after the other."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            print(f"  {rows:,} rows", file=sys.stderr, flush=True)
            path = Path(folder) / "table.parquet"
            make(path, rows)
            results.append(compare(path, rows))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=float, nargs="*", default=[5, 20, 50])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        what, path = arguments.child
        child(what, Path(path))
    else:
        print(markdown(run([int(millions * 1e6) for millions in arguments.millions])))


if __name__ == "__main__":
    main()

"""Speed and memory of refold and its peers, in one run on the same data: ``make bench``."""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from refold.algorithm import kernels

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
}
NUMPY, SUM, ECOD, FOREST = (
    "NumPy, Algorithm 1",
    "NumPy, X.sum(axis=0)",
    "PyOD ECOD",
    "IsolationForest",
)


def measure(adapter, rows, columns, **options):
    print(f"  {adapter} {options or ''}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.measure", adapter]
    command += ["--rows", str(rows), "--columns", str(columns), "--options", json.dumps(options)]
    run = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE, check=True
    )
    return json.loads(run.stdout)


def compare(rows, columns, ours, peers):
    """Measure everybody; refold goes first and last, so that a busy moment hurts it no more."""
    print(f"{rows:,} × {columns}", file=sys.stderr)
    first = [measure("refold_ref", rows, columns, **options) for options in ours]
    others = [measure(adapter, rows, columns) for adapter in peers]
    last = [measure("refold_ref", rows, columns, **options) for options in ours]
    best = [
        a | {time: min(a[time], b[time]) for time in ("learn_ns", "score_ns")}
        for a, b in zip(first, last, strict=True)
    ]
    return {"rows": rows, "columns": columns, "methods": best + others}


def exact_case():
    """The compiled engine beside all peers."""
    ours = [
        {"engine": "exact", "n_jobs": n_jobs, "levels": levels}
        for n_jobs in (1, 2)
        for levels in ("last", "all")
    ]
    peers = ("numpy_reference", "isolation_forest", "one_class_svm", "ecod", "copod", "hbos")
    result = compare(100_000, 20, ours, peers)
    one, path, two, _, *others = result["methods"]
    by = {entry["name"]: entry for entry in others}
    result["ratios"] = {
        "learning, times as fast as NumPy": (by[NUMPY]["learn_ns"] / one["learn_ns"], ">= 50"),
        "scoring, times as fast as NumPy": (by[NUMPY]["score_ns"] / one["score_ns"], ">= 45"),
        "learning, times as fast as ECOD": (by[ECOD]["learn_ns"] / one["learn_ns"], ">= 25"),
        "scoring, times as fast as IsolationForest": (
            by[FOREST]["score_ns"] / one["score_ns"],
            ">= 60",
        ),
        "path score, times the time of the last level": (
            path["score_ns"] / one["score_ns"],
            "<= 1.6",
        ),
        "learning, two threads over one": (one["learn_ns"] / two["learn_ns"], ">= 1.8"),
        "scoring, two threads over one": (one["score_ns"] / two["score_ns"], ">= 1.8"),
    }
    return result


def sketch_case(rows, columns, peers, goals):
    """One pass over the rows beside a plain sum, and the same goals as ratios."""
    ours = [{"engine": "sketch", "n_jobs": n_jobs} for n_jobs in (1, 2)]
    result = compare(rows, columns, ours, peers)
    one, _, *others = result["methods"]
    by = {entry["name"]: entry["learn_ns"] for entry in others}
    result["ratios"] = {"learning, times the time of a sum": (one["learn_ns"] / by[SUM], goals[0])}
    for name, goal in zip((NUMPY, ECOD), goals[1:], strict=False):
        result["ratios"][f"learning, times as fast as {name}"] = (by[name] / one["learn_ns"], goal)
    return result


def markdown(result):
    one = result["methods"][0]
    lines = [
        f"## {result['rows']:,} rows × {result['columns']} columns, J = 101",
        "",
        "| method | rows | learn ns/value | score ns/value | learn: refold is | score: refold is "
        "| extra memory learn / score, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for entry in result["methods"]:
        lines.append(
            f"| {entry['name']} | {entry['rows']:,} | {entry['learn_ns']:.1f} "
            f"| {entry['score_ns']:.1f} | {entry['learn_ns'] / one['learn_ns']:.1f}× "
            f"| {entry['score_ns'] / one['score_ns']:.1f}× "
            f"| {entry['learn_peak_mb']:.0f} / {entry['score_peak_mb']:.0f} |"
        )
    lines += ["", "| ratio | reached | wanted |", "|---|--:|--:|"]
    lines += [
        f"| {name} | {value:.2f} | {goal} |" for name, (value, goal) in result["ratios"].items()
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    arguments = parser.parse_args()
    results = [
        exact_case(),
        sketch_case(
            1_000_000, 10, ("numpy_sum", "numpy_reference", "ecod"), ("<= 2", ">= 250", ">= 120")
        ),
        sketch_case(200_000, 100, ("numpy_sum",), ("<= 5",)),
    ]
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "instruction set": kernels.instruction_set,
        "python": platform.python_version(),
    }
    text = "\n\n".join(markdown(result) for result in results)
    arguments.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": machine, "results": results}
    (arguments.out / "bench.json").write_text(json.dumps(report, indent=1) + "\n")
    (arguments.out / "bench.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()

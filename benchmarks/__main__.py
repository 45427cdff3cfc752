"""Speed and memory of refold and its peers, in one run on the same data: ``make bench``."""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from refold.kernels import _kernels

PEERS = ("numpy_reference", "isolation_forest", "one_class_svm", "ecod", "copod", "hbos")
OURS = (
    {"n_jobs": 1},
    {"n_jobs": 1, "levels": "all"},
    {"n_jobs": 2},
    {"n_jobs": 2, "levels": "all"},
)
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
}


def measure(adapter, rows, columns, **options):
    print(f"  {adapter} {options or ''}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.measure", adapter]
    command += ["--rows", str(rows), "--columns", str(columns), "--options", json.dumps(options)]
    run = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE, check=True
    )
    return json.loads(run.stdout)


def compare(rows, columns):
    """Measure everybody; refold stands first and last, so that a change of the machine shows."""
    print(f"{rows:,} × {columns}", file=sys.stderr)
    first = [measure("refold_ref", rows, columns, **options) for options in OURS]
    peers = [measure(adapter, rows, columns) for adapter in PEERS]
    last = [measure("refold_ref", rows, columns, **options) for options in OURS]
    ours = [
        {
            **a,
            "learn_ns": min(a["learn_ns"], b["learn_ns"]),
            "score_ns": min(a["score_ns"], b["score_ns"]),
        }
        for a, b in zip(first, last, strict=True)
    ]
    return {"rows": rows, "columns": columns, "ours": ours, "peers": peers}


def ratios(result):
    """The figures that are claimed, from this run."""
    by_name = {entry["name"]: entry for entry in result["ours"] + result["peers"]}
    one, path, two, _ = result["ours"]
    numpy, ecod, forest = (
        by_name[n] for n in ("NumPy, Algorithm 1", "PyOD ECOD", "IsolationForest")
    )
    return {
        "learning, times as fast as NumPy": (numpy["learn_ns"] / one["learn_ns"], ">= 50"),
        "scoring, times as fast as NumPy": (numpy["score_ns"] / one["score_ns"], ">= 45"),
        "learning, times as fast as ECOD": (ecod["learn_ns"] / one["learn_ns"], ">= 25"),
        "scoring, times as fast as IsolationForest": (
            forest["score_ns"] / one["score_ns"],
            ">= 60",
        ),
        "path score, times the time of the last level": (
            path["score_ns"] / one["score_ns"],
            "<= 1.6",
        ),
        "learning, two threads over one": (one["learn_ns"] / two["learn_ns"], ">= 1.8"),
        "scoring, two threads over one": (one["score_ns"] / two["score_ns"], ">= 1.8"),
    }


def markdown(result):
    one = result["ours"][0]
    lines = [
        f"## {result['rows']:,} rows × {result['columns']} columns, J = 101",
        "",
        "| method | rows | learn ns/value | score ns/value | learn: refold is | score: refold is "
        "| extra memory learn / score, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for entry in result["ours"] + result["peers"]:
        lines.append(
            f"| {entry['name']} | {entry['rows']:,} | {entry['learn_ns']:.1f} "
            f"| {entry['score_ns']:.1f} | {entry['learn_ns'] / one['learn_ns']:.1f}× "
            f"| {entry['score_ns'] / one['score_ns']:.1f}× "
            f"| {entry['learn_peak_mb']:.0f} / {entry['score_peak_mb']:.0f} |"
        )
    lines += ["", "| ratio | reached | wanted |", "|---|--:|--:|"]
    lines += [
        f"| {name} | {value:.2f} | {goal} |" for name, (value, goal) in ratios(result).items()
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    arguments = parser.parse_args()
    result = compare(arguments.rows, arguments.columns)
    result["machine"] = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "instruction set": _kernels.instruction_set,
        "python": platform.python_version(),
    }
    text = markdown(result)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "bench.json").write_text(json.dumps(result, indent=1) + "\n")
    (arguments.out / "bench.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()

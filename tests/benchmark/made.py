"""Summaries of runs that were never run."""

from __future__ import annotations

from refold.benchmark.cells import Job
from refold.benchmark.protocol import MEASURES, Cell
from refold.benchmark.summary import summarize


def made(values, note="no"):
    """Return a summary with ``values[method][set][seed]`` as every measure; None is a failure."""
    n_sets = len(next(iter(values.values())))
    return summarize(
        {
            Job(f"set{i}", method, seed): cell(value, note)
            for i in range(n_sets)
            for method, table in values.items()
            for seed, value in enumerate(table[i])
        }
    )


def cell(value, note):
    if value is None:
        return Cell.failed(ValueError(note))
    return Cell("done", dict.fromkeys(MEASURES, float(value)))

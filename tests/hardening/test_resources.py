"""Large files that are valid: their memory has a bound, and grows no faster than the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import refold
from refold import REF, CreasedREF

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc"),
]

MB = 2**20
LOAD = "refold.load(path)"
READ = """
with open_table(path) as table:
    for block in table.blocks(numbers=table.names): pass
"""
# In a process of its own: the peak of what is resident.
PROGRAM = """
import sys
import refold, refold.models.files, pyarrow.parquet
from refold.tabular import open_table

def resident(key):
    return int(open("/proc/self/status").read().split(key)[1].split()[0]) * 1024

def work(path):
{work}
work(sys.argv[1])  # what is imported and kept once is not counted
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS:")
work(sys.argv[2])
print(resident("VmHWM:") - before)
"""


def taken(work, small, large):
    """Return the bytes that a large file takes after a small one of its kind."""
    body = "\n".join(f"    {line}" for line in work.strip().splitlines())
    line = [sys.executable, "-c", PROGRAM.format(work=body), str(small), str(large)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return int(done.stdout)


def rows(n, columns):
    return np.random.default_rng(0).normal(size=(n, columns))


def named(n, columns):
    return pd.DataFrame(rows(n, columns), columns=[f"column {k}" for k in range(columns)])


def test_a_model_of_ten_thousand_columns(tmp_path):
    refold.save(REF(n_iter=5).fit(named(50, 10)), tmp_path / "small")
    refold.save(REF(n_iter=5).fit(named(50, 10_000)), tmp_path / "large")
    memory = taken(LOAD, tmp_path / "small", tmp_path / "large")
    assert memory < 100 * MB


def test_a_creased_model_with_as_many_rows_as_it_keeps(tmp_path):
    for name, n in (("small", 100), ("large", 20_000)):
        refold.save(CreasedREF(random_state=0).fit(rows(n, 40)), tmp_path / name)
    assert (tmp_path / "large").stat().st_size > 2 * MB
    memory = taken(LOAD, tmp_path / "small", tmp_path / "large")
    assert memory < 100 * MB


def test_one_row_group_of_parquet(tmp_path):
    for name, n in (("small", 1000), ("large", 2_000_000)):
        table = pa.table(dict(zip("abcd", rows(n, 4).T, strict=True)))
        pq.write_table(table, tmp_path / name, row_group_size=10**9)
    memory = taken(READ, tmp_path / "small", tmp_path / "large")
    assert memory < 3 * (tmp_path / "large").stat().st_size


def test_the_longest_line_of_text(tmp_path):
    cell = "1" * 15_000_000
    (tmp_path / "small").write_text("a,b\n1,x\n")
    (tmp_path / "large").write_text(f"a,b\n1,x\n1,{cell}x\n1,{cell}x\n")
    memory = taken(READ, tmp_path / "small", tmp_path / "large")
    assert memory < 300 * MB


def test_columns_of_text(tmp_path):
    """Some 35 kB for each, nearly all of it Arrow's; 64 if it infers all their types at once."""
    for name, columns in (("small", 10), ("large", 20_000)):
        row = ",".join(["1"] * columns)
        names = ",".join(f"c{k}" for k in range(columns))
        (tmp_path / name).write_text(f"{names}\n{row}\n{row}\n")
    memory = taken(READ, tmp_path / "small", tmp_path / "large")
    assert memory < 45_000 * 20_000

"""However many rows a file has, learning and scoring need no more memory."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold import REF, scale

PEAK = """
import sys
import refold
from refold import scale
source, out, kind = sys.argv[1:]
model = scale.learn(source, getattr(refold, kind)(**{"Detector": {"method": "ref"}}.get(kind, {})))
if out != "-":
    scale.score(model, source, out)
status = open("/proc/self/status").read()
print(status.split("VmHWM:")[1].split()[0])
"""


def peak_megabytes(source, out, kind):
    command = [sys.executable, "-c", PEAK, str(source), str(out), kind]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024


def write_rows(path, groups, rng):
    names = ["a", "b", "c", "d"]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for _ in range(groups):
            columns = rng.normal(size=(4, 100_000))
            writer.write_batch(pa.record_batch(list(columns), names=names))


def assert_bounded(folder, rng, out="-", kind="REF"):
    """Compare tables both larger than what the allocator keeps: its peak scatters by 40 MB."""
    write_rows(folder / "few", 20, rng)
    write_rows(folder / "many", 60, rng)
    more = ((folder / "many").stat().st_size - (folder / "few").stat().st_size) / 2**20
    assert more > 120
    many, few = (peak_megabytes(folder / name, out, kind) for name in ("many", "few"))
    grown = many - few
    assert grown < more / 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("kind", ["REF", "Detector"])
def test_memory_does_not_grow_with_the_rows(tmp_path, rng, kind):
    assert_bounded(tmp_path, rng, kind=kind)
    assert scale.learn(tmp_path / "many", REF()).sketch_.rows == 6_000_000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_of_scoring_does_not_grow_with_the_rows(tmp_path, rng):
    assert_bounded(tmp_path, rng, tmp_path / "out.parquet")

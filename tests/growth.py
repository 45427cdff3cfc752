"""How work grows: counted, not timed, so that a busy machine changes nothing.

Calls of functions and bytes are counted. Work within one call, such as a regular expression that
tries again from every position, shows in instructions only: ``make growth`` runs the same tests
under valgrind, which counts these.
"""

import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

MOST = 7.0  # times the work for four times as much: linear is four, quadratic sixteen
FEW_BYTES = 2**20  # what is kept once, such as a cache, may be this large
CALLGRIND = os.environ.get("REFOLD_CALLGRIND")  # the folder of valgrind, if it runs us


def assert_linear(work, of, size):
    """Compare the work for a size with that for four times as much."""
    size = size // 4 if CALLGRIND else size  # what is counted so exactly shows in little, too
    small, large = of(size), of(4 * size)
    work(small)  # what is done once only is done
    meter = _instructions if CALLGRIND else _calls_and_bytes
    for unit, few, many in zip(UNITS, meter(work, small), meter(work, large), strict=False):
        assert many < MOST * few, f"{many:,} {unit} for four times as much as {few:,} {unit}"


UNITS = ("instructions",) if CALLGRIND else ("calls", "bytes at the peak")


def _calls_and_bytes(work, given):
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(count)
    try:
        work(given)
    finally:
        sys.setprofile(before)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return calls, peak + FEW_BYTES


def _instructions(work, given):
    gc.collect()
    gc.disable()  # a full collection walks what all tests keep, which is more than the work
    try:
        _ask_valgrind("instrumentation on")
        _ask_valgrind("zero")
        work(given)
        _ask_valgrind("dump")
        _ask_valgrind("instrumentation off")
    finally:
        gc.enable()
    (written,) = Path(CALLGRIND).glob("counted.*")
    lines = written.read_text().splitlines()
    written.unlink()
    return (sum(int(line.split()[1]) for line in lines if line.startswith("summary:")),)


def _ask_valgrind(command):
    """Give a command to the valgrind that runs this process; it listens while Python runs."""
    line = ["vgdb", f"--vgdb-prefix={CALLGRIND}/pipe", f"--pid={os.getpid()}", *command.split()]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as asked:
        while asked.poll() is None:
            pass
        assert asked.returncode == 0, asked.stdout.read()

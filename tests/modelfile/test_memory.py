"""However hostile a file is, loading it takes less than 320 MB, and says why it is refused."""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import refold
from refold import REF, CreasedREF, Detector, ModelFileError
from refold.algorithm.algorithm_file import sketch_written
from refold.algorithm.engines.sketch import Sketch
from refold.modelfile.document import to_bytes
from refold.modelfile.json_text import _COST, _STRING_COST, MEMORY, MOST_BYTES
from refold.models.files import KINDS
from tests.modelfile.conftest import sealed, unpacked

LIMIT = 320 * 2**20

# In a process of its own, for as many files as are named to it: the peak of what is resident.
LOADER = """
import ctypes, gc, json, sys
import refold
import refold.models.files  # now, so that what it imports is not counted as the file's

def resident(key):
    return int(open("/proc/self/status").read().split(key)[1].split()[0]) * 1024

for path in sys.stdin:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free must not hide what is needed
    open("/proc/self/clear_refs", "w").write("5")  # the peak so far is forgotten
    before = resident("VmRSS:")
    try:
        refold.load(path.rstrip())
        said = "loaded"
    except refold.ModelFileError as error:
        said = str(error)
    print(json.dumps([resident("VmHWM:") - before, said]), flush=True)
"""


@pytest.fixture(scope="module")
def load_apart():
    """Return how many bytes loading a file takes, and what became of it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", LOADER], **pipes) as process:

        def load(path):
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield load
        process.stdin.close()


def filled(piece, *, before=b"", after=b"", size=MOST_BYTES):
    """Repeat a piece until the file is as large as it may be."""
    return before + piece * ((size - len(before) - len(after)) // len(piece)) + after


def member(value, document):
    """Put raw JSON in the place of a model's threshold."""
    text = json.dumps({**document, "threshold": 987654.25}).encode()
    before, _, after = text.partition(b"987654.25")
    return value(before, after)


def bomb(document, length, declared):
    """Compressed zeros, more than anybody wants."""
    packer = zlib.compressobj(1)
    zeros = bytes(2**20)
    packed = b"".join(packer.compress(zeros) for _ in range(length * 8 // 2**20)) + packer.flush()
    data = {"dtype": "float64", "shape": [declared], "zlib": base64.b64encode(packed).decode()}
    calibration = {"source": "held-out", "scores": data, "weights": data}
    return sealed({**document, "calibration": calibration})


def many_zeros(length, declared=None):
    """An array of zeros in few bytes."""
    packed = base64.b64encode(zlib.compress(bytes(length), 9)).decode()
    return {"dtype": "int8", "shape": [declared or length], "zlib": packed}


def keys(count):
    """An object with many keys, the last of which is there twice."""
    members = b",".join(b'"%d":0' % (i % (count - 1)) for i in range(count))
    return b'{"format":{' + members + b"}}"


def waiting(rows, **recipe):
    """A CreasedREF whose compressible rows wait, for creases that would take long to make."""
    model = CreasedREF(n_creases=2, n_init=100).partial_fit(
        np.zeros((10, 1)) + np.arange(10)[:, None]
    )
    document = unpacked(json.loads(to_bytes(model, KINDS, "0")))
    values = np.resize(np.arange(10.0), (rows, 1))
    chunk = {"rows": values, "weights": np.ones(rows)}
    sketch = sketch_written(Sketch.of(values))
    return sealed(
        {
            **document,
            "recipe": {**document["recipe"], "n_init": 10**9, **recipe},
            "waiting": [chunk],
            "sketch": sketch,
            "judge": {**document["judge"], "left_out": np.ones(min(rows, 10_000))},
        }
    )


HOSTILE = {
    "empty lists": lambda d: filled(b"[],", before=b"[", after=b"[]]"),
    "lists in a field": lambda d: member(
        lambda b, a: filled(b"[1],", before=b + b"[", after=b"1]" + a), d
    ),
    "empty objects": lambda d: filled(b"{},", before=b"[", after=b"{}]"),
    "objects": lambda d: filled(b'{"a":1},', before=b"[", after=b"1]"),
    "numbers": lambda d: filled(b"1,", before=b"[", after=b"1]"),
    "doubles": lambda d: filled(b".1e9,", before=b"[", after=b"1]"),
    "strings": lambda d: filled(b'"",', before=b"[", after=b"1]"),
    "different keys": lambda d: b"{" + b",".join(b'"%x":1' % i for i in range(5_000_000)) + b"}",
    "deep lists": lambda d: filled(b"[", size=MOST_BYTES // 2) + filled(b"]", size=MOST_BYTES // 2),
    "deep objects": lambda d: filled(b'{"a":', size=MOST_BYTES),
    "nothing but opening": lambda d: filled(b"["),
    "white space": lambda d: filled(b" ", before=b"{", after=b"}"),
    "one number": lambda d: filled(b"1"),
    "one fraction": lambda d: filled(b"1", before=b"0."),
    "one string": lambda d: filled(b"x", before=b'"', after=b'"'),
    "one string without end": lambda d: filled(b"x", before=b'"'),
    "escaped quotes without end": lambda d: filled(b'\\"', before=b'"'),
    "backslashes": lambda d: filled(b"\\\\", before=b'"', after=b'"'),
    "long escapes": lambda d: filled(b"\\u4e2d", before=b'"', after=b'"'),
    "short astral strings": lambda d: filled(
        b'"' + "😀".encode() * 900 + b'",', before=b"[", after=b"1]"
    ),
    "long strings": lambda d: filled(b'"' + b"A" * 5000 + b'",', before=b"[", after=b"1]"),
    "zero bytes": lambda d: filled(b"\0"),
    "random bytes": lambda d: np.random.default_rng(0).bytes(MOST_BYTES),
    "bomb": lambda d: bomb(d, 10**8, declared=10**8),
    "bomb that says it is small": lambda d: bomb(d, 10**8, declared=1),
    "bomb that is just small enough": lambda d: bomb(d, 10**7, declared=5 * 10**6),
    "array that is not there": lambda d: bomb(d, 1, declared=10**12),
    "many bombs": lambda d: sealed({**d, "noticed": [many_zeros(10**6)] * 3000}),
    "arrays that say they are small": lambda d: sealed(
        {**d, "calibration": {"source": "held-out", "scores": many_zeros(10**8, 5), "weights": []}}
    ),
    "the same key": lambda d: keys(200_000),
    "too large": lambda d: filled(b" ", size=MOST_BYTES + 1),
}


def just_fitting(piece):
    """As many pieces as promise to take no more than is allowed, in a list or an object."""
    one = piece % 0 if b"%" in piece else piece
    promised = len(one) * 4 + sum(one.count(mark) * cost for mark, cost in _COST.items())
    promised += one.count(b'"') // 2 * _STRING_COST
    count = MEMORY // promised - 10
    if b"%" in piece:
        return b"{" + b"".join(piece % i for i in range(count)) + b'"":0}'
    return b"[" + piece * count + b"1]"


# As many of each as the punctuation allows: what they take must be no more than was reckoned.
DENSE = (
    b"1.5,",
    b"1,",
    b"[],",
    b"[1],",
    b"{},",
    b'{"a":1},',
    b'"",',
    b'"ab",',
    b'"%06d":1,',
    b"[[]],",
)


@pytest.fixture(scope="module")
def document():
    X = np.random.default_rng(0).normal(size=(50, 2))
    return json.loads(to_bytes(REF(n_iter=3).fit(X), KINDS, "0"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_bounded_memory(kind, document, load_apart, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(HOSTILE[kind](document))
    memory, said = load_apart(path)
    path.unlink()
    print(f"{kind:32s} {memory / 2**20:5.1f} MB  {said[-90:]}")
    assert "model.json: " in said
    assert memory < LIMIT


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    ("rows", "recipe", "outcome"),
    [
        (1_000_000, {"n_creases": 200}, "loaded"),
        (500_000, {"n_creases": 3000}, "loaded"),
        (500_000, {"n_creases": 1, "n_levels": 1024}, "loaded"),
        (9_000, {"n_creases": 256, "n_levels": 2}, "loaded"),
        (6_000_000, {"n_creases": 1}, "waiting: A sample of the rows would need more memory"),
    ],
)
def test_rows_that_wait_for_many_creases_load_in_bounded_memory(
    rows, recipe, outcome, load_apart, tmp_path
):
    path = tmp_path / "model.json"
    path.write_bytes(waiting(rows, **recipe))
    memory, said = load_apart(path)
    assert outcome in said
    assert memory < LIMIT


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
@pytest.mark.parametrize("piece", DENSE, ids=bytes.decode)
def test_values_take_no_more_memory_than_was_reckoned(piece, load_apart, tmp_path):
    path = tmp_path / "model.json"
    raw = just_fitting(piece)
    path.write_bytes(raw)
    memory, said = load_apart(path)
    print(f"{piece.decode():32s} {memory / 2**20:5.1f} MB of {len(raw) / 2**20:5.1f}  {said[-60:]}")
    assert "must be an object, not a list" in said or "no 'format'" in said  # it was parsed
    assert memory < LIMIT


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
def test_the_largest_sketch_that_can_be_saved_loads_in_bounded_memory(load_apart, tmp_path, rng):
    model = REF(engine="sketch", n_iter=3).fit(rng.normal(size=(30_000, 250)))
    refold.save(model, tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size > 8 * 2**20
    memory, said = load_apart(tmp_path / "model.json")
    print(f"large sketch {memory / 2**20:5.1f} MB {said}")
    assert (said, memory < LIMIT) == ("loaded", True)


def test_an_endless_file_is_read_to_the_limit_only():
    if not Path("/dev/zero").exists():
        pytest.skip("needs /dev/zero")
    with pytest.raises(ModelFileError, match="more than 64 MB"):
        refold.load("/dev/zero")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [60, 300])
def test_a_model_of_very_many_columns_is_saved_and_loaded(load_apart, tmp_path, rows):
    """300 rows of 2,000 columns, and later 60, were learned and then could not be saved."""
    X = np.random.default_rng(0).normal(size=(rows, 2000))
    model = Detector().fit(pd.DataFrame(X).add_prefix("c"))
    model.save(tmp_path / "m.json")
    memory, said = load_apart(tmp_path / "m.json")
    assert (said, memory < max(LIMIT, 13 * (tmp_path / "m.json").stat().st_size)) == (
        "loaded",
        True,
    )

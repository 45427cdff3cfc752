"""What a refused request leaves behind: a body may be large, and garbage is rarely searched for."""

import gc
from pathlib import Path

import pytest

import refold
from tests.service.test_raw_sockets import GOOD

JSON, NDJSON = "application/json", "application/x-ndjson"
PACKAGE = str(Path(refold.__file__).parent)
FILLED = GOOD[:-1] + b" " * 100_000 + b"]"  # more than is judged in the event loop


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (FILLED[:-1], {"content-type": JSON}, 400),
        (b'[{"x0": ' + b"9" * 100_000 + b"}]", {"content-type": JSON}, 400),
        (FILLED.replace(b"x2", b"x9"), {"content-type": JSON}, 400),
        (b"{\n" * 30_000, {"content-type": NDJSON}, 400),
        (b"x0,x1\n" + b"1,2\n" * 20_000, {"content-type": "text/csv"}, 400),
        (b"PAR1" * 20_000, {"content-type": "application/vnd.apache.parquet"}, 400),
        (b"\xff" * 100_000, {"content-type": "application/vnd.apache.arrow.stream"}, 400),
        (FILLED, {"content-type": JSON, "content-encoding": "gzip"}, 400),
        (b"[" + b"{}," * 50_000 + b"{}]", {"content-type": JSON}, 413),
    ],
)
def test_a_refused_body_is_not_kept(client_of, body, headers, status):
    client = client_of(max_rows=40_000)

    def ask():
        assert client.post("/v1/models/ref/score", content=body, headers=headers).status_code == (
            status
        )

    ask()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        ask()
        gc.collect()
        frames = [each for each in gc.garbage if type(each).__name__ == "frame"]
        kept = [each.f_code.co_name for each in frames if PACKAGE in each.f_code.co_filename]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert kept == []

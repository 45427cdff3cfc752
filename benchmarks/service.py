"""refold serve beside a bare answer of the same framework and MLflow's scoring server.

``python -m benchmarks.service``: one-row requests by wrk, which must be installed, on loopback;
rows by Arrow; memory over many requests.
"""

import contextlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow as pa

import refold

COLUMNS, SECONDS, ROUNDS = 10, 4, 3
HELLO_GOAL, MLFLOW_GOAL = 0.5, 5.0
_HELLO = """
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def hello(request):
    await request.body()
    return JSONResponse({"hello": "world"})

app = Starlette(routes=[Route("/hello", hello, methods=["POST"])])
"""
_LUA = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==[%s]==]
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextlib.contextmanager
def process(command, port, ready, **environment):
    """Run a server until the block ends; wait until it answers."""
    running = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{ready}", timeout=5).read()
                break
            time.sleep(0.2)
        yield running
    finally:
        running.terminate()
        running.wait()


def requests_per_second(url, body, folder):
    """Return requests per second and the 99th percentile in milliseconds."""
    script = Path(folder) / "post.lua"
    script.write_text(_LUA % body)
    said = subprocess.run(
        ["wrk", "-t1", "-c8", f"-d{SECONDS}s", "--latency", "-s", str(script), url],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Non-2xx" not in said, said
    slow = re.search(r"99%\s+([\d.]+)(us|ms|s)", said)
    factor = {"us": 1e-3, "ms": 1.0, "s": 1e3}[slow[2]]
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), float(slow[1]) * factor


def memory(running):
    """Return the resident megabytes of a process."""
    status = Path(f"/proc/{running.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


def one_row(folder, model, file):
    """Compare one-row requests in turn, so that a busy moment hurts everybody."""
    names = [f"x{k}" for k in range(COLUMNS)]
    row = dict.fromkeys(names, 0.25)
    ports = [free_port() for _ in range(3)]
    (Path(folder) / "hello.py").write_text(_HELLO)
    mlflow_model = Path(folder) / "mlflow"
    from refold.mlflow import save_model

    save_model(model, mlflow_model)
    uvicorn = [sys.executable, "-m", "uvicorn", "--no-access-log", "--log-level", "error", "--port"]
    serve = [sys.executable, "-c", "from refold.cli import app; app()", "serve", str(file)]
    with (
        process([*serve, "--port", str(ports[0])], ports[0], "/healthz") as ours,
        process([*uvicorn, str(ports[1]), "--app-dir", folder, "hello:app"], ports[1], "/"),
        process(
            [*uvicorn, str(ports[2]), "mlflow.pyfunc.scoring_server.app:app"],
            ports[2],
            "/ping",
            __pyfunc_model_path__=str(mlflow_model),
        ),
    ):
        at = f"http://127.0.0.1:{ports[0]}/v1/models/model/score"
        cases = {
            "refold": (f"{at}?reasons=0", json.dumps([row])),
            "refold, three reasons": (at, json.dumps([row])),
            "hello": (f"http://127.0.0.1:{ports[1]}/hello", json.dumps([row])),
            "MLflow": (
                f"http://127.0.0.1:{ports[2]}/invocations",
                json.dumps({"dataframe_records": [row]}),
            ),
        }
        found = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, (url, body) in cases.items():
                found[name].append(requests_per_second(url, body, folder))
        best = {name: max(rounds) for name, rounds in found.items()}
        for name, (rate, slow) in best.items():
            print(f"{name:24s} {rate:9,.0f} requests/s, 99 % within {slow:.1f} ms")
        ours_rate = best["refold"][0]
        print(f"  beside hello  {ours_rate / best['hello'][0]:.2f} × (goal {HELLO_GOAL:g})")
        print(f"  beside MLflow {ours_rate / best['MLflow'][0]:.1f} × (goal {MLFLOW_GOAL:g})")
        before, asked = memory(ours), 0
        while asked < 200_000:
            asked += SECONDS * requests_per_second(*cases["refold"], folder)[0]
        print(f"memory {before:.0f} MB, after {asked:,.0f} more requests {memory(ours):.0f} MB")
        rows_by_arrow(at)


def rows_by_arrow(at, rows=100_000):
    """Score many rows in one request."""
    X = np.random.default_rng(1).normal(size=(rows, COLUMNS))
    table = pa.table({f"x{k}": X[:, k] for k in range(COLUMNS)})
    body, kind = io.BytesIO(), "application/vnd.apache.arrow.stream"
    with pa.ipc.new_stream(body, table.schema) as writer:
        writer.write_table(table)
    headers = {"Content-Type": kind, "Accept": kind}
    asked = urllib.request.Request(f"{at}?reasons=0", body.getvalue(), headers)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        urllib.request.urlopen(asked).read()
        times.append(time.perf_counter() - begin)
    print(f"by Arrow {rows / min(times):,.0f} rows/s")


def main():
    if shutil.which("wrk") is None:
        sys.exit("This needs wrk: apt-get install wrk.")
    X = np.random.default_rng(0).normal(size=(5_000, COLUMNS))
    model = refold.REF(alpha=0.05).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        refold.save(model, file)
        one_row(folder, model, file)


if __name__ == "__main__":
    main()

"""refold serve beside a bare answer of the same framework and MLflow's scoring server.

``python -m benchmarks.service``: requests of one row on loopback, of numbers and mixed; rows by
Arrow; memory over many requests. Beside the rate, which the client here limits too, stands the
processor time of the server for a request, which others on the machine change less. MLflow is left
out where it is not installed.
"""

import contextlib
import importlib.util
import io
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import refold

COLUMNS, SECONDS, ROUNDS, CONNECTIONS = 10, 2, 3, 4
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


def requests_per_second(url, body):
    """Return requests per second and the 99th percentile in milliseconds."""
    host, _, path = url.removeprefix("http://").partition("/")
    head = f"POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    times, until = [], time.perf_counter() + SECONDS

    def client():
        name, _, port = host.partition(":")
        with (
            socket.create_connection((name, int(port))) as opened,
            opened.makefile("rb") as answers,
        ):
            while (begin := time.perf_counter()) < until:
                opened.sendall(request)
                assert b" 200 " in answers.readline()
                length = 0
                while (line := answers.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.partition(b":")[2])
                answers.read(length)
                times.append(time.perf_counter() - begin)

    clients = [threading.Thread(target=client) for _ in range(CONNECTIONS)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    return len(times) / SECONDS, 1e3 * float(np.quantile(times, 0.99))


def busy(running):
    """Return the processor seconds that a process has had."""
    fields = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(running):
    """Return the resident megabytes of a process."""
    status = Path(f"/proc/{running.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


def measured(running, url, body):
    """Return requests per second, the 99th percentile, and processor microseconds of a request."""
    before = busy(running)
    rate, slow = requests_per_second(url, json.dumps(body))
    return rate, slow, 1e6 * (busy(running) - before) / (rate * SECONDS)


def mlflow(model, folder, uvicorn, port):
    """Run MLflow's scoring server, if there is one."""
    if importlib.util.find_spec("mlflow") is None:
        return contextlib.nullcontext()
    from refold.integrations.mlflow import save_model

    save_model(model, Path(folder) / "mlflow")
    return process(
        [*uvicorn, "mlflow.pyfunc.scoring_server.app:app"],
        port,
        "/ping",
        __pyfunc_model_path__=str(Path(folder) / "mlflow"),
    )


def mixed_table(rows):
    rng = np.random.default_rng(1)
    days = rng.integers(1, 28, rows)
    return pd.DataFrame(
        {
            "machine": rng.choice(["A", "B", "C"], rows),
            "torque": rng.normal(75.0, 2.0, rows).round(2),
            "angle": rng.normal(300.0, 9.0, rows).round(1),
            "when": [f"2026-03-{day:02d} {8 + day % 9:02d}:15" for day in days],
            "shift": rng.choice(["early", "late"], rows),
        }
    )


def one_row(folder, model, file):
    """Compare one-row requests in turn, so that a busy moment hurts everybody."""
    names = [f"x{k}" for k in range(COLUMNS)]
    row = dict.fromkeys(names, 0.25)
    ports = [free_port() for _ in range(3)]
    (Path(folder) / "hello.py").write_text(_HELLO)
    uvicorn = [sys.executable, "-m", "uvicorn", "--no-access-log", "--log-level", "error", "--port"]
    serve = [
        sys.executable,
        "-c",
        "from refold.cli import app; app()",
        "serve",
        *map(str, Path(folder).glob("m*.json")),
    ]
    bare = [*uvicorn, str(ports[1]), "--app-dir", folder, "hello:app"]
    with (
        process([*serve, "--port", str(ports[0])], ports[0], "/healthz") as ours,
        process(bare, ports[1], "/") as hello,
        mlflow(model, folder, [*uvicorn, str(ports[2])], ports[2]) as theirs,
    ):
        at = f"http://127.0.0.1:{ports[0]}/v1/models/model/score"
        mixed_at = at.replace("/model/", "/mixed/")
        mixed = mixed_table(1).to_dict("records")[0]
        cases = {
            "refold": (ours, f"{at}?reasons=0", [row]),
            "refold, three reasons": (ours, at, [row]),
            "refold, mixed": (ours, f"{mixed_at}?reasons=0", [mixed]),
            "refold, mixed, reasons": (ours, mixed_at, [mixed]),
            "hello": (hello, f"http://127.0.0.1:{ports[1]}/hello", [row]),
        }
        if theirs is not None:
            asked = {"dataframe_records": [row]}
            cases["MLflow"] = theirs, f"http://127.0.0.1:{ports[2]}/invocations", asked
        found = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, case in cases.items():
                found[name].append(measured(*case))
        best = {name: max(rounds) for name, rounds in found.items()}
        least = {name: min(time for *_, time in rounds) for name, rounds in found.items()}
        for name, (rate, slow, _) in best.items():
            print(
                f"{name:24s} {rate:9,.0f} requests/s, 99 % within {slow:.1f} ms, "
                f"{least[name]:.0f} µs of the processor each"
            )
        for name, goal in (("hello", HELLO_GOAL), ("MLflow", MLFLOW_GOAL)):
            if name in best:
                rates, times = best["refold"][0] / best[name][0], least[name] / least["refold"]
                print(f"  beside {name} {rates:.2f} ×, by processor {times:.2f} × (goal {goal:g})")
        before, asked = memory(ours), 0
        while asked < 50_000:
            asked += SECONDS * measured(*cases["refold"])[0]
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
    X = np.random.default_rng(0).normal(size=(5_000, COLUMNS))
    model = refold.REF(alpha=0.05).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        refold.save(model, file)
        refold.save(refold.Detector().fit(mixed_table(2_000)), Path(folder) / "mixed.json")
        one_row(folder, model, file)


if __name__ == "__main__":
    main()

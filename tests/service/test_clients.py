"""refold serve asked by the clients that people have: curl and requests, over TLS too."""

import contextlib
import gzip
import json
import socket
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests

from tests.service.test_process import COMMAND, GOOD, serving

pytestmark = pytest.mark.slow
PARQUET = "application/vnd.apache.parquet"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of this machine, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    files = {name: folder / f"{name}.pem" for name in ("cert", "key", "locked")}
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files_of = ["-keyout", files["key"], "-out", files["cert"]]
    subprocess.run([*command, *files_of], check=True, capture_output=True)
    lock = ["openssl", "ec", "-aes256", "-passout", "pass:secret", "-in", files["key"]]
    subprocess.run([*lock, "-out", files["locked"]], check=True, capture_output=True)
    return files


@pytest.fixture(scope="module")
def secured(models, certificate):
    files = ("--certfile", certificate["cert"], "--keyfile", certificate["key"])
    with serving(models["ref"], *files) as (_, port):
        yield f"https://127.0.0.1:{port}"


def curl(*arguments):
    done = subprocess.run(["curl", "-s", *map(str, arguments)], capture_output=True, check=True)
    return json.loads(done.stdout)


def test_curl_sends_gzip_and_parquet_over_tls(secured, certificate, models, tmp_path):
    trust, at = ("--cacert", certificate["cert"]), f"{secured}/v1/models/ref/score"
    plain = curl(*trust, at, "--json", json.dumps([GOOD]))
    (tmp_path / "rows.json.gz").write_bytes(gzip.compress(json.dumps([GOOD]).encode()))
    pq.write_table(pa.Table.from_pylist([GOOD]), tmp_path / "rows.parquet")
    packed = ("-H", "Content-Encoding: gzip", "--data-binary", f"@{tmp_path / 'rows.json.gz'}")
    kind = ("-H", "Content-Type: application/json")
    assert curl(*trust, at, *kind, *packed) == plain
    sent = ("-H", f"Content-Type: {PARQUET}", "--data-binary", f"@{tmp_path / 'rows.parquet'}")
    assert curl(*trust, at, *sent) == plain
    assert plain["rows"][0]["label"] == 1


def test_answers_name_the_model_that_judged(secured, certificate, models):
    at = f"{secured}/v1/models/ref/score"
    answer = requests.post(at, json=[GOOD], verify=certificate["cert"], timeout=60)
    digest = subprocess.run(["sha256sum", models["ref"]], capture_output=True, text=True)
    assert answer.json()["digest"] == answer.headers["x-model-digest"] == digest.stdout[:64]
    assert answer.json()["saved"] == json.loads(models["ref"].read_text())["created"]


def test_the_page_over_tls_has_a_line_with_its_address(secured, certificate):
    page = requests.get(f"{secured}/docs", verify=certificate["cert"], timeout=60)
    assert f"curl {secured}/v1/models/ref/score" in page.text


def test_plain_http_is_not_answered_where_tls_is(secured):
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.get(secured.replace("https", "http"), timeout=60)


def test_the_process_is_measured(secured, certificate, models):
    text = requests.get(f"{secured}/metrics", verify=certificate["cert"], timeout=60).text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["process_resident_memory_bytes"]) > 1e7
    assert float(values["process_cpu_seconds_total"]) > 0.0
    assert any(name.startswith("refold_model_info{digest=") for name in values)


@pytest.mark.parametrize(
    ("cert", "key", "said"),
    [
        ("cert", "locked", "without a password"),
        ("key", "cert", "TLS cannot be spoken"),
        ("gone", "key", "No such file"),
    ],
)
def test_files_that_are_no_certificate_are_refused(models, certificate, cert, key, said, tmp_path):
    files = certificate | {"gone": tmp_path / "gone.pem"}
    command = [sys.executable, "-c", COMMAND, "serve", models["ref"], "--port", "0"]
    tls = ["--certfile", files[cert], "--keyfile", files[key]]
    done = subprocess.run(
        [*command, *tls], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_a_handshake_that_is_not_finished_is_closed(models, certificate):
    files = ("--certfile", certificate["cert"], "--keyfile", certificate["key"])
    with (
        serving(models["ref"], *files, "--header-seconds", "0.5") as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=30) as silent,
    ):
        assert silent.recv(1) == b""  # by itself asyncio waits for a minute
        at = f"https://127.0.0.1:{port}/v1/models/ref/score"
        assert requests.post(at, json=[GOOD], verify=certificate["cert"], timeout=60).ok


def test_handshakes_that_are_not_finished_are_limited_as_connections_are(models, certificate):
    files = ("--certfile", certificate["cert"], "--keyfile", certificate["key"])
    limits = ("--max-connections", "20", "--header-seconds", "60")
    with (
        serving(models["ref"], *files, *limits) as (_, port),
        contextlib.ExitStack() as stack,
    ):
        for _ in range(60):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            half.sendall(b"\x16\x03\x01\x02\x00")
        with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert plain.recv(1) == b""
        at = f"https://127.0.0.1:{port}/v1/models/ref/score"
        assert requests.post(at, json=[GOOD], verify=certificate["cert"], timeout=60).ok
        text = requests.get(f"https://127.0.0.1:{port}/metrics", verify=certificate["cert"]).text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values['refold_connections_refused{reason="connections"}']) >= 40
    assert values['refold_connections_refused{reason="TLS handshake"}'] == "1.0"
    assert float(values["refold_connections"]) <= 20


def test_metrics_have_the_connections_that_there_are_files_for(models):
    with serving(models["ref"], "--max-connections", "1000000000") as (_, port):
        text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
    (line,) = [line for line in text.splitlines() if "max_connections" in line]
    assert float(line.rpartition(" ")[2]) < 2**16

"""refold serve as a process: started, asked, told to stop."""

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from tests.environment import default_signals, die_with_parent
from tests.waiting import processor_time, wait_until

pytestmark = pytest.mark.slow

COMMAND = "from refold.cli import app; app()"
GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}


@contextlib.contextmanager
def serving(*arguments, **environment):
    """Run the command; give the process and its port."""
    with default_signals():
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "serve", *map(str, arguments), "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
            preexec_fn=die_with_parent,
        )
    try:
        said = process.stderr.readline()
        found = re.search(r"https?://127\.0\.0\.1:(\d+)", said)
        assert found, said + process.stderr.read()
        # A log that nobody reads would fill its pipe, and the service would wait.
        lines = [said]
        reading = threading.Thread(target=lambda: lines.extend(process.stderr))
        reading.start()
        yield process, int(found[1])
        process.kill()
        reading.join()
        assert all(json.loads(line)["event"] for line in lines if line.endswith("\n"))
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def many_files():
    """Let this process have more than a thousand connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[0] < 2000:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def ask(port, rows, path="/v1/models/ref/score", headers=()):
    headers = {"Content-Type": "application/json", **dict(headers)}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as client:
        client.request("POST", path, json.dumps(rows), headers)
        answer = client.getresponse()
        return answer.status, json.loads(answer.read())


def test_requests_in_flight_are_answered_when_it_is_told_to_stop(models):
    rows, answers = [GOOD] * 60_000, []
    with serving(models["creased"]) as (process, port):
        path = "/v1/models/creased/score"
        asking = threading.Thread(target=lambda: answers.append(ask(port, rows, path)))
        idle = processor_time(process.pid)
        asking.start()
        wait_until(lambda: processor_time(process.pid) > idle)  # it has begun to read the request
        process.send_signal(signal.SIGTERM)
        asking.join(60)
        assert process.wait(60) == 0
        with pytest.raises(OSError, match=r"."):
            ask(port, [GOOD], path)
    ((status, document),) = answers
    assert (status, len(document["rows"])) == (200, len(rows))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_client_gets_its_whole_answer_or_an_error_when_the_service_ends(models, number):
    rows, answers, stop = [GOOD] * 200, [], threading.Event()

    def asking():
        while not stop.is_set():
            try:
                answers.append(ask(port[0], rows))
            except (OSError, http.client.HTTPException) as error:
                answers.append(error)
                time.sleep(0.01)

    port = [0]
    threads = [threading.Thread(target=asking) for _ in range(8)]
    for _ in range(2):  # ended under load, and started anew
        with serving(models["ref"]) as (process, port[0]):
            if not threads[0].is_alive():
                for each in threads:
                    each.start()
            begun = len(answers)
            wait_until(lambda: len(answers) >= begun + 40)  # noqa: B023
            process.send_signal(number)
            process.wait(60)
    stop.set()
    for each in threads:
        each.join()
    given = [each for each in answers if isinstance(each, tuple)]
    assert {(status, len(document.get("rows", ()))) for status, document in given} == {(200, 200)}
    assert len(given) >= 40


def test_many_clients_that_send_nothing_do_not_keep_others_waiting(models, many_files):
    with serving(models["ref"]) as (_, port):  # more than it takes connections
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(1200)]
        half = (
            b"POST /v1/models/ref/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n["
        )
        for number, one in enumerate(idle):
            with contextlib.suppress(ConnectionError):  # it was closed for another one
                one.sendall(half if number % 2 else b"GET / HTT")
        broken = socket.create_connection(("127.0.0.1", port))
        broken.sendall(b"\x00\xff nonsense\r\n\r\n")
        for _ in range(20):
            assert ask(port, [GOOD])[0] == 200
        for one in [*idle, broken]:
            one.close()
        assert ask(port, [GOOD])[0] == 200


def test_the_token_may_come_from_the_environment(models):
    token = "correct-horse-battery"
    with serving(models["ref"], REFOLD_TOKEN=token) as (_, port):
        assert ask(port, [GOOD])[0] == 401
        assert ask(port, [GOOD], headers={"Authorization": f"Bearer {token}"})[0] == 200


def test_a_changed_file_is_served_within_seconds(models, tmp_path):
    file = tmp_path / "line.json"
    file.write_bytes(models["ref"].read_bytes())
    with serving(f"ref={file}") as (_, port):
        before = ask(port, [GOOD])[1]["threshold"]
        new = tmp_path / "new.json"
        new.write_bytes(models["plain"].read_bytes())
        new.replace(file)
        wait_until(lambda: ask(port, [GOOD])[1]["threshold"] != before)

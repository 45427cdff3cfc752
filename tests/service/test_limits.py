"""Who may ask, and how much."""

import asyncio
import threading

import pytest

from refold.service import Settings, application, requests
from refold.service.errors import RequestError
from tests.waiting import LIMIT, wait_until

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}
AT = "/v1/models/ref/score"
TOKEN = "correct-horse-battery"


def test_without_the_token_nothing_but_health_is_told(client_of):
    client = client_of(token=TOKEN)
    for path in ("/v1/models", "/metrics", "/docs", "/openapi.json", "/v1/models/ref"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert client.post(AT, json=[GOOD]).status_code == 401
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xe9"]
)
def test_a_wrong_token_is_refused(client_of, given):
    client = client_of(token=TOKEN)
    headers = {"authorization": given.encode("latin-1")}
    assert client.get("/v1/models", headers=headers).status_code == 401


def test_the_token_opens(client_of):
    client = client_of(token=TOKEN)
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert client.get("/v1/models", headers=headers).status_code == 200


def test_a_page_that_calls_by_another_name_is_refused(client_of):
    client = client_of(hosts=("localhost", "[::1]"))
    for host, status in (
        ("evil.example", 421),
        ("localhost:8080", 200),
        ("[::1]:1", 200),
        ("", 421),
    ):
        assert client.get("/v1/models", headers={"host": host}).status_code == status


def test_browsers_of_other_pages_are_not_let_in_unless_asked_for(client_of):
    page = {"origin": "https://line4.example"}
    assert "access-control-allow-origin" not in client_of().get("/v1/models", headers=page).headers
    client = client_of(origins=("https://line4.example",))
    allowed = client.get("/v1/models", headers=page).headers["access-control-allow-origin"]
    assert allowed == "https://line4.example"
    other = client.get("/v1/models", headers={"origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_too_many_bytes_are_refused_declared_or_not(client_of):
    client = client_of(max_body=100)

    def parts():
        yield b"[" + b" " * 80
        yield b" " * 80 + b"]"

    for body in (b" " * 101, parts()):
        answer = client.post(AT, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 413
        assert "parts" in answer.json()["error"]


@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_too_many_rows_are_refused(client_of, kind):
    client = client_of(max_rows=3, max_explained=1)
    body = {"json": [GOOD] * 4}
    if kind == "text/csv":
        body = {"content": "x0,x1,x2\n" + "1,2,3\n" * 4, "headers": {"content-type": kind}}
    assert client.post(AT, **body).status_code == 413
    assert client.post(AT, json=[GOOD] * 3).status_code == 200
    assert client.post(f"{AT}?explain=full", json=[GOOD] * 2).status_code == 413


def test_lines_behind_one_too_many_are_not_read(client_of, monkeypatch):
    read, decode = [], requests.decode_row
    monkeypatch.setattr(requests, "decode_row", lambda line: read.append(line) or decode(line))
    lines = {"content": b"1\n" * 5_000, "headers": {"content-type": "application/x-ndjson"}}
    assert client_of(max_rows=3).post(AT, **lines).status_code == 413
    assert len(read) == 4


def test_more_than_it_works_on_at_a_time_is_told_to_come_again(client_of, monkeypatch):
    client = client_of(max_requests=1)
    began, may_end = threading.Event(), threading.Event()
    judged = application._Service._answer

    def slow(self, *args):
        began.set()
        may_end.wait(10)
        return judged(self, *args)

    monkeypatch.setattr(application, "_SMALL_WORK", -1.0)
    monkeypatch.setattr(application._Service, "_answer", slow)
    answers = []
    first = threading.Thread(target=lambda: answers.append(client.post(AT, json=[GOOD])))
    first.start()
    assert began.wait(10)
    second = client.post(AT, json=[GOOD])
    may_end.set()
    first.join()
    assert (second.status_code, second.headers["retry-after"]) == (429, "1")
    assert answers[0].status_code == 200
    assert client.post(AT, json=[GOOD]).status_code == 200


def test_what_takes_too_long_is_given_up_and_its_place_comes_back(client_of, monkeypatch):
    client = client_of(max_requests=1, seconds=0.2)
    judged = application._Service._answer
    may_end = threading.Event()

    def slow(self, *args):
        may_end.wait(LIMIT)
        return judged(self, *args)

    monkeypatch.setattr(application, "_SMALL_WORK", -1.0)
    monkeypatch.setattr(application._Service, "_answer", slow)
    assert client.post(AT, json=[GOOD]).status_code == 503
    assert client.post(AT, json=[GOOD]).status_code == 429  # its thread is still at work
    may_end.set()
    wait_until(lambda: client.post(AT, json=[GOOD]).status_code == 200)


def test_a_body_that_does_not_come_is_not_waited_for():
    parts = [{"type": "http.request", "body": b"[", "more_body": True}]

    async def receive():
        if not parts:
            await asyncio.sleep(60)
        return parts.pop()

    held = requests.BodyReader(Settings(seconds=0.05))
    with pytest.raises(RequestError, match=r"did not arrive within 0.05 seconds") as caught:
        asyncio.run(held.read(receive, ""))
    assert caught.value.status == 408
    assert held._bytes == 0


def test_no_row_value_reaches_the_log(client, log):
    secret = 31337.25
    client.post(AT, json=[{**GOOD, "x0": secret}])
    client.post(AT, json=[{**GOOD, "x0": "password1"}])
    assert [entry["status"] for entry in log] == [200, 400]
    assert log[0]["rows"] == 1
    assert "31337" not in str(log)
    assert "password1" not in str(log)


def test_a_fault_of_ours_is_an_answer_and_a_log_entry_without_values(client, log, monkeypatch):
    def broken(*args):
        raise RuntimeError("31337.25")

    monkeypatch.setattr(application._Service, "_answer", broken)
    answer = client.post(AT, json=[GOOD])
    assert (answer.status_code, "log" in answer.json()["error"]) == (500, True)
    assert log[0]["kind"] == "RuntimeError"
    assert any(place.startswith("broken:") for place in log[0]["where"])
    assert "31337" not in str(log)

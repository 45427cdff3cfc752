"""Answers and lines of the log can be put together: by a request id, and by the model's digest."""

import hashlib
import json
import logging
import re
import warnings

import pytest

from refold.service import ModelStore
from refold.service.log import LibraryLog, log_lines

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}
AT = "/v1/models/ref/score"


@pytest.mark.parametrize("given", ["a", "4bf92f35-77b3.4da6:a3ce/929d+0e0e=@_", "x" * 128])
def test_the_id_of_a_request_is_that_of_its_answer_and_of_the_log(client, log, given):
    answer = client.post(AT, json=[GOOD], headers={"x-request-id": given})
    assert answer.headers["x-request-id"] == given == log[0]["request_id"]


@pytest.mark.parametrize("given", [None, "", "a b", "x" * 129, 'a"', "é", "a;b", "<script>"])
def test_one_that_is_none_is_made(client, log, given):
    headers = {} if given is None else {"x-request-id": given.encode("latin-1")}
    made = [client.post(AT, json=[GOOD], headers=headers) for _ in range(2)]
    ids = [answer.headers["x-request-id"] for answer in made]
    assert ids == [entry["request_id"] for entry in log]
    assert ids[0] != ids[1]
    assert all(re.fullmatch(r"[0-9a-f]{16}", each) for each in ids)


def test_the_digest_is_that_of_the_file(client, log, models):
    digest = hashlib.sha256(models["ref"].read_bytes()).hexdigest()
    for answer in (client.post(AT, json=[GOOD]), client.post(AT, json=[{}])):
        assert answer.headers["x-model-digest"] == digest
    assert client.get("/v1/models/ref").json()["digest"] == digest
    assert [entry["digest"] for entry in log] == [digest] * 3
    assert "x-model-digest" not in client.get("/healthz").headers


def test_a_line_says_who_asked(client, log):
    client.post(AT, json=[GOOD])
    assert log[0]["client"] == "testclient"


def test_errors_and_faults_have_an_id_too(client_of, log):
    client = client_of(token="correct-horse-battery", hosts=("localhost",))
    refused = client.get("/v1/models", headers={"host": "localhost"})
    other = client.get("/v1/models")
    assert [refused.status_code, other.status_code] == [401, 421]
    assert [refused.headers["x-request-id"], other.headers["x-request-id"]] == [
        entry["request_id"] for entry in log
    ]


@pytest.mark.parametrize("origin", ["https://line4.example", "https://other.example"])
def test_what_a_browser_asks_before_a_request_has_an_id_and_is_logged(client_of, log, origin):
    client = client_of(origins=("https://line4.example",), token="correct-horse-battery")
    asked = {"origin": origin, "access-control-request-method": "POST", "x-request-id": "from-page"}
    for given, method in ((asked, "OPTIONS"), ({"origin": origin}, "POST")):
        answer = client.request(method, AT, headers=given)
        assert answer.headers["x-request-id"] == log[-1]["request_id"]
        assert (log[-1]["method"], log[-1]["status"]) == (method, answer.status_code)
    assert len(log) == 2
    assert log[0]["request_id"] == "from-page"


@pytest.mark.parametrize("broken", [b"{}", None])
def test_what_is_wrong_with_a_file_is_said_without_its_path(tmp_path, models, broken):
    file = tmp_path / "secret-folder" / "line4.json"
    file.parent.mkdir()
    file.write_bytes(models["ref"].read_bytes())
    store = ModelStore({"live": file})
    file.unlink()
    if broken is not None:
        file.write_bytes(broken)
    ((_, problem),) = store.refresh()
    assert problem
    assert "secret-folder" not in problem
    assert "line4.json" not in problem


def test_an_entry_of_the_log_is_a_line_of_json(capsys):
    entry = {"event": "request", "path": '/"\n\u202e', "model": None, "ms": 0.125}
    log_lines(entry)
    (line,) = capsys.readouterr().err.splitlines()
    assert {**json.loads(line), "time": ""} == {"time": "", **entry}


@pytest.fixture
def library_log(log):
    """What libraries log, as entries; what pytest listens to is put back."""
    root, uvicorn = logging.getLogger(), logging.getLogger("uvicorn.error")
    before, level = root.handlers[:], uvicorn.level
    logging.captureWarnings(False)  # Great Expectations captures them when it is imported
    LibraryLog(log.append).install()
    yield log
    logging.captureWarnings(False)
    root.handlers[:] = before
    uvicorn.setLevel(level)


def test_what_libraries_say_is_an_entry_without_values(library_log):
    try:
        raise RuntimeError("31337.25")
    except RuntimeError:
        logging.getLogger("asyncio").exception("it failed")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", stacklevel=1)
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    failed, old = library_log
    assert (failed["event"], failed["logger"], failed["kind"]) == (
        "library",
        "asyncio",
        "RuntimeError",
    )
    assert "31337" not in str(failed)
    assert "old" in old["message"]

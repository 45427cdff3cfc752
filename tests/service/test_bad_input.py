"""What cannot be judged is refused by name, or skipped; the service goes on."""

import json

import pytest

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}
AT = "/v1/models/ref/score"


@pytest.mark.parametrize(
    ("row", "column", "said"),
    [
        ({"x0": 1, "x1": 2}, "x2", "no such column"),
        ({"rows": [GOOD]}, "x0", "no such column; the row has 'rows';"),
        ({}, "x0", "no such column; the row has none;"),
        ({**GOOD, "x1": "seven"}, "x1", "not a number"),
        ({**GOOD, "x1": [1]}, "x1", "a list"),
        ({**GOOD, "x1": {"a": 1}}, "x1", "an object"),
        ({**GOOD, "x1": True}, "x1", "not a number"),
        ({**GOOD, "x1": 10**400}, "x1", "too large"),
    ],
)
def test_a_bad_cell_is_named_or_skipped(client, row, column, said):
    rows = [GOOD, row, GOOD]
    answer = client.post(AT, json=rows)
    assert answer.status_code == 400
    error = answer.json()
    assert (error["row"], error["column"]) == (1, column)
    assert said in error["error"]
    found = client.post(f"{AT}?on_bad=skip", json=rows).json()["rows"]
    assert [each["label"] for each in found] == [1, None, 1]
    assert said in found[1]["problem"]
    assert "problem" not in found[0]


def test_a_number_beyond_all_is_named(client):
    body = json.dumps([GOOD]).replace("0.2", "1e999")
    answer = client.post(AT, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["column"]) == (400, "x1")


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"{",
            b"[",
            b"null",
            b"3",
            b'"x"',
            b"[]",
            b"{}",
            b"[1]",
            b"[[1]]",
            b"\xff\xfe",
            b"\x00",
        ),
        *(b"[" * 100_000, b'[{"x0": NaN, "x1": 1, "x2": 1}]', b'{"x0": [1], "x1": 2, "x2": [1]}'),
        b'{"x0": [1, 2], "x1": [1], "x2": [1]}',
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson", "text/csv"])
def test_a_body_that_is_nothing_is_a_sentence(client, body, kind):
    for asked in (AT, f"{AT}?on_bad=skip"):
        answer = client.post(asked, content=body, headers={"content-type": kind})
        assert answer.status_code in (200, 400)  # a line or row of its own may be skipped
        if answer.status_code == 400:
            assert len(answer.json()["error"]) > 10


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("body", [b"", b"ARROW1\0\0", b"\xff\xff\xff\xff\x10\0\0\0", b"x" * 1000])
def test_broken_arrow_is_a_sentence(client, kind, body):
    headers = {"content-type": f"application/vnd.apache.arrow.{kind}"}
    answer = client.post(AT, content=body, headers=headers)
    assert answer.status_code == 400
    assert len(answer.json()["error"]) > 10


def test_csv_with_a_bad_cell_says_where_or_skips_the_row(client):
    body, headers = "x0,x1,x2\n1,2,3\n1,oops,3\n", {"content-type": "text/csv"}
    answer = client.post(AT, content=body, headers=headers)
    assert answer.status_code == 400
    assert "line 3" in answer.json()["error"]
    assert "oops" in answer.json()["error"]
    found = client.post(f"{AT}?on_bad=skip", content=body, headers=headers).json()["rows"]
    assert ["problem" in row for row in found] == [False, True]


@pytest.mark.parametrize(
    ("asked", "headers", "status"),
    [
        ("?reasons=x", {}, 400),
        ("?reasons=-1", {}, 400),
        ("?reasons=99999999999999999999", {}, 400),
        ("?explain=maybe", {}, 400),
        ("?on_bad=cry", {}, 400),
        ("?treshold=2", {}, 400),
        ("", {"content-type": "application/pdf"}, 415),
        ("", {"content-encoding": "br"}, 415),
        ("", {"content-encoding": "gzip"}, 400),
        ("", {"accept": "image/png"}, 406),
        ("?explain=full", {"accept": "text/csv"}, 406),
    ],
)
def test_what_cannot_be_asked_is_refused(client, asked, headers, status):
    body = json.dumps([GOOD])
    answer = client.post(
        AT + asked, content=body, headers={"content-type": "application/json"} | headers
    )
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize("path", ["/v1/models/none/score", "/v1/models/..%2f..%2fpasswd/score"])
def test_a_model_that_is_not_there_is_not_looked_for_on_the_disk(client, path):
    assert client.post(path, json=[GOOD]).status_code == 404


def test_other_addresses_and_verbs_are_refused_in_words(client):
    assert client.get("/nothing").json()["error"]
    answer = client.get(AT)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "kind", [None, "", "application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]
)
def test_what_a_form_of_a_web_page_can_send_is_not_read(client, kind):
    headers = {} if kind is None else {"content-type": kind}
    answer = client.post(AT, content=json.dumps([GOOD]), headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["error"]
    if kind is not None:
        assert client.post("/v1/models/ref/drift/reset", headers=headers).status_code == 415

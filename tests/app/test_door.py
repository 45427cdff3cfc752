"""Who is let in, and what pages may do."""

import re

import pytest
from starlette.testclient import TestClient

from refold.app import Door, Workspace, create
from tests.app.conftest import ORIGIN, Visitor


@pytest.fixture
def door():
    return Door(8000)


@pytest.fixture
def stranger(tmp_path, door):
    return TestClient(create(Workspace(tmp_path), door), base_url=ORIGIN)


@pytest.mark.parametrize("path", ["/", "/check", "/progress", "/assets/style.css", "/take/x"])
def test_without_the_token_nobody_is_let_in(stranger, path):
    assert stranger.get(path).status_code == 401
    assert stranger.get(f"{path}?token=guessed").status_code == 401


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(stranger, door):
    answer = stranger.get(door.address(), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    kept = answer.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    assert door.address().partition("token=")[2] not in kept
    assert stranger.get("/").status_code == 200


def test_an_address_for_a_browser_opens_once(stranger, door):
    address = door.address_once()
    assert stranger.get(address, follow_redirects=False).status_code == 303
    stranger.cookies.clear()
    assert stranger.get(address, follow_redirects=False).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example"])
def test_a_page_is_not_called_by_another_name(visitor, host):
    answer = visitor.client.get("/", headers={"Host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", None])
@pytest.mark.parametrize(("method", "path"), [("POST", "/learn"), ("PUT", "/table?name=a.csv")])
def test_a_page_of_somebody_else_changes_nothing(tmp_path, origin, method, path):
    door = Door(8000)
    visitor = Visitor(Workspace(tmp_path), door)
    request = visitor.client.build_request(method, path, content=b"a,b\n1,2\n")
    request.headers.pop("origin")
    if origin is not None:
        request.headers["origin"] = origin
    assert visitor.client.send(request).status_code == 403
    assert visitor.workspace.worker.finished == 0


def test_pages_run_and_load_nothing_but_their_own_files(visitor):
    visitor.post("/table/sample", sample="screws")
    answer = visitor.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r'(?:src|href|action)="(?!/|data:,|#)([^"]*)"', answer.text) == []
    assert not re.search(r"<script(?! src=)| style=| on\w+=", answer.text)
    for name in ("style.css", "behaviour.js"):
        assert not re.search(r"https?://|@import|url\(", visitor.page(f"/assets/{name}"))

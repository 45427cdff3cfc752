"""Who is let in, and what pages may do."""

import re

import pytest
from starlette.testclient import TestClient

from refold.app import Session, Workspace, create_app
from tests.app.conftest import FORM, ORIGIN, Visitor


@pytest.fixture
def session():
    return Session(8000)


@pytest.fixture
def stranger(tmp_path, session):
    return TestClient(create_app(Workspace(tmp_path), session), base_url=ORIGIN)


@pytest.mark.parametrize("path", ["/", "/check", "/progress", "/assets/style.css", "/take/x"])
def test_without_the_token_nobody_is_let_in(stranger, path):
    assert stranger.get(path).status_code == 401
    assert stranger.get(f"{path}?token=guessed").status_code == 401


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(stranger, session):
    answer = stranger.get(session.address(), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{session.root}/")
    kept = answer.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    assert session.address().partition("token=")[2] not in kept
    assert stranger.get(f"{session.root}/").status_code == 200


def test_a_server_on_another_port_gets_no_cookie_and_can_do_nothing_with_it(visitor):
    """Browsers send cookies to all ports of a host below their path, which stays secret."""
    asked = [
        visitor.client.build_request("GET", f"http://127.0.0.1:9999{path}")
        for path in ("/", "/check", "/forget", "/assets/style.css")
    ]
    assert [request.headers.get("cookie") for request in asked] == [None] * 4
    own = visitor.client.build_request("GET", "/")
    stolen = {"Cookie": own.headers["cookie"], "Origin": ORIGIN, **FORM}
    thief = TestClient(visitor.client.app, base_url=ORIGIN, headers=stolen)
    for method, path in (("POST", "/forget"), ("GET", "/"), ("GET", "/check"), ("GET", "/take/x")):
        answer = thief.request(method, path, follow_redirects=False)
        assert answer.status_code == 401
        assert visitor.root not in answer.text


def test_who_knows_the_path_needs_the_cookie_too(stranger, session):
    for cookie in ("", "refold=guessed", "refold-8000=x", "refold"):
        headers = {"cookie": cookie}
        assert stranger.get(f"{session.root}/", headers=headers).status_code == 401


def test_a_cookie_set_by_others_does_not_hide_the_right_one(visitor):
    own = visitor.client.build_request("GET", "/").headers["cookie"]
    for cookies in (f"{own}; refold=other", f"refold=other; {own}"):
        assert visitor.client.get("/", headers={"cookie": cookies}).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_what_is_no_form_is_refused(visitor, kind):
    answer = visitor.client.post("/forget", content=b"", headers={"Content-Type": kind})
    assert answer.status_code == 415


def test_an_address_for_a_browser_opens_once(stranger, session):
    address = session.address_once()
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
    session = Session(8000)
    visitor = Visitor(Workspace(tmp_path), session)
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
    elsewhere = r'(?:src|href|action)="(?!/|data:image/svg\+xml;|#)([^"]*)"'
    assert re.findall(elsewhere, answer.text) == []
    assert not re.search(r"<script(?! src=)| style=| on\w+=", answer.text)
    for name in ("style.css", "behaviour.js"):
        assert not re.search(r"https?://|@import|url\(", visitor.page(f"/assets/{name}"))

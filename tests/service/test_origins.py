"""Web pages of other origins cannot drive the service; those that are allowed can."""

import pytest

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}
SCORE, RESET = "/v1/models/ref/score", "/v1/models/ref/drift/reset"
FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://testserver:9999"},  # another port of the same host
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    {"origin": "https://evil.example", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a form
]
OWN = [{}, {"origin": "http://testserver"}, {"sec-fetch-site": "none"}]
OWN += [{"origin": "http://testserver", "sec-fetch-site": "same-origin"}]


@pytest.mark.parametrize("page", FOREIGN)
def test_a_page_of_another_origin_neither_scores_nor_resets(client, page):
    client.post(SCORE, json=[GOOD])
    assert client.post(SCORE, json=[GOOD], headers=page).status_code == 403
    assert client.post(RESET, headers=page).status_code == 403
    assert client.get("/v1/models/ref/drift").json()["rows"] == 1


@pytest.mark.parametrize("page", OWN)
def test_scripts_and_own_pages_do(client, page):
    assert client.post(SCORE, json=[GOOD], headers=page).status_code == 200
    assert client.post(RESET, headers=page).status_code == 204
    assert client.get("/docs", headers=page).status_code == 200


def test_what_others_embed_is_refused_and_what_they_link_is_not(client):
    embedded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get("/metrics", headers=embedded).status_code == 403
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/docs", headers=linked).status_code == 200


def test_a_page_that_is_allowed_asks_and_reads_id_and_digest(client_of):
    client = client_of(origins=("https://line4.example",))
    page = {"origin": "https://line4.example", "sec-fetch-site": "cross-site"}
    answer = client.post(SCORE, json=[GOOD], headers=page)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://line4.example"
    assert "X-Model-Digest" in answer.headers["access-control-expose-headers"]
    asked = {**page, "access-control-request-method": "POST"}
    asked["access-control-request-headers"] = "content-type, x-request-id"
    assert client.options(SCORE, headers=asked).status_code == 200
    for other in FOREIGN:
        assert client.post(SCORE, json=[GOOD], headers=other).status_code == 403

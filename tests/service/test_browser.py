"""A page of another port of this machine, open in a browser, tries to drive refold serve."""

import http.client
import json

import pytest

from tests.other_origin import OtherOrigin
from tests.service.test_process import GOOD, ask, serving

pytestmark = pytest.mark.slow
FETCH = "async ([address, options]) => { await fetch(address, options); }"


def test_a_page_of_another_origin_does_nothing(models, browser):
    with serving(models["ref"]) as (_, port), OtherOrigin.running() as other:
        at = f"http://127.0.0.1:{port}/v1/models/ref"
        assert ask(port, [GOOD])[0] == 200
        page = browser.new_page()
        statuses = []
        page.on("response", lambda answer: statuses.append((answer.url, answer.status)))
        page.goto(other.address)
        body = json.dumps([GOOD])
        sent = {"method": "POST", "mode": "no-cors"}
        page.evaluate(FETCH, [f"{at}/score", {**sent, "body": body}])
        page.evaluate(FETCH, [f"{at}/drift/reset", sent])
        page.evaluate(FETCH, [at, {"mode": "no-cors"}])
        form = f'<form method="post" action="{at}/drift/reset"><button>reset</button></form>'
        page.set_content(form)
        page.get_by_role("button").click()
        page.wait_for_url(f"{at}/drift/reset")
        assert [status for url, status in statuses if url.startswith(at)] == [403] * 4
        page.set_content(f'<a href="http://127.0.0.1:{port}/docs">the service</a>')
        page.get_by_role("link").click()
        page.wait_for_url("**/docs")
        assert statuses[-1][1] == 200
        page.close()
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        client.request("GET", "/v1/models/ref/drift")
        assert json.loads(client.getresponse().read())["rows"] == 1
        client.close()

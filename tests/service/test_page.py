"""The page of refold serve in a browser: a row to try, and lines to paste."""

import json
import subprocess

import pytest

from tests.browser import serious_violations
from tests.service.test_process import serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(models):
    with serving(models["penguins"], models["ref"]) as (_, port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def page(browser, address):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.goto(address)
    yield page
    page.close()


def pasted(command):
    """Run a line as a shell does, with the real client."""
    done = subprocess.run(["sh", "-c", f"{command} -s"], capture_output=True, check=True)
    return json.loads(done.stdout)


def test_the_line_can_be_pasted_into_a_shell(page, address):
    command = page.locator("#curl").inner_text()
    assert f"curl {address}/v1/models/penguins/score" in command
    assert pasted(command)["rows"][0]["label"] == 1


def test_a_row_is_tried_and_the_line_follows_the_form(page):
    rows = page.get_by_label("Rows, as JSON")
    page.get_by_role("button", name="Score").click()
    page.get_by_text("Row 0: normal").wait_for()
    row = json.loads(rows.input_value())[0] | {"body_mass_g": 99000, "sex": "it's"}
    rows.fill(json.dumps([row]))
    page.get_by_label("reasons").fill("1")
    page.get_by_role("button", name="Score").click()
    page.get_by_text("not normal").wait_for()
    command = page.locator("#curl").inner_text()
    assert "score?reasons=1" in command
    (verdict,) = pasted(command)["rows"]
    assert (verdict["label"], verdict["reasons"]) == (-1, ["body_mass_g"])
    assert page.said == []


def test_another_model_brings_its_own_row(page):
    page.get_by_label("Model").select_option("ref")
    (row,) = json.loads(page.get_by_label("Rows, as JSON").input_value())
    assert set(row) == {"x0", "x1", "x2"}
    page.get_by_role("button", name="Score").click()
    page.get_by_text("Row 0: normal").wait_for()


def test_what_is_wrong_is_said(page):
    page.get_by_label("Rows, as JSON").fill('[{"species": 1}]')
    page.get_by_role("button", name="Score").click()
    page.get_by_text("400 Bad Request").wait_for()
    assert "island" in page.locator("#said").inner_text()


def test_every_address_that_is_read_can_be_tried(page, address):
    for form in page.locator("form[data-path]").all():
        form.get_by_role("button").click()
        form.locator("output", has_text="ms").wait_for()
        assert form.locator("output").inner_text()[:3] in ("200", "204")


def test_score_comes_before_what_operators_need(page):
    tops = [
        page.get_by_role("heading", name=name).first.bounding_box()["y"]
        for name in ("Try it", "/v1/models/penguins/score", "/v1/models/penguins", "/healthz")
    ]
    assert tops == sorted(tops)


@pytest.mark.parametrize("path", ["/docs", "/v1/models/penguins"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everybody_can_use_the_pages(browser, address, path, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=address
    )
    page = context.new_page()
    page.goto(path)
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious_violations(page) == []
    context.close()


def test_a_token_is_named_but_not_shown(models, browser):
    token = "0123456789abcdef"
    with serving(models["penguins"], REFOLD_TOKEN=token) as (_, port):
        page = browser.new_page(extra_http_headers={"Authorization": f"Bearer {token}"})
        page.goto(f"http://127.0.0.1:{port}/docs")
        assert token not in page.content()
        assert "Bearer $REFOLD_TOKEN" in page.locator("#curl").inner_text()
        page.close()

"""The built site in a browser: everybody can use it, in light and dark."""

import pytest

from tests.browser import serious_violations

PAGES = [
    *("index", "start/index", "start/tour", "howto/index", "auto_gallery/index", "concepts"),
    *("reference/index", "search", "app", "serve", "check", "auto_gallery/plot_first_look"),
]


@pytest.fixture(scope="module", params=[(1280, "light"), (390, "dark")])
def window(request, browser):
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.width, page.scheme = width, scheme
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_a_page(site, window, name):
    window.goto((site / f"{name}.html").as_uri())
    assert serious_violations(window) == []
    assert window.evaluate("document.documentElement.scrollWidth") <= window.width
    empty = "all => all.filter(e => !e.textContent.trim()).length"
    assert window.eval_on_selector_all("th", empty) == 0


def test_pictures_are_as_dark_as_the_page(site, window):
    for name in ("index", "start/tour"):
        window.goto((site / f"{name}.html").as_uri())
        shown = window.locator("article img:visible")
        assert shown.count() >= 2
        for picture in shown.all():
            assert f"only-{window.scheme}" in picture.get_attribute("class")
        assert window.locator("figcaption:visible").count() or name != "index"


def test_the_home_page_begins_with_how_to_install_and_the_app(site, window):
    window.goto((site / "index.html").as_uri())
    assert "refold app" in window.locator("article").inner_text()
    picture = window.locator("article img:visible").first
    assert "app-check" in picture.get_attribute("src")
    assert window.locator(".versions summary").first.inner_text().startswith("Version 0.")
    icon = window.locator('link[rel="icon"]').get_attribute("href")
    assert (site / icon).exists()

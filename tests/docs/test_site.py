"""The built site: whole, its links lead somewhere, and it asks nobody else for anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from tests.docs.pages import PAGES, ROOT
from tests.test_architecture import public_names

pytestmark = pytest.mark.slow


def is_elsewhere(link):
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Links(HTMLParser):
    """What a page leads to, what it loads, and the places in it that can be led to."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.loaded, self.places = [], [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places |= {values.get("id"), values.get("name")}
        if tag == "a" and "href" in values:
            self.targets.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]):
            self.loaded.append(values[LOADED[tag]])


@pytest.fixture(scope="module")
def pages(site):
    """Each page that can be reached, with what is in it. Older builds may have left others."""
    found, ahead = {}, [site / "index.html", site / "search.html"]
    while ahead:
        page = ahead.pop()
        if page.suffix == ".html" and page.exists() and page not in found:
            found[page] = Links(page)
            within = (urlsplit(link).path for link in found[page].targets if not is_elsewhere(link))
            ahead += [(page.parent / unquote(path)).resolve() for path in within if path]
    return found


def test_every_page_of_the_sources_is_there(site):
    for source in PAGES[1:]:
        assert (site / source.relative_to(ROOT / "docs")).with_suffix(".html").exists(), source


def test_links_within_the_site_lead_somewhere(site, pages):
    broken = []
    for page, found in pages.items():
        for link in found.targets:
            if is_elsewhere(link):
                continue
            path, place = map(unquote, urldefrag(link))
            if "_modules" in page.parts:
                place = ""  # Sphinx takes one room for all that a module gives to several
            target = (page.parent / path).resolve() if path else page
            known = target in pages and (not place or place in pages[target].places)
            if not known and not (target.is_file() and not place):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_what_pages_load_is_theirs(site, pages):
    strange = {
        f"{page.relative_to(site)}: {link}"
        for page, found in pages.items()
        for link in found.loaded
        if not link.startswith("data:")
        and (is_elsewhere(link) or not (page.parent / unquote(urlsplit(link).path)).exists())
    }
    assert strange == set()


def test_every_public_name_has_a_page(site):
    pages = {page.stem for page in site.rglob("reference/rooms/names/*.html")}
    top = [name.split("(")[0] for name in public_names()]
    names = {name for name in top if not is_method(name, top)}
    shown_above = {name for name in names if f"refold.{name.rpartition('.')[2]}" in names}
    assert names - shown_above - pages == set()
    assert {name for name in names if name.count(".") == 1} <= pages


def is_method(name, names):
    return name.rpartition(".")[0] in names


def test_pages_are_listed_for_machines(site):
    lines = (site / "llms.txt").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", lines):
        assert (site / link).exists(), link
    everything = (site / "llms-full.txt").read_text(encoding="utf-8")
    for source in (ROOT / "docs").glob("*.md"):
        title = source.read_text(encoding="utf-8").partition("\n")[0]
        assert title in everything, source


KINDS = [
    *("index.html", "start/index.html", "howto/engineer.html", "concepts.html", "cli.html"),
    *("creased.html", "novelty.html", "modelfile.html", "reproduction.html", "search.html"),
    *("auto_gallery/index.html", "reference/index.html"),
    "reference/rooms/refold.report.html",
    "reference/rooms/names/refold.REF.html",
    "reference/rooms/names/refold.report.Report.html",
    "_modules/refold/models/ref.html",
]
EXAMPLES = sorted((ROOT / "docs" / "gallery").glob("plot_*.py"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit_and_ask_nobody(site, browser, scheme, width):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    asked, said = [], []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    examples = [f"auto_gallery/{file.stem}.html" for file in EXAMPLES]
    for name in KINDS + examples:
        page.goto((site / name).as_uri())
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert contrast(page) >= 4.5, name
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    context.close()


def contrast(page):
    """Return the contrast of text and page, by WCAG's formula."""
    colours = page.evaluate(
        "[getComputedStyle(document.querySelector('main')).color,"
        " getComputedStyle(document.body).backgroundColor]"
    )
    text, ground = sorted(map(luminance, colours))
    return (ground + 0.05) / (text + 0.05)


def luminance(colour):
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_search_finds_a_page(site, browser):
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + "?q=CreasedREF")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("CreasedREF" in title for title in found)


def test_the_picture_of_the_readme_is_small():
    picture = ROOT / "docs" / "images" / "overview.png"
    assert picture.name in (ROOT / "README.md").read_text(encoding="utf-8")
    assert picture.stat().st_size < 100_000

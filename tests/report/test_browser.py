"""The page in a browser: opens in silence, sorts, searches, prints, fits a phone."""

from __future__ import annotations

import numpy as np
import pytest

from refold import REF
from refold.report import write_report
from tests.browser import serious_violations
from tests.report.conftest import HOSTILE
from tests.report.opened import Opened


@pytest.fixture
def opened(browser, written):
    opened = Opened(browser, written[0], viewport={"width": 1400, "height": 900})
    yield opened
    opened.page.context.close()


def test_it_opens_in_silence_and_asks_for_nothing(opened, written):
    assert opened.said == []
    assert opened.requests == [written[0].as_uri()]


def test_complaints_would_be_heard(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<script>nothing()</script><img src='gone.png'>", encoding="utf-8")
    opened = Opened(browser, page)
    assert any("nothing is not defined" in text for text in opened.said)
    assert len(opened.requests) == 2


def test_a_click_sorts_and_another_turns_round(opened, written):
    worst = [row.distance for row in written[1].worst]
    button = opened.page.get_by_role("button", name="× the limit").first
    header = opened.page.locator(".worst th.number").first
    assert header.get_attribute("aria-sort") == "descending"
    button.click()
    assert header.get_attribute("aria-sort") == "ascending"
    values = opened.page.eval_on_selector_all(
        ".worst tbody tr", "rows => rows.map(row => Number(row.cells[1].dataset.value))"
    )
    assert values == sorted(worst)
    opened.page.get_by_role("button", name="Row", exact=True).first.click()
    assert header.get_attribute("aria-sort") is None
    numbers = [int(name.removeprefix("part-")) for name in opened.column("worst", 0)]
    assert numbers == sorted(numbers)


def test_features_sort_by_change_the_largest_first(opened, written):
    by_change = sorted(written[1].features, key=lambda feature: -feature.drift.distance)
    by_leads = sorted(by_change, key=lambda feature: -feature.leads)
    assert opened.column("each", 0) == [feature.name for feature in by_leads]
    opened.page.get_by_role("button", name="Change").click()
    assert opened.column("each", 0) == [feature.name for feature in by_change]
    assert opened.column("each", 0)[0] == HOSTILE


def test_search_shows_what_has_every_word_and_says_how_many(opened, written):
    field = opened.page.get_by_label("Search rows")
    field.fill("Torque  91.2")
    assert opened.column("worst", 0) == ["part-5"]
    assert f"1 of {len(written[1].worst)} found" in opened.page.inner_text("#rows output")
    field.fill("no such thing")
    assert opened.column("worst", 0) == []
    field.fill("")
    assert len(opened.column("worst", 0)) == len(written[1].worst)
    assert len(opened.column("each", 0)) == len(written[1].features)


def test_ten_rows_are_seen_and_the_others_without_a_script(browser, written):
    opened = Opened(browser, written[0], java_script_enabled=False)
    rows = opened.page.locator(".worst tbody tr:visible")
    assert rows.count() == 10
    opened.page.get_by_text("23 more rows").click()
    assert rows.count() == len(written[1].worst) == 33
    opened.page.context.close()


def test_what_is_searched_for_is_unfolded(opened, written):
    last = written[1].worst[-1].name
    assert not opened.page.get_by_role("rowheader", name=last, exact=True).is_visible()
    opened.page.get_by_label("Search rows").fill(last)
    assert opened.page.get_by_role("rowheader", name=last, exact=True).is_visible()


def test_what_matters_is_on_the_first_two_screens(browser, written):
    opened = Opened(browser, written[0], viewport={"width": 1280, "height": 800})
    height = "e => e.getBoundingClientRect().top"
    parts = ("sure", "drivers", "rows", "features", "rates", "card")
    tops = [opened.page.eval_on_selector(f"#{s}", height) for s in parts]
    assert tops == sorted(tops)
    assert tops[2] < 1300
    bottoms = [opened.page.locator(each).bounding_box() for each in ("#sure figure", "#actions ol")]
    assert max(box["y"] + box["height"] for box in bottoms) < 800  # the manager's screen
    assert opened.page.evaluate("document.documentElement.scrollHeight") < 5000
    opened.page.context.close()


def test_everything_can_be_done_with_the_keyboard(opened):
    page = opened.page
    focused = "(document.activeElement.textContent || document.activeElement.placeholder).trim()"
    visited = []
    for _ in range(60):
        page.keyboard.press("Tab")
        visited.append(page.evaluate(focused))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", visited[-1]
        if visited[-1] == "Missing":
            break
    wanted = (
        "Which columns make outliers",
        "a row, a column, a value",
        "Row",
        "× the limit",
        "Reasons",
    )
    assert {"Rates", "23 more rows", "Column", *wanted} <= set(visited)
    page.keyboard.press("Enter")
    assert page.locator(".each th[aria-sort]").inner_text().startswith("Missing")
    page.keyboard.press("Space")
    assert page.locator(".each th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.get_by_label("Search columns").focus()
    page.keyboard.type("valve")
    assert opened.column("each", 0) == ["valve"]


@pytest.mark.parametrize("width", [1400, 400, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(browser, written, width, scheme):
    opened = Opened(
        browser, written[0], viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    sticking_out = opened.page.eval_on_selector_all(
        "body :not(.scroll *)",
        "(all, width) => all.filter(e => e.getBoundingClientRect().right > width + 1).length",
        width,
    )
    assert sticking_out == 0
    opened.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_background(browser, written, scheme):
    """WCAG AA: 4.5 to 1."""
    opened = Opened(browser, written[0], color_scheme=scheme)
    colours = opened.page.eval_on_selector_all(
        ".soft, .lead, .odd, .state, th, td, a, figcaption, summary, li, .plot :not(svg *)",
        """all => all.map(e => {
            let back = e;
            while (getComputedStyle(back).backgroundColor === "rgba(0, 0, 0, 0)")
              back = back.parentElement;
            return [getComputedStyle(e).color, getComputedStyle(back).backgroundColor];
        })""",
    )
    for pair in {tuple(pair) for pair in colours}:
        light, dark = sorted(map(luminance, pair), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, pair
    opened.page.context.close()


def luminance(colour):
    channels = np.array([float(c) for c in colour[4:-1].split(",")]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_paper_has_the_rows_without_the_controls(opened):
    page = opened.page
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible()
    assert not page.get_by_label("Search rows").is_visible()
    assert page.locator(".worst tbody tr:visible").count() == 10
    page.evaluate("document.querySelector('.more').open = true")  # what is unfolded is printed
    assert page.locator(".worst tbody tr").last.is_visible()
    display = "getComputedStyle(document.querySelector('.worst thead')).display"
    assert page.evaluate(display) == "table-header-group"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_hundred_thousand_rows_open_at_once(browser, tmp_path):
    rng = np.random.default_rng(0)
    model = REF(levels="all").fit(rng.normal(size=(5000, 20)))
    model.calibrate(rng.normal(size=(5000, 20)), alpha=0.01)
    new = rng.normal(size=(100_000, 20))
    new[::20] *= 3.0
    page = tmp_path / "large.html"
    report = write_report(model, new, page, worst=1000)
    assert report.rejected > 1000 == len(report.worst)
    assert page.stat().st_size < 10e6
    opened = Opened(browser, page)
    took = opened.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0.0 < took < 3000.0
    assert opened.said == []
    opened.page.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everybody_can_read_it(browser, written, width, scheme):
    opened = Opened(
        browser, written[0], viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    assert serious_violations(opened.page) == []
    opened.page.context.close()

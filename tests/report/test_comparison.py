"""The page on two models: whole, silent, and readable on a phone."""

from __future__ import annotations

import re

import pytest

from refold import REF, compare
from refold.report import write_comparison
from tests.report.conftest import HOSTILE, QUOTED
from tests.report.opened import Opened
from tests.report.test_page import Page


@pytest.fixture(scope="module")
def found(model, normal, new):
    other = normal.drop(columns="constant").assign(pressure=normal["pressure"] * 10)
    return compare(model, REF(alpha=0.05).fit(other), new)


@pytest.fixture(scope="module")
def file(found, tmp_path_factory):
    file = tmp_path_factory.mktemp("comparison") / "page.html"
    write_comparison(found, file, title=HOSTILE, about={"Old": QUOTED})
    return file


def test_it_says_what_was_found(file, found):
    page = Page(file.read_text(encoding="utf-8"))
    text = re.sub(r"\s+", " ", " ".join(page.texts))
    assert found.headline() in text
    assert "pressure: learned values of new are 10 × those of old, as mm are to cm." in text
    assert "constant: only old has this column" in text
    assert HOSTILE in text
    assert QUOTED in text
    assert [tag for tag, _ in page.elements].count("script") == 1
    policy = next(a for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'")


def test_a_model_beside_itself_has_a_page_too(model, new, tmp_path):
    write_comparison(compare(model, model, new), tmp_path / "same.html")
    text = (tmp_path / "same.html").read_text(encoding="utf-8")
    assert "Nothing changes: the models say the same of all 799 rows." in text
    assert 'id="rows"' not in text


def test_rows_that_nobody_judges_have_a_page_without_a_picture(model, new, tmp_path):
    write_comparison(compare(model, model, new.iloc[[77]]), tmp_path / "none.html")
    text = (tmp_path / "none.html").read_text(encoding="utf-8")
    assert "The only row is not judged by both models" in text
    assert 'id="scatter"' not in text


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_it_opens_in_silence_and_fits_the_window(browser, file, width, scheme):
    viewport = {"width": width, "height": 900}
    opened = Opened(browser, file, viewport=viewport, color_scheme=scheme)
    assert opened.said == []
    assert opened.requests == [file.as_uri()]
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.get_by_label("Search rows").fill("no such row")
    assert opened.page.locator(".turns tbody tr:visible").count() == 0
    opened.page.context.close()

"""The page as text: whole or not there, and nothing in it that data could have put there."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import refold.report._page
from refold import REF
from refold.report import describe, render, write_report
from tests.report.conftest import HOSTILE, QUOTED


class Page(HTMLParser):
    """Every element and text of a page, as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self._open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open = tag

    def handle_data(self, data):
        if self._open not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def page(written):
    return Page(written[0].read_text(encoding="utf-8"))


def test_names_from_data_are_text_and_nothing_else(page):
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 1
    assert any(HOSTILE in text for text in page.texts)
    assert any(QUOTED in text for text in page.texts)
    assert not any(name[:2] == "on" for _, attributes in page.elements for name in attributes)
    labels = [a["aria-label"] for tag, a in page.elements if tag == "svg" and "aria-label" in a]
    assert any(label.startswith(f"{HOSTILE}: normal") for label in labels)
    assert any(label.startswith(f"{QUOTED}: normal") for label in labels)


def test_nothing_is_fetched(page):
    links = [a.get("href") or a.get("src") for _, a in page.elements if "href" in a or "src" in a]
    assert links
    assert all(link.startswith("#") or link == "data:," for link in links)
    policy = next(a for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'; script-src 'sha256-")


def test_the_headline_has_the_models_numbers(page, written, model, new):
    report = written[1]
    text = re.sub(r"\s+", " ", "".join(page.texts))
    rejected = (model.predict(new.dropna(how="all")) == -1).sum()
    assert f"{rejected} of 799 rows are not normal ({100 * rejected / 799:.3g} %)" in text
    low, high = report.expected.interval
    assert f"by chance between {low} and {high} (95 %)" in text
    assert "1 row has no value at all" in text
    assert "The data has changed" in text


def test_a_table_without_outliers_says_so():
    rng = np.random.default_rng(0)
    model = REF(alpha=0.01).fit(rng.normal(size=(300, 2)))
    text = render(describe(model, np.zeros((1, 2)) + 0.1))
    assert "No row is called not normal." in text
    assert "0 of 1 row are not normal" in re.sub(r"<[^>]*>", "", text)


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    page = tmp_path / "report.html"
    page.write_text("before", encoding="utf-8")
    model = REF().fit(np.random.default_rng(0).normal(size=(50, 2)))

    def fails(report):
        raise RuntimeError("no")

    monkeypatch.setattr(refold.report._page, "render", fails)
    with pytest.raises(RuntimeError):
        write_report(model, [[0.0, 1.0]], page)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert page.read_text(encoding="utf-8") == "before"


def test_jinja2_is_asked_for_by_its_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    model = REF().fit(np.random.default_rng(0).normal(size=(50, 2)))
    with pytest.raises(ImportError, match=r"refold\[report\]"):
        write_report(model, [[0.0, 1.0]], "never.html")

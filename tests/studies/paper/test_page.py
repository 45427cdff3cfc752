"""index.html in a browser: it opens without an error and shows what the run found."""

from __future__ import annotations

import html
import re

import pytest

from tests.browser import chromium, needs_chromium, width_in_window

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def opened(default_run, tmp_path_factory):
    page = default_run / "index.html"
    return chromium(page, tmp_path_factory.mktemp("profile"), "--dump-dom")


def test_console_errors_would_be_seen(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<script>nothing()</script>", encoding="utf-8")
    assert "nothing is not defined" in chromium(page, tmp_path / "profile", "--dump-dom")[1][0]


def test_opens_without_a_word_in_the_console(opened):
    assert opened[1] == []


def test_shows_the_cells_with_their_verdicts(opened):
    cells = re.findall(r'<td class="(\w+)[^"]*" title="([^"]*)">(.*?)</td>', opened[0])
    assert len(cells) == (2 + 11) * 15
    texts = [
        (kind, html.unescape(title), html.unescape(re.sub("<[^>]*>", " ", body)).split())
        for kind, title, body in cells
    ]
    assert ("equal", "equal", ["=", "93.6", "±", "6.4", "93.6", "±", "6.4"]) in texts
    reasons = [title for kind, title, _ in texts if kind == "differs"]
    assert reasons
    assert all(title.startswith("differs, because ") for title in reasons)
    assert any("erratum 3" in title for title in reasons)
    assert {title for kind, title, _ in texts if kind == "noise"} == {"within seed noise"}


def test_needs_no_other_file(opened):
    outside = re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', opened[0])
    assert outside == []
    assert opened[0].count('src="data:image/svg+xml') == 2


@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_wider_than_the_window(default_run, tmp_path, width):
    assert width_in_window(default_run / "index.html", tmp_path, width) <= width

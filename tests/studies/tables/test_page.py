"""index.html: it shows what was found, failures too, and needs no other file."""

from __future__ import annotations

import html
import re

import pytest

from refold.studies.tables.comparison import write_index
from refold.studies.tables.injection import KINDS
from refold.studies.tables.methods import METHODS
from tests.browser import chromium, needs_chromium, width_in_window
from tests.studies.tables.made import comparison

HOSTILE = "</td><script>nothing()</script>"


@pytest.fixture(scope="module")
def found():
    """Each method is a percent behind the one before; the last one fails on a table."""
    values = {}
    for i, method in enumerate(METHODS):
        rest = {"false_alarms": 0.05, "fit_seconds": 0.1, "score_seconds": 0.1}
        errors = {f"auroc {kind}": 0.9 - 0.01 * i for kind in KINDS}
        clean = errors | {f"named {kind}": 0.8 for kind in KINDS} | rest
        values[method] = {
            "clean-a": [clean],
            "natural-b": [{"auroc anomaly": 0.7 + 0.01 * i} | rest],
        }
    values[method]["natural-b"] = [HOSTILE]
    return comparison(values)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    write_index(found, folder)
    return folder / "index.html"


def rows_of(text, section):
    part = re.search(rf'<section id="{section}">.*?<tbody>(.*?)</tbody>', text, re.DOTALL).group(1)
    rows = re.findall(r"<tr><th>(.*?)</th>(.*?)</tr>", part, re.DOTALL)
    return {name: re.findall(r'<td class="(.*?)".*?>(.*?)</td>', cells) for name, cells in rows}


def test_values_are_those_of_the_found_and_the_best_is_marked(page, found):
    rows = rows_of(page.read_text(encoding="utf-8"), "means")
    first, second = found.methods[:2]
    assert list(rows) == found.methods
    assert rows[first][1] == ("best", "90.0")
    assert rows[second][1] == ("", "89.0")
    kinds = rows_of(page.read_text(encoding="utf-8"), "kinds")
    assert kinds[second] == [("", "89.0")] * len(KINDS)


def test_few_alarms_alone_are_no_merit(page):
    rows = rows_of(page.read_text(encoding="utf-8"), "alarms")
    assert {cell for cells in rows.values() for cell, _ in cells} <= {"", "unfinished"}


def test_what_was_not_finished_is_said_and_harmless(page, found):
    text = page.read_text(encoding="utf-8")
    last = found.methods[-1]
    assert f"<b>{last}</b> on <b>natural-b</b>: failed: ValueError: {html.escape(HOSTILE)}" in text
    assert rows_of(text, "natural")[last] == [("unfinished", "–")]
    assert "<script" not in text


def test_needs_no_other_file(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', text) == []
    links, ids = re.findall('href="#([^"]*)"', text), re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert set(links) <= set(ids)


def test_a_page_of_one_method_and_one_table(tmp_path):
    name = next(iter(METHODS))
    write_index(comparison({name: {"natural-b": ["no"]}}), tmp_path)
    assert 'id="kinds"' not in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
@needs_chromium
def test_opens_without_a_word_in_the_console(page, tmp_path):
    _, console = chromium(page, tmp_path / "profile", "--dump-dom")
    assert console == []


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_wider_than_the_window(page, tmp_path, width):
    assert width_in_window(page, tmp_path, width) <= width

"""index.html: it shows what was found, failures too, and needs no other file."""

from __future__ import annotations

import html
import re

import pytest

from refold.studies.own.benchmark import HEIGHT, LEFT, TOP, WIDTH, power_curves, write_index
from refold.studies.own.cells import METHODS
from refold.studies.own.faults import FAULTS, injected
from refold.studies.own.table import OwnTable, divide_rows
from tests.browser import chromium, needs_chromium, width_in_window
from tests.studies.own.made import comparison
from tests.studies.tables.made import orders

HOSTILE = "</td><script>nothing()</script>"


def cell(share):
    caught = {f"caught {tag}": share for kind in FAULTS for tag in kind.tags()}
    return caught | {"false_alarms": 0.05, "fit_seconds": 0.1, "score_seconds": 0.001}


@pytest.fixture(scope="module")
def found():
    """Each method catches 5 % less than the one before; the last one fails."""
    values = {name: [cell(0.9 - 0.05 * k)] * 2 for k, name in enumerate(METHODS)}
    return comparison({**values, "HBOS": [HOSTILE] * 2})


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    rows = orders(300).rename(columns={"price": "</b>price"})
    table = OwnTable(f"somewhere/{HOSTILE[:4]}.csv", rows, rows_read=300)
    faults = injected(divide_rows(table, 0))
    write_index(found, table, faults, ["isotree"], "Detector", "refold fit 'a b.csv'", folder)
    return folder / "index.html"


def test_values_are_those_of_the_found_and_the_best_comes_first(page):
    text = page.read_text(encoding="utf-8")
    body = re.search(r'id="methods".*?<tbody>(.*?)</tbody>', text, re.DOTALL).group(1)
    names = re.findall(r"<th>([\w-]+)", body)
    assert names == [name for name in METHODS if name != "HBOS"]
    first = re.search(r'<tr class="best">.*?</tr>', body, re.DOTALL).group(0)
    assert re.findall(r"<td>(.*?)</td>", first)[0] == "90.0 ±0.0"


def test_what_was_not_finished_or_not_there_is_said_and_harmless(page):
    text = page.read_text(encoding="utf-8")
    assert f"<b>HBOS</b> failed: ValueError: {html.escape(HOSTILE)}" in text
    assert "Not installed, and left out: isotree." in text
    assert "<script" not in text
    assert html.escape("</b>price") in text


def test_the_verdict_and_the_way_to_fit_are_on_top(page):
    text = page.read_text(encoding="utf-8")
    assert "Detector catches most of the faults" in text[: text.index("<nav>")]
    assert "<pre>refold fit &#39;a b.csv&#39;</pre>" in text


def test_needs_no_other_file(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', text) == []
    links, ids = re.findall('href="#([^"]*)"', text), re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert set(links) <= set(ids)


def test_curves_are_where_their_values_are(found):
    curves = power_curves(found, FAULTS[0])
    [best] = [line for line in curves.lines if line.colour == 0]
    points = [tuple(map(float, point.split())) for point in best.path[1:].split("L")]
    assert best.method == "Detector"
    assert len(points) == len(FAULTS[0].sizes)
    assert {y for _, y in points} == {round(TOP + 0.1 * HEIGHT, 1)}
    assert all(LEFT <= x <= LEFT + WIDTH for x, _ in points)
    assert curves.rate == round(TOP + 0.95 * HEIGHT, 1)


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

"""index.html in a browser: it opens without an error and shows losses as plainly as wins."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from refold.studies.novelty.benchmark import write_index
from refold.studies.novelty.measures import MEASURES
from refold.studies.novelty.methods import METHODS
from refold.studies.novelty.suite import ADBENCH
from tests.browser import chromium, needs_chromium, width_in_window
from tests.studies.novelty.made import made

HOSTILE = "</td><script>nothing()</script>"


@pytest.fixture(scope="module")
def found():
    """All methods on 21 sets: REF beats none of the first ones and all of the last; one fails."""
    rng = np.random.default_rng(0)
    base = rng.uniform(0.4, 0.7, (21, 1))
    values = {
        name: (base - 0.01 * i + rng.uniform(0, 0.002, (21, 3))).tolist()
        for i, name in enumerate(METHODS)
    }
    values["SSVDD"][4][1] = None
    return made(values, note=HOSTILE)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    write_index(found, ADBENCH, folder)
    return folder / "index.html"


def rows_of(text, section):
    part = re.search(rf'<section id="{section}">.*?<tbody>(.*?)</tbody>', text, re.DOTALL).group(1)
    return {
        re.sub("<[^>]*>", "", found[0]): [
            html.unescape(re.sub("<[^>]*>", "", cell)).strip()
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", found[1], re.DOTALL)
        ]
        for found in re.findall(r"<tr[^>]*>(<th>.*?</th>)\s*(<td.*?)</tr>", part, re.DOTALL)
    }


def test_means_and_ranks_are_those_of_the_found(page, found):
    rows = rows_of(page.read_text(encoding="utf-8"), "means")
    assert set(rows) == set(METHODS)
    ranks = found.ranking("auroc").ranks
    for method, cells in rows.items():
        assert cells[0] == f"{100 * found.mean('auroc', method):.1f}"
        assert cells[len(MEASURES)] == f"{ranks[method]:.2f}"
        assert cells[-1] == ("20 of 21" if method == "SSVDD" else "21 of 21")


def test_losses_are_shown_like_wins(page, found):
    text = page.read_text(encoding="utf-8")
    standings = [pairing.standing for pairing in found.pairings("auroc", "REF-all")]
    assert {"better", "worse"} <= set(standings)
    part = text[text.index("REF-all against") :]
    part = part[: part.index("</table>")]
    for standing in ("better", "worse"):
        assert part.count(f'<td class="{standing}"') == len(found.ranked) * standings.count(
            standing
        )
    assert "▼</b> 0–0–21, p&lt;.001" in part
    assert "▲</b> 21–0–0, p&lt;.001" in part


def test_what_was_not_finished_is_said_and_harmless(page):
    text = page.read_text(encoding="utf-8")
    assert "<b>SSVDD</b> on <b>set4</b>: failed: ValueError: " + html.escape(HOSTILE) in text
    assert "<script" not in text


def test_needs_no_other_file(page, found):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', text) == []
    assert text.count("<svg") == len(found.ranked) + 1  # and ranks against time
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))


@pytest.mark.slow
@needs_chromium
def test_opens_without_a_word_in_the_console(page, tmp_path):
    dom, console = chromium(page, tmp_path / "profile", "--dump-dom")
    assert console == []
    assert "Average ranks by AUROC" in dom


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_wider_than_the_window(page, tmp_path, width):
    assert width_in_window(page, tmp_path, width) <= width


def test_a_page_of_one_method_and_one_set(tmp_path):
    write_index(made({"LOF": [[0.5]]}), ADBENCH, tmp_path)
    assert "<svg" not in (tmp_path / "index.html").read_text(encoding="utf-8")

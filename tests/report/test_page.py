"""The page as text: whole or not there, and nothing in it that data could have put there."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import refold.report._page
from refold import REF, Detector
from refold.base.words import p_text
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
    assert all(link.startswith(("#", "data:")) for link in links)
    anchors = {a["id"] for _, a in page.elements if "id" in a}
    assert {link[1:] for link in links if link.startswith("#")} <= anchors
    policy = next(a for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'; script-src 'sha256-")


def test_the_headline_has_the_models_numbers(page, written, model, new):
    report = written[1]
    text = re.sub(r"\s+", " ", "".join(page.texts))
    rejected = (model.predict(new.dropna(how="all")) == -1).sum()
    assert f"{rejected} of 799 rows are outliers ({100 * rejected / 799:.3g} %)" in text
    expected = report.expected.rows
    assert f"If all were normal, about {expected:.2g} would be" in text
    low, high = report.expected.interval
    assert f"by chance between {low} and {high} (95 %)" in text
    assert "1 row has no value at all" in text
    assert "The data has changed" in text


def test_a_table_without_outliers_says_so():
    rng = np.random.default_rng(0)
    model = REF(alpha=0.01).fit(rng.normal(size=(300, 2)))
    text = render(describe(model, np.zeros((1, 2)) + 0.1))
    assert "No row is an outlier." in text
    assert "0 of 1 row are outliers" in re.sub(r"<[^>]*>", "", text)


def text_of(report):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", render(report)))


def test_what_makes_outliers_comes_first(page, written):
    report, text = written[1], "".join(page.texts)
    leading = max(report.features, key=lambda feature: feature.leads)
    places = [
        text.index(word)
        for word in ("Which columns make outliers", leading.name, "The farthest out, and why")
    ]
    assert places == sorted(places)
    group = report.groups[0]
    assert f"{group.how}: " in text
    assert f"rows {', '.join(group.examples)}, …" in text


@pytest.mark.parametrize(
    ("selected", "needed", "words"),
    [
        (33, None, "all outliers stand out"),
        (12, None, "the 12 farthest out of them stand out"),
        (1, 500, "the farthest out of them stands out"),
        (0, 7989, "must be calibrated on at least 7,989 rows"),
        (0, None, "none of them stands out by itself"),
    ],
)
def test_false_discoveries_are_one_sentence_that_does_not_clash(written, selected, needed, words):
    report = replace(written[1], selected=selected, needed=needed)
    assert report.rejected == 33
    assert words in text_of(report)


def test_few_alarms_that_are_far_out_are_not_called_chance(written):
    interval = replace(written[1].expected, interval=(10, 40))
    far, near = (replace(written[1], expected=interval, selected=k) for k in (5, 0))
    assert "so many may be chance, but 5 of them are too far out for it" in text_of(far)
    assert "that is no more than chance explains" in text_of(near)
    assert "all of them are too far out for chance" in text_of(replace(far, selected=33))
    usual = replace(near, expected=replace(interval, interval=(50, 90)))
    assert "that is less than usual" in text_of(usual)


def test_a_row_has_the_p_value_that_python_and_the_console_say(written):
    found = re.findall(r'data-label="P-value" data-value="([^"]+)">([^<]+)', written[0].read_text())
    assert found
    assert all(p_text(float(p)) == f"p = {said}" for p, said in found)


def test_ten_rows_and_features_are_seen_and_the_others_folded_away():
    rng = np.random.default_rng(0)
    model = REF(levels="all", alpha=0.05).fit(rng.normal(size=(300, 14)))
    report = describe(model, rng.normal(size=(10_000, 14)) + 9.0)
    assert report.rejected == 10_000
    page = render(report)
    assert len(page.encode()) < 2e6
    rows, features = page.split('<section id="rows"')[1].split('<section id="features"')
    rows, _ = rows.split('<section id="run"')
    seen, more = rows.split("<details")
    assert (seen.count("<tr>"), more.count("<tr>")) == (11, 91)
    assert "90 more rows" in more
    assert "9,900 more rows, less far out, are counted but not listed" in more
    seen, more = features.split('<section id="card"')[0].split("<details")
    assert (seen.count("<tr>"), more.count("<tr>")) == (11, 5)
    assert seen.count('<svg class="gauge"') == 0
    assert rows.count('<svg class="gauge"') >= 100 * 3


def test_every_gauge_says_where_its_value_is(page, written):
    gauges = sum(a.get("class") == "gauge" and "role" in a for _, a in page.elements)
    assert gauges == sum(len(row.reasons) for row in written[1].worst)
    assert [tag for tag, _ in page.elements].count("title") == gauges + 1
    assert page.texts.count("between normal values") >= 20


def test_without_rows_without_reasons_and_without_calibration():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(100, 2))
    page = render(describe(REF().fit(normal), [[9.0, 0.0]], worst=0))
    assert 'id="rows"' not in page
    assert "#rows" not in page
    own = REF(distance=lambda folded: np.abs(folded).max(axis=1), engine="reference")
    text = text_of(describe(own.fit(normal), [[9.0, 0.0]]))
    assert "cannot be divided among features" in text
    assert "the model is not calibrated" in text


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


def test_characters_that_are_not_seen_or_turn_the_direction_are_written_out(tmp_path, rng):
    unseen = "".join(map(chr, [0x1B, 0x7F, 0x9B, 0x202E, 0x2028, 0x2066, 0xFEFF]))
    names = [f"size{unseen}", f"x{unseen}"]
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=names)
    table["kind"] = [f"{'ab'[k % 2]}{unseen}" for k in range(300)]
    new = table.copy()
    new.iloc[:9, 0] = 99.0
    new.iloc[9:12, 2] = f"c{unseen}"
    file = tmp_path / "page.html"
    write_report(Detector().fit(table), new, file, title=unseen, about={unseen: unseen})
    page = file.read_text(encoding="utf-8")
    assert not set(unseen) & set(page)
    assert r"size\u001b\u007f\u009b\u202e\u2028\u2066\ufeff" in page

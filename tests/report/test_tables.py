"""The report of a table of texts and dates: what its pictures show is what pandas counts."""

import re

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.report import describe, render, write_report
from refold.report._drawing import WIDTH, feature_picture
from tests.report.conftest import HOSTILE
from tests.report.opened import Opened


def orders(rng, rows):
    when = pd.Timestamp("2026-03-02") + pd.to_timedelta(rng.integers(0, 60 * 24, rows), "h")
    return pd.DataFrame(
        {
            "machine": rng.choice(list("AAABBCDEFGH"), rows),
            "part": [f"AB-{number:04d}" for number in rng.integers(0, 9999, rows)],
            "when": when,
            "torque": rng.normal(75.0, 2.0, rows),
            HOSTILE: rng.choice(["yes", "no"], rows),
        }
    )


@pytest.fixture(scope="module")
def train():
    return orders(np.random.default_rng(0), 1200)


@pytest.fixture(scope="module")
def new():
    rows = orders(np.random.default_rng(1), 300)
    rows.loc[4, "machine"] = HOSTILE
    rows.loc[5, "part"] = "x" * 5000
    rows.loc[6, HOSTILE] = '"><img src=x onerror=alert(1)>{{ 7 * 7 }}'
    rows.loc[7, "when"] = pd.Timestamp("1970-01-01 03:00")
    rows.loc[8, "torque"] = 500.0
    return rows


@pytest.fixture(scope="module")
def written(train, new, tmp_path_factory):
    page = tmp_path_factory.mktemp("report") / "report.html"
    return page, write_report(Detector(alpha=0.01).fit(train), new, page)


def feature(report, name):
    return next(each for each in report.features if each.name == name)


def test_bars_of_a_category_are_shares_of_the_rows(written, train, new):
    bars = feature(written[1], "machine").bars[0]
    before, now = (table["machine"].value_counts(normalize=True) for table in (train, new))
    for label, share, fresh in list(zip(bars.labels, bars.training, bars.new, strict=True))[:6]:
        assert (share, fresh) == pytest.approx((before[label], now[label]))
    assert bars.labels[6:] == ("others", "never seen")
    assert bars.new[7] == pytest.approx(1 / 300)
    assert sum(bars.training) == pytest.approx(1.0)


def test_a_date_has_a_clock_and_a_week(written, train):
    clock, week = feature(written[1], "when").bars
    hours = train["when"].dt.hour.value_counts(normalize=True)
    assert clock.training == pytest.approx([hours.get(hour, 0.0) for hour in range(24)])
    days = train["when"].dt.day_name().value_counts(normalize=True)
    assert week.training == pytest.approx([days[day] for day in week.labels])


def test_texts_that_differ_from_row_to_row_are_shown_by_what_they_look_like(written):
    label = feature(written[1], "part").bars[0].labels[0]
    assert re.fullmatch(r"[A-Z]+-\d+", label)  # an example


def test_a_row_is_marked_among_what_is_normal(written, train):
    row = next(row for row in written[1].worst if row.name == "4")
    mark = row.marks[0]
    counts = train["machine"].value_counts()
    assert mark.at is None  # it was never seen
    assert mark.heights == pytest.approx((counts / counts.max()).tolist())


def test_columns_say_what_they_were_taken_for(written, train):
    assert feature(written[1], "machine").column.role == "category"
    text = written[0].read_text(encoding="utf-8")
    assert "category, 8 values" in text
    assert f"{train['when'].min():%Y-%m-%d} to {train['when'].max():%Y-%m-%d}" in text


def test_hostile_cells_are_text(written):
    text = written[0].read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "x" * 100 not in text
    assert "{{ 7 * 7 }}" in text


@pytest.mark.parametrize("width", [400, 1280])
def test_it_opens_in_silence_and_fits(browser, written, width):
    opened = Opened(browser, written[0], viewport={"width": width, "height": 900})
    assert opened.said == []
    assert opened.requests == [written[0].as_uri()]
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.context.close()


def test_a_table_of_texts_alone_has_a_report(tmp_path, train, new):
    columns = ["machine", "part"]
    model = Detector(method="ref").fit(train[columns])
    report = write_report(model, new[columns], tmp_path / "report.html")
    assert [each.histogram for each in report.features] == [None, None]
    assert report.training_rows == 1200


def test_limits_of_the_users_own_are_drawn_on_the_column():
    rng = np.random.default_rng(0)
    good = pd.DataFrame({"weight": rng.normal(2.0, 0.5, 400), "torque": rng.normal(75, 2, 400)})
    rules = {"weight": {"min": 0.8, "max": 5000.0}}
    report = describe(Detector(alpha=0.02, rules=rules).fit(good), good[:100])
    weight, torque = report.features
    assert (weight.own_limits, weight.own_text) == ((0.8, 5000.0), "0.8–5000")
    assert torque.own_limits == ()
    picture = feature_picture(weight.histogram, weight.normal, weight.own_limits)
    edges = weight.histogram.edges
    place = (0.8 - edges[0]) / (edges[-1] - edges[0]) * WIDTH
    assert [float(x) for x in picture.limits] == pytest.approx([place], abs=0.01)
    page = render(report)
    assert page.count("your limit (broken line)") == 1
    assert "your limit (broken line): 0.8–5000" in page


def test_a_column_with_a_unit_in_its_name_is_named_whole_where_a_value_is_missing():
    rng = np.random.default_rng(0)
    parts = pd.DataFrame({"mass_g": rng.normal(50, 1, 300), "length_mm": rng.normal(9, 1, 300)})
    model = Detector(alpha=0.05).fit(parts)
    new = parts.head(40).copy()
    new.loc[3, "mass_g"] = np.nan
    new.loc[4, "mass_g"] = 900.0
    page = render(describe(model, new))
    assert "<b>mass_g</b> is missing" in page
    assert "<b>mass</b> 900" in page


@pytest.mark.parametrize("note", [None, "E-417"])
def test_a_column_that_was_always_empty_has_no_bars_until_it_has_a_value(train, new, note):
    model = Detector().fit(train.assign(note=pd.Series([None] * len(train), dtype=object)))
    notes = pd.Series([None] * (len(new) - 1) + [note], dtype=object)
    report = describe(model, new.assign(note=notes))
    column = next(feature for feature in report.features if feature.name == "note")
    assert [bars.labels for bars in column.bars] == ([] if note is None else [("never seen",)])
    assert "note" in render(report)

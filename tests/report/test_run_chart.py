"""The run chart: every row or the farthest out of some, at its place, with incidents."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, Detector, incidents
from refold.explanation import times_limit
from refold.judgement import Judgement
from refold.monitoring import Incidents
from refold.report import ReportedTable, describe, render, write_report
from refold.report._run_chart import RunRows
from tests.report.opened import Opened


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    good = pd.DataFrame({"p": rng.normal(5, 0.1, 500), "q": rng.normal(2, 0.1, 500)})
    return Detector(alpha=0.01).fit(good)


def rows(n, *odd):
    """Normal rows ten minutes apart, of machines by turns, but for p in some of them."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"p": rng.normal(5, 0.05, n), "q": rng.normal(2, 0.05, n)})
    table.loc[list(odd), "p"] += 2.0
    table["at"] = pd.date_range("2026-03-04", periods=n, freq="10min")
    return table.assign(machine=np.where(np.arange(n) % 2, "A", "B"))


def test_every_row_of_a_small_table_is_a_point_at_its_place(model):
    report = describe(model, rows(300, 20, 21, 200))
    chart, found = report.run_chart, Judgement.of(model, rows(300, 20, 21, 200))
    assert [point.row for point in chart.points] == list(range(300))
    assert [point.distance for point in chart.points] == found.distances.tolist()
    assert [point.row for point in chart.points if point.outlier] == [20, 21, 200]
    x = np.array([float(point.x) for point in chart.points])
    np.testing.assert_allclose(np.diff(x), np.diff(x)[0], atol=0.02)
    above = [float(point.y) < float(chart.limit) for point in chart.points]
    assert above == found.outlier.tolist()
    assert chart.rows_per_point == 1
    assert not chart.timed


def test_of_many_rows_each_point_is_the_farthest_out_of_those_it_stands_for():
    distances = np.random.default_rng(0).exponential(size=10_000)
    distances[77] = np.nan
    whole, parts = RunRows(most=100), RunRows(most=100)
    whole.add(0, distances)
    for begin in range(0, 10_000, 333):
        parts.add(begin, distances[begin : begin + 333])
    charts = [each.chart(1.0, Incidents([])) for each in (whole, parts)]
    assert charts[0] == charts[1]
    each = charts[0].rows_per_point
    assert each == 128
    expected = [
        begin + int(np.nanargmax(distances[begin : begin + each]))
        for begin in range(0, 10_000, each)
    ]
    assert [point.row for point in charts[0].points] == expected


def test_incidents_are_those_of_the_function_and_shaded_from_begin_to_end(model):
    table = rows(300, 20, 22, 24, 201)
    shuffled = table.sample(frac=1.0, random_state=0)
    report = describe(model, shuffled, time="at", by="machine", gap="1h")
    expected = incidents(model, shuffled, time="at", by="machine", gap="1h")
    assert list(report.incidents) == list(expected)
    assert report.n_incidents == len(expected) == 2
    chart = report.run_chart
    assert chart.timed
    assert [point.when for point in chart.points] == table["at"].astype(str).tolist()
    outliers = [float(point.x) for point in chart.points if point.outlier]
    shades = [(float(s.x), float(s.x) + float(s.width)) for s in chart.shades]
    for x, (low, high) in zip(outliers, [shades[0]] * 3 + [shades[1]], strict=True):
        assert low < x < high
    page = render(report)
    assert all(one.text in page for one in expected)
    assert "2 incidents, made of 4 outliers" in page


def test_blocks_are_named_and_counted_from_the_first_number(model):
    table, new = ReportedTable(model, first=1), rows(100, 49, 51)
    for begin in range(0, 100, 30):
        part = new[begin : begin + 30]
        table.add(Judgement.of(model, part[["p", "q"]]), [f"part {k}" for k in part.index])
    (one,) = table.incidents()[0]
    assert (one.rows, one.worst in (50, 52)) == ((50, 52), True)
    assert one.text.startswith("rows part 49–part 51: p ")
    report = describe(model, table)
    assert {row.row for row in report.worst} == {50, 52}
    assert [p.name for p in report.run_chart.points if p.outlier] == ["part 49", "part 51"]


def test_a_threshold_of_nothing_can_be_drawn():
    chart_of = RunRows()
    chart_of.add(0, np.array([0.0, 0.0, 3.0]))
    chart = chart_of.chart(0.0, Incidents([]))
    assert [point.outlier for point in chart.points] == [False, False, True]
    assert all(0.0 <= float(point.y) <= 200.0 for point in chart.points)


@pytest.fixture(scope="module")
def page(browser, model, tmp_path_factory):
    file = tmp_path_factory.mktemp("run") / "report.html"
    report = write_report(model, rows(400, *range(100, 110), 300), file)
    opened = Opened(browser, file, viewport={"width": 1280, "height": 900})
    yield opened, report
    opened.page.context.close()


def chart_box(page):
    chart = page.locator("[data-chart]")
    chart.scroll_into_view_if_needed()
    return chart.bounding_box()


def over(page, point):
    """Return where on the screen a point is, in the whole chart."""
    box = chart_box(page)
    return (
        box["x"] + float(point.x) / 1000 * box["width"],
        box["y"] + float(point.y) / 200 * box["height"],
    )


def test_hovering_says_which_row_it_is_and_a_click_goes_there(page):
    opened, report = page
    worst = report.worst[0]
    point = next(p for p in report.run_chart.points if p.row == worst.row)
    opened.page.mouse.move(*over(opened.page, point))
    said = opened.page.locator("[data-said]")
    assert said.inner_text() == (
        f"row {point.name}: {times_limit(point.distance, report.threshold)}, outlier"
    )
    opened.page.mouse.click(*over(opened.page, point))
    opened.page.wait_for_url(f"**#row-{worst.row}")
    assert opened.said == []


def test_dragging_zooms_and_the_table_shows_the_same_rows(page):
    opened, report = page
    view = opened.page
    box = chart_box(view)
    across = [box["x"] + share * box["width"] for share in (0.2, 0.3)]
    view.mouse.move(across[0], box["y"] + 30)
    view.mouse.down()
    view.mouse.move(across[1], box["y"] + 60, steps=3)
    view.mouse.up()
    inside = [p for p in report.run_chart.points if 200 <= float(p.x) <= 300]
    shown = view.eval_on_selector_all(
        ".run-points tbody tr:not([hidden]) th", "cells => cells.map(cell => cell.textContent)"
    )
    assert set(shown) ^ {point.name for point in inside} <= {inside[0].name, inside[-1].name}
    ends = view.locator("[data-ends] span").all_inner_texts()
    assert ends == [f"row {shown[0]}", f"row {shown[-1]}"]
    view.get_by_role("button", name="Show all").click()
    assert view.locator(".run-points tbody tr:not([hidden])").count() == 400
    assert view.locator("[data-chart]").get_attribute("viewBox") == "0 0 1000 200"


def test_the_keyboard_does_what_the_mouse_does(page):
    opened, report = page
    view = opened.page
    view.locator("[data-plot]").focus()
    view.keyboard.press("Home")
    view.keyboard.press("ArrowRight")
    second = report.run_chart.points[1]
    assert view.locator("[data-said]").inner_text().startswith(f"row {second.name}: ")
    view.keyboard.press("+")
    assert view.locator("[data-chart]").get_attribute("viewBox") == "0 0 500 200"
    view.keyboard.press("Escape")
    view.keyboard.press("End")
    for _ in range(399 - 300):
        view.keyboard.press("ArrowLeft")
    worst = next(p for p in report.run_chart.points if p.row == 300)
    assert view.locator("[data-said]").inner_text().startswith(f"row {worst.name}: ")
    view.keyboard.press("Enter")
    assert view.url.endswith("#row-300")


def test_a_model_without_reasons_has_the_chart_too():
    rng = np.random.default_rng(0)
    model = REF(alpha=0.01, distance=lambda F: np.abs(F).max(axis=1)).fit(rng.normal(size=(300, 2)))
    new = rng.normal(size=(50, 2))
    new[7] = 30.0
    report = describe(model, new)
    assert "row 7: distance " in str(report.incidents)

"""The run chart and the incidents of the Check step."""

import numpy as np
import pandas as pd
import pytest

import refold
from refold.explanation import times_limit
from tests.app.running import AppPage, running
from tests.browser import serious_violations


def parts_over_time(rows, seed=0):
    rng = np.random.default_rng(seed)
    at = pd.Timestamp("2026-03-02") + pd.to_timedelta(np.arange(rows) * 10, "min")
    return pd.DataFrame(
        {"at": at, "heat": rng.normal(20, 2, rows), "torque": rng.normal(75, 0.5, rows)}
    )


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    """Files of rows over time; of the new ones a stretch is wrong, and times say so."""
    folder = tmp_path_factory.mktemp("timed")
    parts_over_time(400).to_csv(folder / "parts.csv", index=False)
    new = parts_over_time(200, seed=1)
    new.loc[50:59, "torque"] += 20.0
    new.to_csv(folder / "new.csv", index=False)
    new.sample(frac=1.0, random_state=0).to_csv(folder / "shuffled.csv", index=False)
    return folder


def test_incidents_are_those_of_python_over_a_date_that_never_goes_back(visitor, timed):
    visitor.put("/table", timed / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", timed / "new.csv")
    page, run = visitor.page("/check"), visitor.state.checked.run
    model, new = visitor.state.trained.in_use, pd.read_csv(timed / "new.csv")
    expected = refold.incidents(model, new, time="at")
    assert {one.text for one in run.incidents} == {one.text for one in expected}
    assert all(one.text in page for one in expected[:8])
    assert set(range(50, 60)) <= set(run.incidents[0].rows)
    assert run.incidents[0].text.startswith("2026-03-02 ")
    assert (len(run.chart.points), run.chart.timed) == (200, True)
    visitor.put("/check", timed / "shuffled.csv")
    run = visitor.state.checked.run
    assert not run.chart.timed
    assert [point.name for point in run.chart.points[:3]] == ["1", "2", "3"]


def test_the_chart_has_a_page_of_its_own_for_those_without_a_script(visitor, timed):
    assert visitor.get("/check/run").status_code == 404
    visitor.put("/table", timed / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", timed / "new.csv")
    assert '<a href="/check/run">The run chart</a>' in visitor.page("/check")
    page, run = visitor.page("/check/run"), visitor.state.checked.run
    assert page.count("<tr data-x=") == len(run.chart.points) == 200
    assert '<a href="rows/199">200</a>' in page
    assert all(one.text in page for one in run.incidents)


def test_a_change_from_some_row_on_is_said(visitor, timed, tmp_path):
    visitor.put("/table", timed / "parts.csv")
    visitor.post("/learn")
    new = parts_over_time(400, seed=1)
    new.to_csv(tmp_path / "same.csv", index=False)
    visitor.put("/check", tmp_path / "same.csv")
    assert "No change is proven in 400 rows" in visitor.page("/check")
    new.loc[200:, "heat"] += 2.0
    new.to_csv(tmp_path / "changed.csv", index=False)
    visitor.put("/check", tmp_path / "changed.csv")
    assert "The stream has changed (p &lt; 0.000001)" in visitor.page("/check")
    assert "most in column &#39;heat&#39;" in visitor.page("/check")


def test_another_rate_draws_another_limit(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    before = visitor.state.checked
    visitor.post("/check/rate", rate=len(before.rates) - 1)
    after = visitor.state.checked
    assert after.rejected > before.rejected
    marked = [point.row for point in after.run.chart.points if point.outlier]
    assert marked == np.flatnonzero(after.found.outlier).tolist()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_chart_leads_to_the_rows_by_mouse_and_keyboard(browser, timed, width):
    with running() as (_, address):
        app = AppPage(browser, address, viewport={"width": width, "height": 900})
        view = app.page
        app.upload(timed / "parts.csv")
        app.go("/learn")
        app.press("Learn", exact=True)
        app.go("/check")
        app.upload(timed / "new.csv")
        chart = view.locator("[data-chart]")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        model, new = (
            refold.Detector().fit(pd.read_csv(timed / "parts.csv")),
            pd.read_csv(timed / "new.csv"),
        )
        distances = -model.score_samples(new)
        worst = int(distances.argmax())
        at = box["x"] + (worst + 1) / 201 * box["width"]
        view.mouse.move(at, box["y"] + 4)
        said = view.locator("[data-said]").inner_text()
        assert said.endswith("outlier")
        view.mouse.click(at, box["y"] + 4)
        view.wait_for_url("**/check/rows/*")
        number = int(view.inner_text("h1").split()[1])
        assert said.startswith(f"row {number}: ")
        assert times_limit(distances[number - 1], model.threshold_) in said
        view.go_back()
        view.locator("[data-plot]").focus()
        view.keyboard.press("End")
        view.keyboard.press("Enter")
        view.wait_for_url("**/check/rows/199*")
        app.go("/check")
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_violations(view) == []
        app.context.close()
        assert app.said == []

"""Reports of models that judge rows by their group, time or other columns."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.report import describe, render


def fleet(rows, seed=0):
    rng = np.random.default_rng(seed)
    machine = rng.integers(0, 20, rows)
    load = rng.uniform(0.0, 10.0, rows)
    time = pd.date_range("2026-01-01", periods=rows, freq="h")
    heat = 40.0 * machine + 3.0 * load + 10.0 * (time.hour < 12) + rng.normal(size=rows)
    return pd.DataFrame(
        {"time": time, "machine": [f"M{k}" for k in machine], "load": load, "heat": heat}
    )


def new_rows():
    new = fleet(2600, seed=1).tail(400).reset_index(drop=True)
    broken = new.index[new["machine"] == "M7"]
    new.loc[broken, "heat"] += 50.0
    new.loc[0, "machine"] = "M-new"
    return new, broken


@pytest.fixture(scope="module")
def model():
    return Detector(by="machine", over="time", context="load", alpha=0.02).fit(fleet(2200))


@pytest.fixture(scope="module")
def report(model):
    return describe(model, new_rows()[0])


def test_the_broken_machine_is_the_worst_group(report):
    worst = report.in_context.worst[0]
    _, broken = new_rows()
    assert (worst.name, worst.known, worst.rows) == ("machine M7", True, len(broken))
    assert worst.rejected == len(broken)
    assert report.in_context.groups == 21
    assert report.in_context.unknown == 1


def test_the_band_is_what_was_expected_of_the_rows(report):
    band = report.in_context.bands[0]
    new, broken = new_rows()
    rows = new.loc[broken]
    assert (band.name, band.about) == ("heat", "machine M7")
    np.testing.assert_array_equal(band.values, rows["heat"])
    seconds = (rows["time"] - pd.Timestamp(0)).dt.total_seconds()
    np.testing.assert_array_equal(band.at, seconds)
    truth = 40.0 * 7 + 3.0 * rows["load"] + 10.0 * (rows["time"].dt.hour < 12)
    assert (truth > band.low).all()
    assert (truth < band.high).all()
    assert (band.high - band.low).max() < 15.0
    assert band.outlier.all()


def test_what_is_noticed_is_about_the_rows_as_they_came(model):
    new, _ = new_rows()
    new.loc[5, "heat"] = 4.0e6
    found = describe(model, new).noticed.of("absurd-cell")
    assert [(each.column, each.values) for each in found] == [("heat", (4.0e6,))]


def test_the_page_has_the_groups_and_a_picture_for_each_column(report):
    page = render(report)
    assert "Beside what was expected" in page
    assert "1 row with a machine that training did not have: judged by all rows." in page
    assert page.count('<figure class="expected">') == 1
    assert "standard deviations from what was expected" in page


def test_without_a_time_groups_stand_side_by_side():
    model = Detector(by="machine", context="load", alpha=0.02).fit(fleet(2200).drop(columns="time"))
    report = describe(model, new_rows()[0].drop(columns="time"))
    band = report.in_context.bands[0]
    assert band.by_group
    assert band.labels[0] == "M7"
    assert len(band.labels) == 21


def test_without_groups_and_time_rows_stand_along_a_number():
    table = fleet(2200)[["load"]].assign(heat=lambda t: 3.0 * t["load"])
    table["heat"] += np.random.default_rng(5).normal(size=len(table))
    report = describe(Detector(context="load").fit(table), table.head(50))
    band = report.in_context.bands[0]
    assert (np.diff(band.at) >= 0.0).all()
    assert report.in_context.worst == ()


def test_without_a_context_nothing_is_said_of_it():
    table = fleet(400)[["load", "heat"]]
    report = describe(Detector().fit(table), table.head(50))
    assert report.in_context is None
    assert "Beside what was expected" not in render(report)

"""The group and the time that rows are judged by are chosen where the model learns."""

import io

import numpy as np
import pandas as pd
import pytest

import refold
from tests.models.detector.test_context_noticed import people


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("fleet")
    machine = rng.integers(0, 12, 1_100)
    table = pd.DataFrame(
        {
            "time": pd.date_range("2026-01-01", periods=1_100, freq="h").astype(str),
            "machine": [f"M{k}" for k in machine],
            "heat": (30.0 * machine + rng.normal(size=1_100)).round(3),
            "flow": rng.normal(size=1_100).round(3),
        }
    )
    table[:1_000].to_csv(folder / "fleet.csv", index=False)
    new = table[1_000:].reset_index(drop=True)
    new.loc[4, "heat"] += 45.0
    new.to_csv(folder / "new.csv", index=False)
    return folder


def test_rows_are_judged_by_the_group_and_time_that_were_chosen(visitor, fleet):
    assert not visitor.put("/table", fleet / "fleet.csv").bad
    page = visitor.page("/learn")
    assert "machine looks like a group: 12 values" in page
    assert "time looks like the time of a row" in page
    assert not visitor.post("/learn", by="1", over="0").bad
    assert not visitor.put("/check", fleet / "new.csv").bad
    training, new = (pd.read_csv(fleet / f"{name}.csv") for name in ("fleet", "new"))
    labels = refold.Detector(by="machine", over="time").fit(training).predict(new)
    assert labels[4] == -1
    np.testing.assert_array_equal(visitor.state.checked.found.labels, labels)
    assert "for machine " in visitor.page("/check")
    scored = pd.read_parquet(io.BytesIO(visitor.take("scored.parquet")))
    np.testing.assert_allclose(scored["heat"], new["heat"])
    assert b"Beside what was expected" in visitor.take("report.html")
    learned = visitor.page("/learn")
    assert "standard deviations from what is expected" in learned
    assert '<option value="1" selected>machine</option>' in learned


def test_without_a_choice_all_rows_are_alike(visitor, fleet):
    assert not visitor.put("/table", fleet / "fleet.csv").bad
    assert not visitor.post("/learn").bad
    assert visitor.state.trained.model.by is None


def test_a_time_that_is_none_is_refused_in_a_sentence(visitor, tmp_path):
    rows = pd.DataFrame({"part": ["a", "b"] * 50, "day": [1, 2] * 50, "heat": np.arange(100) % 7})
    rows.to_csv(tmp_path / "few.csv", index=False)
    assert not visitor.put("/table", tmp_path / "few.csv").bad
    answer = visitor.post("/learn", over="1")
    assert answer.bad
    assert "over='day' has 2 different times" in str(answer)


def test_a_place_that_is_no_column_is_refused(visitor, fleet):
    assert not visitor.put("/table", fleet / "fleet.csv").bad
    answer = visitor.send("/learn", by=77)
    assert answer.status_code == 400
    assert "The page is older than the table" in answer.text


def test_a_date_of_birth_is_not_guessed_as_the_time_of_a_row(visitor, tmp_path):
    people().drop(columns="level").to_csv(tmp_path / "people.csv", index=False)
    visitor.put("/table", tmp_path / "people.csv")
    page = visitor.page("/learn")
    assert "seen looks like the time of a row" in page
    assert "born looks like" not in page

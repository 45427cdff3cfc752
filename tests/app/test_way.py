"""From a file to a model: what the page says and gives is what Python says."""

import io
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

import refold
from refold.models.files import load
from tests.app.conftest import parts


def loaded(visitor, tmp_path):
    file = tmp_path / "taken.json"
    file.write_bytes(visitor.take("model.json"))
    return load(file)


def python(table, **options):
    """Learn from a table as the page does, but read by pandas."""
    return refold.Detector(**options).fit(table)


def test_labels_of_the_page_of_its_model_and_of_its_table_are_those_of_python(
    visitor, files, tmp_path
):
    assert not visitor.put("/table", files / "parts.csv").bad
    assert "400 rows, 6 columns" in visitor.page("/")
    assert not visitor.post("/learn").bad
    assert not visitor.put("/check", files / "new.csv").bad
    new = pd.read_csv(files / "new.csv")
    labels = python(pd.read_csv(files / "parts.csv")).predict(new)
    assert set(np.flatnonzero(labels == -1)) >= {5, 6, 7, 8, 9, 20, 30}
    np.testing.assert_array_equal(visitor.state.checked.found.labels, labels)
    np.testing.assert_array_equal(loaded(visitor, tmp_path).predict(new), labels)
    for name, read in {
        "scored.csv": pd.read_csv,
        "scored.xlsx": partial(pd.read_excel, engine="calamine"),
        "scored.parquet": pd.read_parquet,
    }.items():
        scored = read(io.BytesIO(visitor.take(name)))
        np.testing.assert_array_equal(scored["label"], labels)
        np.testing.assert_allclose(scored["torque"], new["torque"])
    page = visitor.page("/check")
    assert f"{(labels == -1).sum()} of 200 rows" in page
    assert b"outlier" in visitor.take("report.html")


def test_normal_rows_can_be_chosen_in_an_excel_file_and_the_others_checked(visitor, files):
    assert not visitor.put("/table", files / "mixed.xlsx").bad
    table = visitor.state.table
    values = list(table.targets["state"])
    place = f"{table.columns.index('state')}-{values.index('good')}"
    assert not visitor.post("/table/columns", target=place).bad
    assert "says which rows are normal" in visitor.page("/")
    assert not visitor.post("/learn").bad
    mixed = pd.read_excel(files / "mixed.xlsx", engine="calamine")
    good = mixed[mixed["state"] == "good"].drop(columns="state")
    others = mixed[mixed["state"] == "bad"].drop(columns="state")
    assert visitor.state.trained.rows == len(good)
    assert not visitor.post("/check/rest").bad
    expected = python(good).predict(others)
    np.testing.assert_array_equal(visitor.state.checked.found.labels, expected)
    numbers = [visitor.state.checked.number(k) for k in range(3)]
    assert numbers == [1, 11, 21]  # where they are in the file


def test_a_role_that_somebody_gives_is_learned(visitor, files, tmp_path):
    visitor.put("/table", files / "parts.csv")
    assert not visitor.post("/table/columns", **{"role-4": "ignore", "role-0": "text"}).bad
    visitor.post("/learn")
    roles = {c.name: c.role for c in loaded(visitor, tmp_path).columns_}
    assert (roles["code"], roles["machine"]) == ("ignore", "text")


def test_rows_that_are_ticked_are_learned_without(visitor, tmp_path):
    table = parts(300)
    table.loc[41, "torque"] = 300.0
    file = tmp_path / "odd.csv"
    table.to_csv(file, index=False)
    visitor.put("/table", file)
    visitor.post("/learn")
    assert visitor.state.trained.odd[0].number == 42  # people count from 1
    visitor.post("/learn", without=[42])
    assert visitor.state.trained.rows == 299
    assert all(row.number != 42 for row in visitor.state.trained.odd)
    model = loaded(visitor, tmp_path)
    kept = pd.read_csv(file).drop(index=41)
    assert model.threshold_ == python(kept).threshold_
    assert "1 of 300 rows was left out" in str(model.noticed_[0])
    assert model.noticed_[0].rows == (41,)


def test_every_count_of_the_slider_is_what_the_rate_comes_to(visitor, files, tmp_path):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    new, model = pd.read_csv(files / "new.csv"), python(pd.read_csv(files / "parts.csv"))
    choices = visitor.state.checked.rates
    assert len(choices) > 8
    for choice in choices:
        calibrated = model.calibrate(alpha=choice.rate)
        assert choice.rejected == np.sum(calibrated.predict(new) == -1)
        assert choice.expected.rows == pytest.approx(200 * choice.rate, rel=0.5)
    assert not visitor.post("/check/rate", rate=len(choices) - 1).bad
    assert f"{choices[-1].rejected} of 200 rows" in visitor.page("/check")
    assert loaded(visitor, tmp_path).alpha_ == choices[-1].rate


def test_a_row_that_is_normal_after_all_is_learned_and_can_be_taken_back(visitor, files, tmp_path):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    before = visitor.state.checked.found
    model = python(pd.read_csv(files / "parts.csv"))
    new = pd.read_csv(files / "new.csv")
    news = visitor.post("/check/accept", row=20)
    assert "Row 21: 1 row accepted; it is normal now." in news.text
    model.accept(new.iloc[[20]])
    np.testing.assert_array_equal(visitor.state.checked.found.labels, model.predict(new))
    np.testing.assert_array_equal(loaded(visitor, tmp_path).predict(new), model.predict(new))
    assert not visitor.post("/check/undo").bad
    np.testing.assert_array_equal(visitor.state.checked.found.distances, before.distances)


def test_what_is_shown_in_python_is_the_same_model(visitor, files, tmp_path, monkeypatch, capsys):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/table/columns", **{"role-4": "ignore"})
    visitor.post("/learn", without=[3, 4])
    visitor.put("/check", files / "new.csv")
    visitor.post("/check/rate", rate=2)
    from refold.app.downloads import python_code

    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.csv").write_bytes((files / "parts.csv").read_bytes())
    (tmp_path / "new-rows.csv").write_bytes((files / "new.csv").read_bytes())
    exec(python_code(visitor.state.trained), {})
    assert ": outlier; " in capsys.readouterr().out
    assert load(tmp_path / "model.json").threshold_ == loaded(visitor, tmp_path).threshold_


@pytest.mark.slow
def test_what_it_would_catch_is_what_limits_says(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.post("/limits")
    found = refold.limits(python(pd.read_csv(files / "parts.csv")))
    page = visitor.page("/limits")
    for limit in found:
        assert limit.shown(limit.up_90) in page
    assert "heat" in page


@pytest.mark.slow
def test_a_model_is_written_as_sql_or_refused_in_words(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    news = visitor.post("/take", name="model-duckdb.sql")
    assert news.bad
    assert "cannot be written as SQL" in news.text
    assert "choose to judge each column by itself in the step Learn" in news.text
    refused = [news.text, visitor.post("/take", name="model.onnx").text]
    assert "take model-simple.onnx" in refused[1]
    assert not [text for text in refused if re.search(r"Detector|without=|method=", text)]
    assert visitor.get("/take/model-duckdb.sql").status_code == 404
    visitor.post("/learn", method="ref")
    assert b"SELECT" in visitor.take("model-duckdb.sql").upper()
    assert len(visitor.take("model-simple.onnx")) > 1000


def test_learning_again_judges_the_new_rows_again(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    before = visitor.state.checked
    visitor.post("/table/columns", **{"role-2": "ignore"})
    assert visitor.state.stale
    assert "has changed since" in visitor.page("/learn")
    visitor.post("/learn")
    after = visitor.state.checked
    assert after is not before
    assert "torque" not in after.found.names
    assert after.found.labels[5] == 1  # only its torque was odd


def test_learning_again_keeps_the_rate_and_says_what_it_forgets(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    rates = visitor.state.checked.rates
    visitor.post("/check/rate", rate=len(rates) - 1)
    assert "Learning again forgets" not in visitor.page("/learn")
    visitor.post("/check/accept", row=20)
    assert "Learning again forgets that you said of 1 row" in visitor.page("/learn")
    visitor.post("/learn", without=[1])
    assert visitor.state.trained.in_use.alpha_ == rates[-1].rate
    assert visitor.state.checked.found.judge.alpha == rates[-1].rate
    assert visitor.state.trained.model.feedback_ == ()


def test_files_of_a_model_that_has_changed_are_not_given(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.take("model.json")
    uploaded = visitor.state.table.file.path
    assert set(visitor.workspace.folder.iterdir()) - {uploaded} == set(visitor.state.files.values())
    assert len(visitor.state.files) == 1
    visitor.post("/learn", method="ref")
    assert visitor.get("/take/model.json").status_code == 404
    assert list(visitor.workspace.folder.iterdir()) == [uploaded]


@pytest.mark.parametrize("key", ["screws", "cases"])
def test_samples_go_all_the_way(visitor, key):
    for path, fields in (
        ("/table/sample", {"sample": key}),
        ("/learn", {}),
        ("/check/sample", {}),
    ):
        assert not visitor.post(path, **fields).bad
    checked = visitor.state.checked
    assert checked.rejected > checked.rates[checked.choice].expected.interval[1]
    for path in ("/", "/learn", "/check", "/limits", "/take", "/check/rows/0"):
        visitor.page(path)


def test_the_table_step_says_what_columns_there_are_and_shows_the_first_rows(visitor, files):
    visitor.put("/table", files / "parts.csv")
    page = visitor.page("/")
    assert re.search(r"\d columns: .*2 numbers.*; .* missing", page)
    first = page[page.index('class="first-rows"') : page.index("</table>")]
    rows = pd.read_csv(files / "parts.csv", dtype=str).head(5)
    assert first.count("<tr>") == 1 + len(rows)
    assert all(f"<td>{cell}</td>" in first for cell in rows["code"].dropna())

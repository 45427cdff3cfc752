"""Rows are called by the column that names them, wherever they are shown."""

import io

import pandas as pd
import pytest

from tests.app.conftest import new_parts, parts


def named(table, first):
    """Put a column of serial numbers behind the others."""
    serials = [f"S{first + k:05d}" for k in range(len(table))]
    return table.assign(serial=serials)


@pytest.fixture
def checked(visitor, tmp_path):
    named(parts(400), 10_000).to_csv(tmp_path / "parts.csv", index=False)
    named(new_parts(), 20_000).to_csv(tmp_path / "new.csv", index=False)
    visitor.put("/table", tmp_path / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", tmp_path / "new.csv")
    return visitor


def test_a_column_that_names_every_row_is_proposed_and_can_be_another_or_none(checked):
    assert checked.state.choice.id_column == "serial"
    assert "serial" not in checked.state.trained.judge.names
    columns = checked.state.table.columns
    checked.post("/table/columns", id=columns.index("code"))
    assert checked.state.choice.id_column == "code"
    checked.post("/learn")
    assert checked.state.trained.model.id_column == "code"
    assert "code" not in checked.state.trained.judge.names
    checked.post("/table/columns", id="")
    assert checked.state.choice.id_column == ""


def test_it_comes_first_in_lists_on_the_page_of_a_row_and_in_messages(checked):
    page = checked.page("/check")
    assert ">S20020</a>" in page
    row = checked.page("/check/rows/20")
    assert "<h1>S20020" in row
    assert "row 21" in row
    news = checked.post("/check/accept", row=20)
    assert news.text.startswith("S20020 (row 21): 1 row accepted")
    odd = checked.state.trained.odd[0]
    assert f"S{10_000 + odd.number - 1:05d}" in checked.page("/learn")


def test_it_is_in_the_report_and_first_in_excel(checked):
    assert b"S20020" in checked.take("report.html")
    scored = pd.read_excel(io.BytesIO(checked.take("scored.xlsx")), engine="calamine")
    assert scored.columns[0] == "serial"
    assert scored["serial"].tolist()[20] == "S20020"
    assert pd.read_csv(io.BytesIO(checked.take("scored.csv"))).columns[0] == "machine"


def test_new_rows_without_it_are_called_by_their_number(checked, files):
    assert not checked.put("/check", files / "new.csv").bad
    assert ">21</a>" in checked.page("/check")
    assert "Row 21 of new.csv" in checked.page("/check/rows/20")


def test_a_name_that_is_missing_is_the_number_of_the_row(checked, tmp_path):
    table = named(new_parts(), 20_000)
    table.loc[20, "serial"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    checked.put("/check", tmp_path / "gaps.csv")
    assert ">21</a>" in checked.page("/check")

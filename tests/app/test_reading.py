"""A file that was guessed wrong is read again, as somebody says, without being sent again."""

import re

import pandas as pd
import pytest

from refold.app.downloads import python_code
from refold.tabular import TrainingSelection, open_table, read_training
from tests.app.conftest import new_parts, parts


def workbook(path, **sheets):
    """Write tables as sheets; the largest one is not the one that is wanted."""
    with pd.ExcelWriter(path, engine="xlsxwriter") as book:
        legend = pd.DataFrame({"column": ["torque", "heat"] * 2000, "unit": ["Nm", "C"] * 2000})
        legend.to_excel(book, sheet_name="Legend", index=False)
        for name, table in sheets.items():
            table.to_excel(book, sheet_name=name, index=False)
    return path


def place_of(page, name, text):
    """Return what a form sends for an option."""
    (options,) = re.findall(rf'<select name="{name}">(.*?)</select>', page, re.DOTALL)
    found = re.findall(r'<option value="(\d*)"[^>]*>([^<]*)</option>', options)
    return next(value for value, shown in found if text in shown)


def files_of(visitor):
    return set(visitor.workspace.folder.iterdir())


def test_a_sheet_can_be_chosen_for_the_table_and_for_new_rows(visitor, tmp_path):
    news = visitor.put("/table", workbook(tmp_path / "parts.xlsx", March=parts(300)))
    assert (
        "sheet 'Legend', the largest, was read. There is also 'March'. To read another: choose "
        "another one below." in news.text
    )
    page = visitor.page("/")
    assert "the largest one: Legend" in page
    assert not visitor.post("/table/reading", sheet=place_of(page, "sheet", "March")).bad
    assert visitor.state.table.columns == list(parts(1).columns)
    assert "sheet &#39;March&#39;" in visitor.page("/")
    visitor.post("/learn")
    news = visitor.put("/check", workbook(tmp_path / "new.xlsx", April=new_parts()))
    assert news.bad  # the legend has other columns: nothing was checked, but the file is there
    page = visitor.page("/check")
    assert "Read new.xlsx otherwise" in page
    assert not visitor.post("/check/reading", sheet=place_of(page, "sheet", "April")).bad
    assert visitor.state.checked.table.rows == 200
    assert not visitor.post("/check/reading", sheet=place_of(page, "sheet", "April")).bad  # again
    assert "sheet='March'" in python_code(visitor.state.trained)


def test_marks_that_were_guessed_wrong_are_said_and_the_cells_are_read_by_them(visitor, tmp_path):
    file = tmp_path / "parts.csv"
    file.write_text("a;b\n" + "".join(f"{k * k % 61},125;1.{k * 7 % 59:03d}\n" for k in range(60)))
    visitor.put("/table", file)
    page = visitor.page("/")
    assert "guessed: semicolons" in page
    assert "guessed: a comma" in page
    points = place_of(page, "thousands", "a point")
    assert not visitor.post("/table/reading", thousands=points).bad
    cells = visitor.state.table.training.table["b"]
    assert cells.to_pylist()[1] == "1.007"  # as it is written; the model reads it as it is said
    visitor.post("/learn")
    assert visitor.state.trained.in_use.predict([{"a": "1,125", "b": "1.007"}]) == [1]
    assert visitor.state.trained.in_use.predict([{"a": "1,125", "b": "1,007"}]) == [-1]
    news = visitor.post("/table/reading", thousands=place_of(page, "thousands", "a comma"))
    assert news.bad
    assert "Choose both marks" in news.text
    commas = place_of(page, "delimiter", "commas")
    before = visitor.state
    news = visitor.post("/table/reading", delimiter=commas, decimal="0")
    assert "in the first line it is 1 (separated by commas)" in news.text
    assert visitor.state is before
    assert f'<option value="{commas}" selected>commas' in visitor.page("/")


def test_a_file_without_names_is_read_once_that_is_said(visitor, tmp_path):
    file = tmp_path / "numbers.csv"
    file.write_text("".join(f"{k * k % 61}.5,{k * 7 % 59}\n" for k in range(60)))
    news = visitor.put("/table", file)
    assert news.bad
    assert "tick “The columns have no names” below" in news.text
    assert files_of(visitor) == {news.file.path}
    assert "Read numbers.csv otherwise" in visitor.page("/")
    assert not visitor.post("/table/reading", no_header="1").bad
    assert visitor.state.table.columns == ["x0", "x1"]
    assert visitor.state.table.rows == 60
    assert 'name="no_header" value="1" checked' in visitor.page("/")


def test_lines_above_the_names_and_words_for_missing_values_can_be_said(visitor, tmp_path):
    file = tmp_path / "parts.csv"
    file.write_text(
        "one,two\na,b\n" + "".join(f"{k * k % 61},n.d.\n" for k in range(40)) + "40,-9\n"
    )
    visitor.put("/table", file)
    assert not visitor.post("/table/reading", skip_rows="1", missing='n.d., "-9"').bad
    table = visitor.state.table.training.table
    assert table.column_names == ["a", "b"]
    assert table["b"].null_count == 41
    assert 'value="n.d., -9"' in visitor.page("/")


def test_what_is_shown_in_python_opens_the_file_in_the_same_way(visitor, tmp_path, monkeypatch):
    file = tmp_path / "parts.csv"
    file.write_text("".join(f"{k % 7};{k};-9\n" for k in range(60)))
    visitor.put("/table", file)
    visitor.post("/table/reading", no_header="1", missing="-9", decimal="0")
    visitor.post("/learn")
    (line,) = re.findall(r"open_table\(.*?\)(?= as file)", python_code(visitor.state.trained))[:1]
    monkeypatch.chdir(tmp_path)
    with eval(line, {"open_table": open_table}) as table:
        rows = read_training(table, TrainingSelection()).table
    assert rows.equals(visitor.state.table.training.table)


def test_files_are_kept_as_long_as_they_may_be_read_again(visitor, files, tmp_path):
    visitor.put("/table", files / "parts.csv")
    first = visitor.state.table.file.path
    assert files_of(visitor) == {first}
    visitor.post("/table/reading", missing="K-0000")
    assert files_of(visitor) == {first}
    assert first.read_bytes() == (files / "parts.csv").read_bytes()
    visitor.put("/table", files / "new.csv")
    assert first not in files_of(visitor)
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    assert len(files_of(visitor)) == 2
    failed = visitor.put("/check", b"a,b\n1\n", name="broken.csv")
    assert failed.bad
    assert len(files_of(visitor)) == 3
    visitor.post("/check/rate", rate=0)  # what could not be read is given up
    assert len(files_of(visitor)) == 2
    visitor.put("/check", b"a,b\n1\n", name="broken.csv")
    visitor.post("/forget")
    assert files_of(visitor) == set()


def test_a_file_of_the_user_is_never_removed(visitor, files, tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes((files / "parts.csv").read_bytes())
    visitor.workspace.open_file(own, "own.csv", keep=True)
    visitor.workspace.worker.wait(60)
    assert not visitor.post("/table/reading", missing="K-0000").bad
    visitor.put("/table", files / "new.csv")
    visitor.post("/forget")
    assert own.exists()


def test_a_way_to_read_that_fails_changes_nothing_and_can_be_mended(visitor, files):
    visitor.put("/table", files / "parts.csv")
    before = visitor.state
    news = visitor.post("/table/reading", skip_rows="100000")
    assert news.bad
    assert visitor.state is before
    assert not visitor.post("/table/reading", skip_rows="").bad
    assert visitor.state.table.rows == before.table.rows


@pytest.mark.parametrize(
    "fields",
    [
        {"sheet": "0"},
        {"delimiter": "99"},
        {"delimiter": ";"},
        {"decimal": "-1"},
        {"thousands": "x"},
        {"skip_rows": "-1"},
        {"skip_rows": "9" * 30},
        {"missing": "a\nb"},
        {"missing": "x" * 5000},
        {"decimal": ["0", "1"]},
    ],
)
def test_a_form_that_makes_no_sense_is_refused(visitor, files, fields):
    visitor.put("/table", files / "parts.csv")
    before = visitor.state
    answer = visitor.send("/table/reading", **fields)
    assert answer.status_code == 400
    assert visitor.state is before
    assert visitor.send("/check/reading").status_code == 409


def test_names_of_sheets_run_nothing(visitor, tmp_path):
    file = workbook(tmp_path / "parts.xlsx", **{"<script>alert(1)<'\"": parts(100)})
    visitor.put("/table", file)
    page = visitor.page("/")
    assert "<script>alert" not in page
    sheet = place_of(page, "sheet", "alert(1)")
    assert not visitor.post("/table/reading", sheet=sheet).bad
    assert "<script>alert" not in visitor.page("/")


def test_no_page_advises_options_of_the_command_line(visitor, tmp_path):
    table = parts(300)
    table["heat [C]"] = [-999.0 if k % 11 == 0 else 20.0 + k % 7 / 10 for k in range(300)]
    table["money"] = [f"1,{k % 900 + 100}" for k in range(300)]
    table.to_csv(tmp_path / "parts.csv", index=False, sep=";")
    visitor.put("/table", tmp_path / "parts.csv")
    page = visitor.page("/")
    assert "name -999 as missing where the file is read" in page
    assert not re.search(r"--[a-z]", re.sub(r"<[^>]*>", "", page))

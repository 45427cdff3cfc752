"""What a command refuses before it has written anything."""

import pytest

from tests.cli.conftest import as_csv
from tests.command import run_in_process


@pytest.fixture
def folder(parts, rows, tmp_path, monkeypatch):
    """A folder to be in, with the model, its table and one without rows."""
    for name in ("model.json", "normal.csv", "new.csv"):
        (tmp_path / name).write_bytes((parts / name).read_bytes())
    (tmp_path / "empty.csv").write_text("torque,speed,heat\n")
    (tmp_path / "void.csv").write_text(as_csv([["", "", ""]] * 3))
    (tmp_path / "place").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path


REFUSED = [
    ("fit normal.csv -o place", "place is a folder."),
    ("fit normal.csv -o nowhere/m.json", "There is no folder nowhere."),
    ("fit normal.csv -o m.json --columns torque,speed --roles heat=number", "not to be learned"),
    ("score model.json new.csv --json -o -", "would both go to standard output"),
    ("score model.json new.csv --thousands x", "and not the decimal mark"),
    ("score model.json new.csv --decimal , --thousands ,", "and not the decimal mark"),
    ("score model.json new.csv --bad-cells notice", "takes numbers only"),
    ("score model.json empty.csv", "has column names but no rows"),
    ("limits model.json empty.csv", "has column names but no rows"),
    ("report model.json empty.csv -o page.html", "has column names but no rows"),
    ("report model.json void.csv -o page.html", "None of the 3 rows has a value"),
    ("explain model.json new.csv --row 61", "has 60 rows: there is no row 61"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_it_is_said_in_a_sentence_and_nothing_is_written(line, said, folder, monkeypatch, capsys):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    run_in_process(monkeypatch, *line.split(), code=2)
    out, err = capsys.readouterr()
    assert said in " ".join(err.replace("│", " ").split())
    assert out == ""
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before

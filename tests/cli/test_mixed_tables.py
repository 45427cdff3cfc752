"""Every command takes a table as people have it, without any option."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import refold as library
from tests.tables import OTHERS, PACKAGED, of_tables, real_table


@pytest.mark.parametrize("name", of_tables(*PACKAGED, *OTHERS))
def test_every_table_is_learned_and_scored_as_it_is(refold, tmp_path, name):
    table = real_table(name)
    done = refold("fit", table, "-o", "m.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((done.stdout + done.stderr).splitlines()) <= 15
    done = refold("score", "m.json", table, "--prefix", "is_", "-o", "out.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    given = pd.read_csv(table, dtype=str, keep_default_na=False)
    out = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(out[given.columns], given)  # what was written is handed on
    assert set(out.is_label) <= {"1", "-1"}


@pytest.fixture(scope="module")
def orders():
    """Rows of all kinds of columns; the same for all formats."""
    rng = np.random.default_rng(0)
    rows = 300
    days = pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.integers(0, 90, rows), "D")
    return pd.DataFrame(
        {
            "order": [f"A-{k:05d}" for k in rng.permutation(90_000)[:rows]],
            "day": days.strftime("%d.%m.%Y"),
            "machine": rng.choice(["north", "south", "west"], rows),
            "price": [f"{v:.2f}" for v in rng.normal(1500, 200, rows)],
            "weight": rng.normal(7, 1, rows).round(3),
        }
    )


def german(table):
    """As a spreadsheet exports it there: a title, semicolons, decimal commas, Latin-1."""
    table = table.assign(
        price=[f"{int(v[:-3]):,}".replace(",", ".") + "," + v[-2:] for v in table.price],
        weight=[str(v).replace(".", ",") for v in table.weight],
    )
    lines = table.to_csv(index=False, sep=";", lineterminator="\r\n")
    return f"Aufträge, März\r\n\r\n{lines}".encode("cp1252")


def packed(content):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("orders.csv", content)
    return sink.getvalue()


def workbook(table):
    sink = io.BytesIO()
    table.assign(price=table.price.astype(float)).to_excel(sink, index=False, startrow=2)
    return sink.getvalue()


EXPORTS = {
    "t.csv": lambda table: table.to_csv(index=False).encode(),
    "german.csv": german,
    "t.zip": lambda table: packed(table.to_csv(index=False)),
    "t.xlsx": workbook,
    "t.json": lambda table: table.to_json(orient="records").encode(),
    "index.csv": lambda table: table.to_csv().encode(),
}


@pytest.fixture(scope="module")
def model(orders, refold, tmp_path_factory):
    folder = tmp_path_factory.mktemp("orders")
    (folder / "t.csv").write_bytes(EXPORTS["t.csv"](orders))
    done = refold("fit", "t.csv", "-o", "model.json", "--roles", "order=identifier", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "model.json"


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_of_one_table_are_learned_alike(name, orders, refold, tmp_path):
    (tmp_path / name).write_bytes(EXPORTS[name](orders))
    done = refold("fit", name, "-o", "m.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    columns = {column["name"]: column["role"] for column in json.loads(done.stdout)["columns"]}
    assert columns.pop("unnamed 1", "ignore") == "ignore"
    assert columns == {
        "order": "identifier",
        "day": "date",
        "machine": "category",
        "price": "number",
        "weight": "number",
    }


@pytest.mark.parametrize("name", EXPORTS)
def test_a_model_judges_all_exports_alike(name, orders, model, refold, tmp_path):
    new = orders.head(40).copy()
    new.loc[7, "machine"] = "nort"
    new.loc[9, "price"] = "99500.25"
    (tmp_path / name).write_bytes(EXPORTS[name](new))
    # The model was learned from decimal points: a file with commas is refused unless that is said.
    commas = ("--decimal", ",") if name == "german.csv" else ()
    assert refold("score", model, name, "-o", "out.csv", cwd=tmp_path).returncode == 2 * bool(
        commas
    )
    done = refold("score", model, name, "-o", "out.csv", *commas, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    form = {"sep": ";", "decimal": ",", "encoding": "cp1252"} if name == "german.csv" else {}
    out = pd.read_csv(tmp_path / "out.csv", **form)  # as the input is written
    expected = library.load(model)
    np.testing.assert_allclose(out.distance, -expected.score_samples(new), rtol=1e-9)
    assert (out.label[7], out.reason_1[7]) == (-1, "machine")
    assert (out.label[9], out.reason_1[9]) == (-1, "price")


def test_a_scored_workbook_is_a_workbook(orders, model, refold, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(workbook(orders))
    done = refold("score", model, "t.xlsx", "-o", "out.xlsx", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    out = pd.read_excel(tmp_path / "out.xlsx", engine="calamine")
    assert out.order.tolist() == orders.order.tolist()
    assert list(out.columns[5:]) == [
        *("distance", "label", "verdict", "p_value"),
        *("reason_1", "reason_2", "reason_3", "because"),
    ]


def test_without_a_row_the_worst_are_explained(orders, model, refold, tmp_path):
    new = orders.head(60).copy()
    new.loc[[7, 20], "machine"] = ["nort", "'=1+1'"]
    new.to_csv(tmp_path / "new.csv", index=False)
    done = refold("explain", model, "new.csv", "--worst", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert " of 60 rows are outliers. The 1 farthest out:\n" in done.stdout
    assert "machine '" in done.stdout
    assert "was never seen" in done.stdout
    shown = json.loads(refold("explain", model, "new.csv", "--json", cwd=tmp_path).stdout)
    assert {8, 21} <= {row["row"] for row in shown["rows"]}
    orders.head(60).iloc[:3].to_csv(tmp_path / "new.csv", index=False)
    done = refold("explain", model, "new.csv", cwd=tmp_path)
    assert done.stdout == "None of the 3 rows is an outlier.\n"


@pytest.mark.parametrize("command", ["drift", "limits", "report", "inspect"])
def test_the_other_commands_take_it_too(command, orders, model, refold, tmp_path):
    (tmp_path / "german.csv").write_bytes(german(orders))
    table = () if command == "inspect" else ("german.csv", "--decimal", ",")
    done = refold(command, model, *table, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert refold(command, model, *table, cwd=tmp_path).returncode == 0


def test_columns_that_are_not_there_are_named(model, refold, tmp_path):
    (tmp_path / "t.csv").write_text("machine,weight\nnorth,7\n")
    done = refold("score", model, "t.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no column 'order', 'day', 'price', which the model needs" in done.stderr


def test_decimal_marks_are_as_the_user_says(refold, rows, tmp_path):
    thousands = [f'"{int(a)},{int(b):03d}",{c}' for a, b, c in rows]  # 75,300: which is it?
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(thousands) + "\n")
    for options, high in (((), 82_000), (("--decimal", ","), 82)):
        done = refold("fit", "t.csv", "-o", "m.json", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert library.load(tmp_path / "m.json").summary_.high[0] < high


def test_cells_go_through_csv_as_they_were_written(orders, model, refold, tmp_path):
    (tmp_path / "german.csv").write_bytes(german(orders.head(5)))
    done = refold("score", model, "german.csv", "--reasons", 0, "--decimal", ",", cwd=tmp_path)
    found = list(csv.DictReader(io.StringIO(done.stdout), delimiter=";"))
    assert found[0]["weight"] == str(orders.weight[0]).replace(".", ",")
    assert "." in found[0]["price"]
    assert found[0]["price"].count(",") == 1
    assert "," in found[0]["distance"]


def test_outliers_first_and_formulas_as_asked_for(orders, model, refold, tmp_path):
    new = orders.head(40).copy()
    new.loc[7, "machine"] = "=HYPERLINK(1)"
    new.loc[9, "price"] = "99500.25"
    new.to_csv(tmp_path / "new.csv", index=False)
    for options, machine in (((), "=HYPERLINK(1)"), (("--neutralize-formulas",), "'=HYPERLINK(1)")):
        command = ("score", model, "new.csv", "--outliers-first", "-o", "out.csv", *options)
        done = refold(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        out = pd.read_csv(tmp_path / "out.csv")
        assert out.label.is_monotonic_increasing
        assert out[out.label == -1].distance.is_monotonic_decreasing
        assert {machine, "north"} <= set(out.machine)
        assert sorted(out.order) == sorted(new.order)

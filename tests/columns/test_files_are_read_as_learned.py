"""The marks of numbers, words for missing values and empty columns: learned once, kept, said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import refold
from refold import Detector, scale
from refold.base.errors import UserError
from refold.tabular import TrainingSelection, open_table, read_arrow, read_training


def german(number: float, digits: int = 0) -> str:
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def english(number: float, digits: int = 0) -> str:
    return f"{number:,.{digits}f}"


def swiss(number: float, digits: int = 0) -> str:
    return f"{number:,.{digits}f}".replace(",", "'")


def spaced(number: float, digits: int = 0) -> str:
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", "\u00a0,"))


def write(file, header, rows, separator=";"):
    lines = [separator.join(header), *(separator.join(row) for row in rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def fitted(file, **how):
    with open_table(file, **how) as table:
        return Detector().fit(read_training(table, TrainingSelection()).table)


def numbers_of(model, name):
    (column,) = (column for column in model.columns_ if column.name == name)
    return column.low, column.high


@pytest.mark.parametrize("written", [german, english, swiss, spaced])
def test_the_other_columns_say_what_a_mark_between_three_digits_is(tmp_path, rng, written):
    sales, shares = rng.integers(1411, 97820, 200), rng.random(200)
    rows = [
        (f"F{k % 20}", written(s), written(q, 2))
        for k, (s, q) in enumerate(zip(sales, shares, strict=True))
    ]
    model = fitted(write(tmp_path / "t.csv", ("shop", "sales", "share"), rows))
    assert numbers_of(model, "sales") == (sales.min(), sales.max())
    assert not [found for found in model.noticed_ if found.kind == "ambiguous-number"]


@pytest.mark.parametrize("decimal", [",", "."])
def test_the_same_row_is_read_the_same_beside_any_other_rows(tmp_path, rng, decimal):
    written = german if decimal == "," else english
    rows = [
        (written(s), written(q, 2))
        for s, q in zip(rng.integers(900, 9999, 200), rng.random(200), strict=True)
    ]
    model = fitted(write(tmp_path / "t.csv", ("sales", "share"), rows))
    alone = write(tmp_path / "1.csv", ("sales", "share"), [(written(1234), written(0.57, 2))])
    more = [(written(1234), written(0.57, 2)), (written(2500.5, 2), written(0.9, 1)), ("7", "1")]
    beside = write(tmp_path / "2.csv", ("sales", "share"), more)
    first = [scale.score(model, f).read_all()["distance"][0].as_py() for f in (alone, beside)]
    assert first[0] == first[1]


def test_a_file_that_writes_numbers_otherwise_is_refused_by_column_and_cell(tmp_path, rng):
    rows = [(german(v, 2), "ab"[k % 2]) for k, v in enumerate(rng.normal(5000, 900, 100))]
    model = fitted(write(tmp_path / "t.csv", ("sales", "kind"), rows))
    other = write(tmp_path / "new.csv", ("sales", "kind"), [("4321.75", "a")] * 4)
    with pytest.raises(UserError, match=r"line 2.*'sales'.*'4321\.75'.*decimal commas") as error:
        scale.score(model, other).read_all()
    assert error.value.advice.kind == "decimal"


def test_one_cell_in_another_form_is_an_outlier_not_a_refusal(tmp_path, rng):
    rows = [(german(v, 2), "ab"[k % 2]) for k, v in enumerate(rng.normal(5000, 900, 100))]
    model = fitted(write(tmp_path / "t.csv", ("sales", "kind"), rows))
    new = write(tmp_path / "new.csv", ("sales", "kind"), [*rows[:4], ("4321.75", "a")])
    assert scale.score(model, new).read_all()["label"].to_pylist()[-1] == -1


def test_what_no_column_settles_is_said_with_both_readings(tmp_path, rng):
    rows = [(f"{v // 1000}.{v % 1000:03}", "ab"[k % 2]) for k, v in enumerate(range(1101, 1301))]
    model = fitted(write(tmp_path / "t.csv", ("x", "kind"), [r for r in rows if r[0][-1] != "0"]))
    (found,) = [found for found in model.noticed_ if found.kind == "ambiguous-number"]
    assert (found.column, found.values[1] / found.values[0]) == ("x", 1000.0)
    assert (found.advice.kind, found.advice.role) == ("role", "number:,")


def test_the_form_is_in_the_model_file(tmp_path, rng):
    rows = [
        (german(s), german(q, 2))
        for s, q in zip(rng.integers(900, 9999, 200), rng.random(200), strict=True)
    ]
    model = fitted(write(tmp_path / "t.csv", ("sales", "share"), rows))
    refold.save(model, tmp_path / "m.json")
    again, table = refold.load(tmp_path / "m.json"), [{"sales": "1.234", "share": "0,5"}]
    assert again.score_samples(table).tolist() == model.score_samples(table).tolist()
    assert again.columns_[0].form == "decimal commas, points between thousands"


@pytest.mark.parametrize("word", ["none", "NA", "-", "?", "null"])
def test_in_memory_a_word_is_a_value(word):
    frame = pd.DataFrame({"defect": [word] * 100, "x": np.arange(100) % 7})
    model = Detector().fit(frame)
    assert model.columns_[0].missing == 0
    new = [{"defect": word, "x": 3}, {"defect": "CRACKED", "x": 3}, {"defect": None, "x": 3}]
    assert model.predict(new).tolist() == [1, -1, -1]


def test_an_empty_text_in_memory_is_missing():
    rows = [{"a": str(k % 7) if k % 5 else " ", "b": k % 3} for k in range(100)]
    (column, _) = Detector().fit(rows).columns_
    assert (column.role, column.missing, column.unreadable) == ("number", 20, 0)


@pytest.mark.parametrize("door", ["training", "arrow"])
def test_a_word_that_most_rows_of_a_file_have_is_a_value_and_said(tmp_path, door):
    rows = [("none", str(k % 7)) for k in range(200)]
    file = write(tmp_path / "t.csv", ("defect", "x"), rows, ",")
    with open_table(file) as table:
        model = fitted(file) if door == "training" else Detector().fit(read_arrow(table))
    new = write(tmp_path / "new.csv", ("defect", "x"), [("none", "3"), ("CRACKED", "3")], ",")
    assert scale.score(model, new).read_all()["label"].to_pylist() == [1, -1]
    (found,) = [found for found in model.noticed_ if found.kind == "missing-words"]
    assert (found.column, found.values, found.advice.kind) == ("defect", ("none",), "missing")


def test_a_word_that_few_rows_of_a_file_have_is_missing_and_said(tmp_path):
    rows = [("NA" if k % 10 == 0 else "ab"[k % 2], str(k % 7)) for k in range(200)]
    file = write(tmp_path / "t.csv", ("kind", "x"), rows, ",")
    model = fitted(file)
    (found,) = [found for found in model.noticed_ if found.kind == "missing-words"]
    assert (model.columns_[0].missing, found.values, found.advice.kind) == (20, ("na",), "keep")
    assert model.columns_[0].missing_words == ("na",)
    assert fitted(file, keep=["NA"]).columns_[0].missing == 0


def test_numbers_of_which_most_are_na_stay_numbers(tmp_path):
    rows = [("NA" if k % 3 else f"{k % 11}.5", "ab"[k % 2]) for k in range(300)]
    model = fitted(write(tmp_path / "t.csv", ("x", "kind"), rows, ","))
    assert (model.columns_[0].role, model.columns_[0].missing) == ("number", 200)


@pytest.mark.parametrize("door", ["frame", "records", "file"])
def test_a_number_that_the_user_calls_missing_stays_so_in_the_model(tmp_path, door):
    rows = [("-999" if k % 10 == 0 else f"{k % 11}.5", "ab"[k % 2]) for k in range(300)]
    model = fitted(write(tmp_path / "t.csv", ("x", "kind"), rows, ","), missing=["-999"])
    refold.save(model, tmp_path / "m.json")
    model = refold.load(tmp_path / "m.json")
    new = pd.DataFrame({"x": [-999.0, np.nan, 5.5], "kind": ["a", "a", "a"]})
    if door == "records":
        labels = model.score_samples(new.to_dict("records"))
    elif door == "frame":
        labels = model.score_samples(new)
    else:
        new.to_csv(tmp_path / "new.csv", index=False)
        labels = -scale.score(model, tmp_path / "new.csv").read_all()["distance"].to_numpy()
    assert labels[0] == labels[1] != labels[2]


@pytest.mark.parametrize("empty", [None, np.nan, ""])
def test_the_first_value_of_an_empty_column_is_an_outlier_and_the_reason(tmp_path, empty, rng):
    frame = pd.DataFrame({"x": rng.normal(size=500), "kind": list("ab") * 250, "error": empty})
    model = Detector().fit(frame)
    refold.save(model, tmp_path / "m.json")
    for each in (model, refold.load(tmp_path / "m.json")):
        new = [
            {"x": 0.1, "kind": "a", "error": None},
            {"x": 0.1, "kind": "a", "error": "E-417 jam"},
        ]
        assert each.predict(new).tolist() == [1, -1]
        first = each.explain(new)[1].reasons[0]
        assert first.feature == "error"
        assert "this column was empty in all 500 training rows" in str(each.explain(new))


def test_an_empty_column_beside_numbers_alone_is_learned_too(rng):
    frame = pd.DataFrame({"x": rng.normal(size=300), "y": rng.normal(size=300), "error": np.nan})
    model = Detector().fit(frame)
    assert model.predict(frame.head(20)).sum() >= 18
    assert model.predict(frame.head(1).assign(error=7.0)).tolist() == [-1]


def test_columns_show_how_they_were_read_over_all_rows():
    days = pd.date_range("2017-01-01", periods=15_100, freq="h")
    frame = pd.DataFrame({"when": days, "x": np.arange(15_100) % 977 / 4, "kind": "a"})
    model = Detector().fit(frame)
    shown = model.columns_.to_frame().set_index("name")
    assert shown.loc["when", "high"] == str(days[-1])
    assert (shown.loc["x", "low"], shown.loc["x", "high"]) == ("0", "244")
    (found,) = [found for found in model.noticed_ if found.kind == "running-time"]
    assert str(days[-1].date()) in found.message


@pytest.mark.parametrize("door", ["frame", "file"])
def test_thousands_with_points_are_no_fractions_where_numbers_were_a_thousand_times_larger(
    tmp_path, rng, door
):
    sales, kinds = rng.integers(1411, 97820, 100), ["ab"[k % 2] for k in range(100)]
    rows = [(str(v), kind) for v, kind in zip(sales, kinds, strict=True)]
    learned = write(tmp_path / "t.csv", ("sales", "kind"), rows, ",")
    frame = pd.DataFrame({"sales": sales, "kind": kinds})
    model = Detector().fit(frame) if door == "frame" else fitted(learned)
    other = write(tmp_path / "new.csv", ("sales", "kind"), [(german(int(v)), "a") for v in sales])
    with pytest.raises(UserError, match=r"line 2.*'sales'.*decimal points") as error:
        scale.score(model, other).read_all()
    assert (error.value.advice.kind, error.value.advice.value) == ("decimal", ",")
    read = scale.score(model, other, reading={"decimal": ","}).read_all()
    plain = model.score_samples(frame.assign(kind="a"))
    assert read["distance"].to_pylist() == pytest.approx((-plain).tolist())
    small = write(tmp_path / "small.csv", ("sales", "kind"), [("17.911", "a"), ("2.5", "b")] * 9)
    assert set(scale.score(model, small).read_all()["label"].to_pylist()) == {-1}

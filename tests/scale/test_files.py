"""Files are learned and scored as their rows are in memory."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from refold import REF, CreasedREF, merge, scale
from refold.tabular import InputError

pytestmark = pytest.mark.usefixtures("in_parts")

FORMATS = {
    "parquet": (lambda table, path: pq.write_table(table, path, row_group_size=700), pq.read_table),
    "csv": (pa.csv.write_csv, pa.csv.read_csv),
    "arrow": (
        lambda table, path: pa.feather.write_feather(table, path, chunksize=700),
        pa.feather.read_table,
    ),
}


class Format:
    def __init__(self, name):
        self.name = name
        self.write, self.read = FORMATS[name]

    def out(self, folder):
        return folder / f"out.{self.name}"


def learn(source, columns=None, **parameters):
    return scale.learn(source, REF(engine="sketch", **parameters), columns=columns)


@pytest.fixture(params=FORMATS)
def form(request):
    return Format(request.param)


@pytest.fixture
def table(rows, names):
    columns = [pa.array(rows[:, j], from_pandas=True) for j in range(4)]
    columns[2] = columns[2].cast(pa.int32())
    return pa.table(columns, names=names)


@pytest.fixture
def expected(rows, names):
    return REF(engine="sketch").fit(pd.DataFrame(rows, columns=names))


def test_a_file_gives_the_model_of_its_rows(
    form, table, rows, expected, tmp_path, assert_same_model
):
    form.write(table, tmp_path / "a")
    model = learn(tmp_path / "a")
    assert model.feature_names_in_.tolist() == table.column_names
    frame = pd.DataFrame(rows, columns=table.column_names)
    assert_same_model(model, expected, frame)


def test_a_stream_of_more_rows_than_bins_gives_the_model_of_its_rows(
    form, table, rows, tmp_path, assert_same_model
):
    form.write(table, tmp_path / "a")
    frame = pd.DataFrame(rows, columns=table.column_names)
    expected = REF(engine="sketch", n_bins=64).fit(frame)
    assert_same_model(learn(tmp_path / "a", n_bins=64), expected, frame)


@pytest.mark.parametrize("how", ["list", "folder", "pattern"])
def test_several_files_are_one_table(form, table, rows, expected, tmp_path, assert_same_model, how):
    folder = tmp_path / "parts"
    (folder / "deep").mkdir(parents=True)
    files = [folder / "1.part", folder / "2.part", folder / "deep" / "3.part"]
    for file, part in zip(files, (table[:1000], table[1000:1001], table[1001:]), strict=True):
        form.write(part, file)
    (folder / "_SUCCESS").touch()
    (folder / ".1.part.crc").write_text("not data")
    paths = {"list": files, "folder": str(folder), "pattern": str(folder / "**" / "?.part")}[how]
    frame = pd.DataFrame(rows, columns=table.column_names)
    assert_same_model(learn(paths), expected, frame)


def test_scored_rows_keep_their_columns_and_order(form, table, expected, tmp_path):
    code = pa.array([f"part {i}" for i in range(len(table))])
    form.write(table.append_column("code", code), tmp_path / "a")
    assert scale.score(expected, tmp_path / "a", form.out(tmp_path)) == len(table)
    scored = form.read(form.out(tmp_path))
    added = ["distance", "label", "reason_1", "reason_2", "reason_3"]
    assert scored.column_names == [*table.column_names, "code", *added]
    assert scored["code"].to_pylist() == code.to_pylist()
    np.testing.assert_array_equal(scored["label"], expected.predict(table))
    np.testing.assert_array_equal(-scored["distance"].to_numpy(), expected.score_samples(table))
    for row in range(0, len(table), 97):
        because = expected.explain(table.slice(row, 1))[0].first(3)  # none of a normal row
        names = [reason.feature for reason in because]
        reasons = [scored[f"reason_{k}"][row].as_py() or None for k in (1, 2, 3)]
        assert reasons == names + [None] * (3 - len(names))


def test_scored_parquet_keeps_types(table, expected, tmp_path):
    pq.write_table(table, tmp_path / "a")
    scale.score(expected, tmp_path / "a", tmp_path / "b.parquet", reasons=5)
    schema = pq.read_schema(tmp_path / "b.parquet")
    assert schema.field("count").type == pa.int32()
    assert [schema.field(n).type for n in ("distance", "label", "reason_5")] == [
        pa.float64(),
        pa.int8(),
        pa.string(),
    ]


def test_columns_are_found_by_name_wherever_they_stand(form, table, expected, tmp_path):
    form.write(table.select(["level", "count", "flow", "heat"]), tmp_path / "a")
    scale.score(expected, tmp_path / "a", form.out(tmp_path), reasons=0)
    scored = form.read(form.out(tmp_path))
    np.testing.assert_array_equal(scored["label"], expected.predict(table))
    assert scored.column_names == ["level", "count", "flow", "heat", "distance", "label"]


def test_a_choice_of_columns_is_learned(form, table, tmp_path):
    form.write(table.append_column("code", pa.array(["x"] * len(table))), tmp_path / "a")
    model = learn(tmp_path / "a", ["flow", "heat"])
    assert model.feature_names_in_.tolist() == ["flow", "heat"]


def test_other_columns_than_numbers_are_refused_by_models_of_numbers(form, table, tmp_path):
    form.write(table.append_column("code", pa.array(["x"] * len(table))), tmp_path / "a")
    for model in (REF(), CreasedREF()):
        for columns in (None, ["heat", "code"]):
            with pytest.raises(InputError, match=r"'code' holds text, for example 'x' in .*Detect"):
                scale.learn(tmp_path / "a", model, columns=columns)


def test_every_type_of_number_is_read(tmp_path, rng, names, assert_same_model):
    counts = rng.integers(0, 2, size=300)
    table = pa.table(
        {
            "half": pa.array(rng.normal(size=300).astype(np.float16)),
            "single": pa.array(rng.normal(size=300).astype(np.float32)),
            "bool": pa.array([None, *(counts[1:] == 1).tolist()]),
            "decimal": pa.array(counts).cast(pa.decimal128(21, 2)),
            "unsigned": pa.array([None, *counts[1:].tolist()], pa.uint16()),
        }
    )
    pq.write_table(table, tmp_path / "a")
    values = [column.cast(pa.float64()).to_numpy() for column in table.columns]
    frame = pd.DataFrame(dict(zip(table.column_names, values, strict=True)))
    expected = REF(engine="sketch").fit(frame)
    assert_same_model(learn(tmp_path / "a"), expected, frame)


def test_numbers_may_be_of_another_type_in_another_file(tmp_path, rows, assert_same_model):
    X = np.nan_to_num(rows[:, [2, 0]])
    pq.write_table(pa.table({"a": X[:999, 0].astype(int), "b": X[:999, 1]}), tmp_path / "1")
    pq.write_table(pa.table({"a": X[999:, 0], "b": X[999:, 1]}), tmp_path / "2")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = learn([tmp_path / "1", tmp_path / "2"])
    assert_same_model(model, REF(engine="sketch").fit(frame), frame)
    scored = scale.score(model, [tmp_path / "1", tmp_path / "2"]).read_all()
    np.testing.assert_array_equal(scored["a"], X[:, 0])


def test_csv_integers_may_become_fractions_or_begin_late(tmp_path):
    # pyarrow guesses types from the first megabyte, and would stop where the guess is wrong.
    lines = ["a,b", *(f"{i % 7}," for i in range(400_000)), "0.5,1", "0.25,2"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    model = learn(tmp_path / "a.csv")
    assert model.sketch_.rows == 400_002
    assert (model.sketch_.histograms[1].low, model.sketch_.histograms[1].high) == (1.0, 2.0)
    scale.score(model, tmp_path / "a.csv", tmp_path / "b.csv", reasons=0)
    assert pd.read_csv(tmp_path / "b.csv")["a"].iloc[-1] == 0.25


def test_csv_text_is_passed_on_as_it_is_written(tmp_path):
    (tmp_path / "1.csv").write_text("id,x\n007,1\n008,2\n")
    (tmp_path / "2.csv").write_text("id,x\nA 9,3\n,4.5\n")
    model = REF(engine="sketch").fit(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    (tmp_path / "out").mkdir()
    scale.score(model, tmp_path / "?.csv", tmp_path / "out" / "s.csv", reasons=0)
    scored = pd.read_csv(tmp_path / "out" / "s.csv", dtype={"id": str}, keep_default_na=False)
    assert scored["id"].tolist() == ["007", "008", "A 9", ""]


def test_the_given_model_is_fitted_and_merged_models_go_on(table, rows, tmp_path, names):
    pq.write_table(table[:2000], tmp_path / "1")
    pq.write_table(table[2000:], tmp_path / "2")
    mine = REF(engine="sketch", n_iter=5, n_bins=512)
    assert scale.learn(tmp_path / "1", mine) is mine
    assert mine.sketch_.rows == 2000
    assert mine.chain_.n_iter == 5
    more = learn(tmp_path / "2", n_iter=5, n_bins=512)
    assert merge(mine, more).sketch_.rows == len(table)
    assert scale.learn(tmp_path / "2", mine).sketch_.rows == 3000


def test_a_model_without_names_scores_the_columns_it_is_told(table, rows, tmp_path):
    pq.write_table(table, tmp_path / "a")
    model = REF().fit(rows[:, :2])
    with pytest.raises(ValueError, match="fitted without column names: say with columns="):
        scale.score(model, tmp_path / "a")
    with pytest.raises(ValueError, match="columns= has 1 names; the model has 2 features"):
        scale.score(model, tmp_path / "a", columns=["heat"])
    X = np.delete(rows, np.flatnonzero(np.isnan(rows[:, :2]).all(axis=1)), axis=0)
    pq.write_table(pa.table({"heat": X[:, 0], "flow": X[:, 1]}), tmp_path / "a")
    labels = scale.score(model, tmp_path / "a", columns=["heat", "flow"]).read_all()["label"]
    np.testing.assert_array_equal(labels, model.predict(X[:, :2]))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("progress", [True, False])
def test_progress_is_shown_where_there_is_a_terminal(form, table, tmp_path, monkeypatch, progress):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    form.write(table, tmp_path / "a")
    model = scale.learn(tmp_path / "a", REF(engine="sketch"), progress=progress)
    scale.score(model, tmp_path / "a", form.out(tmp_path), progress=progress)
    shown = terminal.getvalue()
    assert ("5,000 rows" in shown) is progress
    assert ("rows/s" in shown) is progress


def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'refold\[parquet\]'"):
        scale.learn(__file__)


@pytest.fixture
def odd_dialect(rows, names, tmp_path):
    """Semicolons, decimal commas, words for missing values, Windows' letters; packed."""
    heads = ["größe", *names[1:]]
    cells = [["?" if np.isnan(x) else repr(float(x)).replace(".", ",") for x in r] for r in rows]
    lines = [";".join(row) for row in [heads, *cells]]
    file = tmp_path / "odd.dat"
    file.write_bytes(gzip.compress("\r\n".join(lines).encode("cp1252")))
    return file, pd.DataFrame(rows, columns=heads)


def test_a_table_as_people_have_it_is_learned_and_scored(odd_dialect, tmp_path, assert_same_model):
    file, frame = odd_dialect
    with pytest.warns(UserWarning, match="odd.dat is not UTF-8; it was read as cp1252"):
        model = learn(file)
    assert_same_model(model, REF(engine="sketch").fit(frame), frame)
    with pytest.warns(UserWarning, match="cp1252"):
        scale.score(model, file, tmp_path / "out.csv", reasons=0)
    scored = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_array_equal(-scored["distance"], model.score_samples(frame))
    np.testing.assert_array_equal(scored["größe"], frame["größe"])


def test_content_counts_and_not_the_name(form, table, expected, tmp_path, assert_same_model):
    form.write(table, tmp_path / "a.xlsx")
    assert_same_model(learn(tmp_path / "a.xlsx"), expected, table.to_pandas())
    scored = scale.score(expected, tmp_path / "a.xlsx", reasons=0).read_all()
    np.testing.assert_array_equal(scored["label"], expected.predict(table))


def test_how_to_write_is_told_by_the_name(table, expected, tmp_path):
    pq.write_table(table, tmp_path / "a")
    with pytest.raises(InputError, match=r"b\.dat does not end with one of \.csv, \.xlsx"):
        scale.score(expected, tmp_path / "a", tmp_path / "b.dat")
    for name in ("b.xlsx", "b.pq", "b.ipc"):
        assert scale.score(expected, tmp_path / "a", tmp_path / name, reasons=1) == len(table)
        again = scale.score(expected, tmp_path / name, prefix="re_", reasons=0).read_all()
        assert again["re_label"].to_pylist() == expected.predict(table).tolist()


def test_rows_are_judged_as_they_are_asked_for(table, expected, tmp_path):
    pq.write_table(table, tmp_path / "a")
    reader = scale.score(expected, tmp_path / "a", reasons=0)
    first = reader.read_next_batch()
    assert first.num_rows < len(table)
    assert first.num_rows + sum(batch.num_rows for batch in reader) == len(table)


def test_files_of_several_formats_are_one_table(table, expected, tmp_path, assert_same_model):
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(table[:1000], folder / "1")
    moved = table.select(["level", "count", "flow", "heat"])
    pa.csv.write_csv(moved[1000:3000], folder / "2")
    pa.feather.write_feather(table[3000:], folder / "3")
    assert_same_model(learn(folder), expected, table.to_pandas())
    scored = scale.score(expected, folder, reasons=0).read_all()
    assert scored.column_names == [*table.column_names, "distance", "label"]
    for name in table.column_names:
        assert scored[name].to_pylist() == table[name].to_pylist()


def test_text_that_holds_numbers_is_read_as_numbers(tmp_path):
    columns = {"said": ["1.5", "NA", "3"], "coded": pa.array(["4", "5", "4"]).dictionary_encode()}
    pq.write_table(pa.table(columns), tmp_path / "a")
    model = learn(tmp_path / "a")
    assert [(h.low, h.high, h.missing) for h in model.sketch_.histograms] == [
        (1.5, 3, 1),
        (4, 5, 0),
    ]
    assert scale.score(model, tmp_path / "a", tmp_path / "b.csv", reasons=0) == 3
    assert pd.read_csv(tmp_path / "b.csv")["coded"].tolist() == [4, 5, 4]


def test_large_whole_numbers_are_taken_as_floats(form, tmp_path):
    big = 2**53 + 1
    form.write(pa.table({"x": [1, 2, big], "y": [1.0, 2.0, 3.0]}), tmp_path / "1")
    form.write(pa.table({"x": [0.5], "y": [4.0]}), tmp_path / "2")
    model = learn([tmp_path / "1", tmp_path / "2"])
    assert model.sketch_.histograms[0].high == float(big)
    scale.score(model, [tmp_path / "1", tmp_path / "2"], form.out(tmp_path), reasons=0)
    assert form.read(form.out(tmp_path))["x"].cast(pa.float64(), safe=False)[2].as_py() == float(
        big
    )

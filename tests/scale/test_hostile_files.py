"""Files that are broken, contradict each other or cannot be written: a clear error, no loss."""

import os
import subprocess
import sys
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from refold import REF, Detector, scale
from refold.tabular import InputError, open_table
from tests.tabular.numbers import read_numbers
from tests.waiting import wait_until


@pytest.fixture
def model(rows, names):
    return REF(engine="sketch").fit(pd.DataFrame(rows, columns=names))


def learn(source, columns=None, **parameters):
    return scale.learn(source, REF(engine="sketch", **parameters), columns=columns)


def write(folder, name, **columns):
    path = folder / name
    pq.write_table(pa.table(columns), path)
    return path


def test_a_failed_run_leaves_the_model_as_it_was(tmp_path, rows, names, model):
    X = pd.DataFrame(rows, columns=names)
    before, sketch = model.predict(X), model.sketch_
    state = deepcopy(vars(model))
    bad = write(tmp_path, "a", x=[1.0, 2.0, np.inf])
    empty = write(tmp_path, "b", x=pa.array([None, None], pa.float64()))
    for path in (bad, empty):
        with pytest.raises(ValueError, match="'x'"):
            scale.learn(path, model)
    assert vars(model).keys() == state.keys()
    assert model.sketch_ is sketch
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.99])
@pytest.mark.parametrize("form", ["parquet", "ipc"])
def test_a_truncated_file_is_named(tmp_path, rows, names, form, keep):
    table = pa.table(dict(zip(names, rows.T, strict=True)))
    path = tmp_path / "cut"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)
    size = path.stat().st_size
    os.truncate(path, keep if isinstance(keep, int) else int(size * keep))
    # Of nothing, or of its first letters, nobody can tell what it was.
    said = r"cut is (empty|damaged or cut short: it cannot be read as (Parquet|Arrow IPC) )"
    with pytest.raises(InputError, match=said if keep != 3 else r"There are no rows in .*cut"):
        learn(path)


def test_a_file_damaged_in_the_middle_is_named(tmp_path, rng):
    table = pa.table({"first": np.arange(100_000) % 7, "x": rng.normal(size=100_000)})
    pq.write_table(table, tmp_path / "a", compression="gzip")
    with (tmp_path / "a").open("r+b") as file:
        file.seek(300_000)
        file.write(b"\xff" * 5000)
    with pytest.raises(InputError, match=r"a, column 'x', is damaged .* read as Parquet"):
        learn(tmp_path / "a")


def test_text_in_a_csv_column_of_numbers_is_refused_with_its_file(tmp_path):
    lines = ["x,y", *("1.5,2" for _ in range(400_000)), "1.5,oops"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    for columns in (None, ["y"]):
        with pytest.raises(ValueError, match=r"a\.csv, line 400002, column 'y': 'oops'"):
            learn(tmp_path / "a.csv", columns)


def test_a_csv_row_of_another_length_is_refused_with_its_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"a\.csv, line 3: the number of cells is 1, in .* 2"):
        learn(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "content",
    [
        "x,y\n1,2\n1,oops\n",
        "x,y\n1,2\n\n3\n",
        "x;y\n1,5;2\n1.5;3\n",
        'x,y\n1,2\n"3,4\n',
        "1,2\n3,4\n",
        "x,y\n1,2\n1,inf\n",
        "",
        "x,y\n1,\0\n",
        b"x,y\n1,\xc3\xa4\n2,\xe4\n",
    ],
)
def test_what_is_wrong_with_a_text_file_is_said_as_by_the_command_line(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as ours:
        learn(path)
    with pytest.raises(InputError) as theirs, open_table(path) as table:
        read_numbers(table)
    assert str(ours.value) == str(theirs.value)
    assert str(path) in str(ours.value)


def with_a_bad_code(path, column):
    """A Parquet file whose second column has words by number, one of which does not exist."""
    table = pa.table({"x": np.arange(1000.0), "word": column})
    pq.write_table(table, path, compression="none")
    chunk = pq.read_metadata(path).row_group(0).column(1)
    with path.open("r+b") as file:
        file.seek(chunk.dictionary_page_offset + chunk.total_compressed_size - 20)
        file.write(b"\xff" * 20)
    return path


@pytest.mark.parametrize("coded", [False, True])
def test_a_word_that_does_not_exist_is_found_with_its_column(tmp_path, coded):
    words = pa.array(["a", "b", "c"] * 333 + ["a"])
    path = with_a_bad_code(tmp_path / "bad", words.dictionary_encode() if coded else words)
    model = learn(path, ["x"])
    for columns in (None, ["word"]):
        with pytest.raises(InputError, match=r"bad, column 'word', is damaged"):
            learn(path, columns)
    with pytest.raises(InputError, match=r"bad, column 'word', is damaged"):
        scale.score(model, path, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_column_of_times_or_lists_is_refused_before_any_row_is_read(tmp_path):
    for odd in (pa.array([0, 1], pa.timestamp("ms")), pa.array([[1], [2]])):
        paths = [write(tmp_path, "1", x=[1.0, 2.0]), write(tmp_path, "2", x=odd)]
        with pytest.raises(InputError, match=r"2: column 'x' holds .* \((timestamp|list)"):
            learn(paths)
        model = learn(paths[0])
        with pytest.raises(InputError, match=r"2: column 'x' holds .* \((timestamp|list)"):
            scale.score(model, paths, tmp_path / "out.parquet")


def test_lists_do_not_fit_into_csv(tmp_path):
    path = write(tmp_path, "1", x=[1.0, 2.0, 4.0], parts=[[1], [2], []])
    with pytest.raises(InputError, match=r"Column 'parts' holds list<.*, which CSV cannot hold"):
        scale.score(learn(path, ["x"]), path, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_vanishes_is_named_with_its_file(tmp_path, model):
    paths = [write(tmp_path, "1", x=[1.0, 2.0], y=[1, 2]), write(tmp_path, "2", x=[3.0])]
    with pytest.raises(ValueError, match=r"2: there is no column 'y', which \S*1 has"):
        learn(paths)
    with pytest.raises(ValueError, match=r"1: there is a column 'y', which \S*2 does not have"):
        learn(paths[::-1])
    with pytest.raises(ValueError, match=r"2: there is no column 'y'\."):
        learn(paths, ["x", "y"])
    assert learn(paths, ["x"]).sketch_.rows == 3
    with pytest.raises(ValueError, match=r"1: there is no column 'heat', 'flow'"):
        scale.score(model, paths, tmp_path / "out.parquet")


def test_a_column_that_changes_type_is_named_with_its_file(tmp_path):
    paths = [write(tmp_path, "1", x=[1.0, 2.0], y=[1, 2]), write(tmp_path, "2", x=[3.0], y=["b"])]
    with pytest.raises(ValueError, match=r"2, row 1, column 'y': 'b' is not a number"):
        learn(paths)
    model = learn(paths, ["x"])
    with pytest.raises(ValueError, match=r"2: column 'y' holds string; .* before it held int64"):
        scale.score(model, paths, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_files_and_batches_without_rows_are_skipped(tmp_path):
    none = pa.array([], pa.float64())
    paths = [write(tmp_path, "1", x=none), write(tmp_path, "2", x=[1.0, 2, 4])]
    paths.append(write(tmp_path, "3", x=none))
    model = learn(paths)
    assert model.sketch_.rows == 3
    assert scale.score(model, paths, tmp_path / "out.parquet") == 3
    assert scale.score(model, paths[0], tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").column_names[:2] == ["x", "distance"]


def test_no_rows_at_all_is_an_error(tmp_path):
    path = write(tmp_path, "1", x=pa.array([], pa.float64()))
    with pytest.raises(ValueError, match=r"no rows in .*1\."):
        learn([path, path])


def test_no_files_is_an_error(tmp_path):
    for paths in (tmp_path / "absent.parquet", tmp_path, str(tmp_path / "*.csv"), []):
        with pytest.raises(FileNotFoundError):
            learn(paths)


@pytest.mark.parametrize("kind", [pa.null(), pa.float64(), pa.int32()])
def test_a_column_of_nulls_is_named(tmp_path, kind):
    path = write(tmp_path, "1", x=[1.0, 2.0], y=pa.array([None, None], kind))
    with pytest.raises(ValueError, match=r"Nothing is observed in column 'y'"):
        learn(path)


def test_nulls_in_one_file_are_missing_values_of_the_column(tmp_path):
    paths = [write(tmp_path, "1", x=pa.nulls(3)), write(tmp_path, "2", x=[1, 2, 4])]
    assert learn(paths).sketch_.histograms[0].missing == 3.0


def test_infinity_is_found_with_file_row_and_column(tmp_path, rng):
    X = rng.normal(size=(3000, 2))
    good = write(tmp_path, "good", a=X[:, 0], b=X[:, 1])
    X[2345, 1] = -np.inf
    bad = write(tmp_path, "bad", a=X[:, 0], b=X[:, 1])
    with pytest.raises(ValueError, match=r"bad, row 2346, column 'b': -inf is not a finite"):
        learn([good, bad])
    with pytest.raises(ValueError, match=r"bad, row 2346, column 'b': -inf is not a finite"):
        scale.score(learn(good), [good, bad], tmp_path / "o.parquet")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad", "good"]


def test_a_row_without_values_has_no_verdict(tmp_path):
    path = write(tmp_path, "1", x=[1.0, 2.0, None, 4.0])
    model = learn(path)
    scale.score(model, path, tmp_path / "out.parquet", reasons=1)
    scored = pq.read_table(tmp_path / "out.parquet").drop_columns("x").to_pylist()
    assert scored[2] == {"distance": None, "label": None, "reason_1": None}
    assert all(row["label"] is not None for row in scored[:2] + scored[3:])


def test_names_that_are_taken_are_refused(tmp_path, model):
    path = write(tmp_path, "1", x=[1.0, 2.0, 4.0], label=[1, 1, 0])
    model = learn(path, ["x"])
    with pytest.raises(ValueError, match=r"already has the columns \['label'\]"):
        scale.score(model, path, tmp_path / "out.parquet")
    scale.score(model, path, tmp_path / "out.parquet", reasons=1, prefix="ref_")
    columns = pq.read_table(tmp_path / "out.parquet").column_names
    assert columns == ["x", "label", "ref_distance", "ref_label", "ref_reason_1"]


def test_the_input_is_not_overwritten(tmp_path):
    path = write(tmp_path, "1", x=[1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="one of the files to score"):
        scale.score(learn(path), tmp_path, path)


def test_models_that_cannot_be_added_up_are_refused(tmp_path):
    path = write(tmp_path, "1", x=[1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match=r"engine='exact', which needs all rows in memory"):
        scale.learn(path, REF(engine="exact"))
    with pytest.raises(ValueError, match=r"threshold=2.0 contradict each other"):
        scale.learn(path, REF(alpha=0.1, threshold=2.0))
    with pytest.raises(ValueError, match="n_bins"):
        learn(path, n_bins=3)
    with pytest.raises(ValueError, match=r"trim=0.1 is not for parts"):
        scale.learn(path, Detector(trim=0.1))
    with pytest.raises(ValueError, match=r"not there: \['z'\]"):
        scale.learn(path, Detector(roles={"z": "date"}))
    with pytest.raises(TypeError, match="A str cannot be learned here"):
        scale.learn(path, "x")


SCORE = """
import resource, sys
from refold import REF, scale
model = scale.learn(sys.argv[1], REF(engine="sketch"))
if len(sys.argv) > 3:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
print("scoring", flush=True)
try:
    scale.score(model, sys.argv[1], sys.argv[2])
except OSError as error:
    print(type(error), error)
"""


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path, rng, form):
    # A limit on the size of files fails as a full disk does: in the middle of a write.
    pytest.importorskip("resource", reason="the system has no limits on the size of files")
    table = pa.table({"x": rng.normal(size=50_000)})
    source, out = tmp_path / "a", tmp_path / f"out.{form}"
    writers = {"parquet": pq.write_table, "csv": pa.csv.write_csv}
    writers.get(form, pa.feather.write_feather)(table, source)
    out.write_text("old")
    command = [sys.executable, "-c", SCORE, str(source), str(out), "100000"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "OSError" in run.stdout, run.stdout + run.stderr
    assert str(out) in run.stdout
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", out.name]


def bytes_written(process, folder):
    """The size of what a process is writing in a folder: it may not have a name yet."""
    sizes = [part.stat().st_size for part in folder.glob(".*.part")]
    for handle in Path(f"/proc/{process}/fd").glob("*"):
        with suppress(FileNotFoundError):
            if str(folder) in os.readlink(handle) and "(deleted)" in os.readlink(handle):
                sizes.append(handle.stat().st_size)
    return max(sizes, default=0)


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks into /proc")
def test_a_killed_run_leaves_the_old_file_or_none(tmp_path, rng, old):
    source, out = tmp_path / "a", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": rng.normal(size=3_000_000)}), source)
    if old:
        out.write_text(old)
    command = [sys.executable, "-c", SCORE, str(source), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        run.stdout.readline()
        wait_until(lambda: bytes_written(run.pid, tmp_path) >= 50_000, running=run)
        run.kill()
    assert (out.read_text() if out.exists() else None) == old
    assert scale.score(learn(source), source, out, reasons=0) == 3_000_000


def test_types_of_arrow_that_python_has_no_class_for_are_refused_where_they_are_needed(tmp_path):
    months = pa.array([(1, 0, 0)] * 9, pa.month_day_nano_interval())
    rows = pa.table({"x": months, "y": [1.0] * 9})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as out:
        out.write_table(rows)
    content = sink.getvalue().to_pybytes()
    for place in [k for k, byte in enumerate(content) if byte == 2]:  # the unit of the interval
        changed = content[:place] + b"\0" + content[place + 1 :]
        with suppress(pa.ArrowException, OSError, LookupError):
            if str(pa.ipc.open_stream(changed).schema.types[0]) == "month_interval":
                break
    (tmp_path / "t.arrows").write_bytes(changed)
    with pytest.raises(InputError, match="column 'x' holds month_interval, which cannot be read"):
        learn(tmp_path / "t.arrows")
    assert learn(tmp_path / "t.arrows", columns=["y"]).n_features_in_ == 1

"""Tables of files as a judge reads them."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.judgement import Judge
from refold.judgement.reading import TableReader, reader_of
from refold.tabular import open_table


@pytest.mark.parametrize("by", [None, "line"])
def test_a_cell_that_is_not_what_its_column_holds_is_found_in_the_file(rng, tmp_path, by):
    line = rng.choice(list("AB"), 300)
    good = pd.DataFrame({"line": line, "size": np.where(line == "A", 5.0, 9.0), "w": 0.0})
    good["size"] += rng.normal(0.0, 0.1, 300)
    good["w"] = rng.normal(size=300)
    good["note"] = "x"
    judge = Judge.of(Detector(method="ref", by=by, roles={"note": "ignore"}).fit(good))
    (tmp_path / "t.csv").write_text("line,size,w,note\nA,5.0,0,\nB,nine,0,\n")
    with open_table(tmp_path / "t.csv") as table:
        rows, where = TableReader(judge, table).rows(table)
    assert rows["size"].to_pylist() == ["5.0", "nine"]
    assert where(1).endswith("t.csv, line 3")
    with (
        open_table(tmp_path / "t.csv") as table,
        pytest.raises(ValueError, match="line 3, column 'size': 'nine'"),
    ):
        TableReader(judge, table, strict=True).rows(table)
    with open_table(tmp_path / "t.csv") as table:
        reader = reader_of(judge, table)
        (block,) = reader.blocks(table, reader.columns)
        assert reader.judge(block).labels[1] == -1
        with pytest.raises(ValueError, match="line 3, column 'size': 'nine'"):
            TableReader(judge, table, strict=True).judge(block)


def test_a_table_that_writes_numbers_otherwise_is_refused(rng, tmp_path):
    sizes = [f"{size:.2f}".replace(".", ",") for size in rng.normal(5.0, 1.0, 300)]
    good = pd.DataFrame({"size": sizes, "kind": rng.choice(list("ab"), 300)})
    judge = Judge.of(Detector(method="ref").fit(good))
    (tmp_path / "t.csv").write_text("size,kind\n" + "4.25,a\n5.12,b\n" * 5)
    with (
        open_table(tmp_path / "t.csv") as table,
        pytest.raises(ValueError, match=r"'4\.25' is not written as the numbers"),
    ):
        TableReader(judge, table).rows(table)
    with open_table(tmp_path / "t.csv") as table:
        reader = TableReader(judge, table)
        (block,) = reader.blocks(table, reader.columns)
        with pytest.raises(ValueError, match=r"line 2.*'4\.25' is not written as the numbers"):
            reader.judge(block)


@pytest.mark.parametrize("with_ids", [True, False])
def test_rows_are_called_by_the_id_column_where_the_file_has_it(rng, tmp_path, with_ids):
    good = pd.DataFrame({"part": [f"P{k}" for k in range(60)], "size": rng.normal(size=60)})
    good["line"] = rng.choice(list("AB"), 60)
    judge = Judge.of(Detector(method="ref", id_column="part").fit(good))
    new = good[:3] if with_ids else good[:3].drop(columns="part")
    new.to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as table:
        reader = TableReader(judge, table)
        (block,) = reader.blocks(table, reader.columns)
        names = reader.judge(block).row_names
    assert (None if names is None else list(names)) == (["P0", "P1", "P2"] if with_ids else None)


def test_columns_are_found_by_the_names_that_the_judge_calls_them(rng, tmp_path):
    good = pd.DataFrame({"kind": rng.choice(list("ab"), 60), "size": rng.normal(size=60)})
    judge = Judge.of(Detector(method="ref", n_jobs=1).fit(good))
    good.loc[3, "size"] = 99.0
    expected = judge.table(good).distances
    good.columns = ["art", "mass"]
    good[["mass", "art"]].to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as table:
        reader = reader_of(judge.called(["art", "mass"]), table)
        (block,) = reader.blocks(table, reader.columns)
        np.testing.assert_allclose(reader.judge(block).distances, expected)

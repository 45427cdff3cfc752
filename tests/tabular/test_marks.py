"""Commas and points in numbers: settled by what is written, said where nothing settles it."""

from __future__ import annotations

import pytest

from refold import TableEncoder
from refold.tabular import InputError, TrainingSelection, open_table, read_arrow, read_training
from refold.tabular.features import Column


@pytest.fixture
def numbers(tmp_path):
    """Write a text and return its columns as numbers, and what was said."""

    def reading(content, columns=None, **how):
        said = []
        (tmp_path / "t").write_text(content)
        with open_table(tmp_path / "t", say=lambda found: said.append(str(found)), **how) as table:
            (block,) = table.blocks(columns, numbers=table.names)
        return {name: Column(name).numbers(block).tolist() for name in block.columns}, said

    return reading


def test_nothing_settles_it_so_it_is_said(numbers):
    content = "a;b\n1,234;5\n2,500;6\n"
    found, said = numbers(content)
    assert found["a"] == [1234.0, 2500.0]
    assert "in 'a' numbers such as 1,234 were read as 1234. Otherwise: decimal=" in said[0]
    assert numbers(content, decimal=",") == ({"a": [1.234, 2.5], "b": [5, 6]}, [])
    assert numbers(content, decimal=".", thousands=",") == (found, [])


@pytest.mark.parametrize("other", ["1,5", "1.5", "7", "1 234,5", "x"])
@pytest.mark.parametrize("cell", ["1,234", "1.234", "1 234", "0,125", "1,234.5", "1234,5", "12"])
def test_a_model_of_numbers_reads_them_as_a_detector_does(numbers, tmp_path, cell, other):
    rows = [f"{cell};{other};{k}" for k in range(30)]
    found, _ = numbers("\n".join(["a;b;c", *rows, ""]), columns="a")
    with open_table(tmp_path / "t") as table:
        read = TableEncoder(roles={"a": "number"}).fit_table(
            read_training(table, TrainingSelection()).table
        )
    assert found["a"] == read["a"].values.tolist()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.234,50", "2,5"], [1234.5, 2.5]),
        (["1,234.50", "2.5"], [1234.5, 2.5]),
        (["1 234,5", "7,25"], [1234.5, 7.25]),
        (["1'234.5", "7.25"], [1234.5, 7.25]),
        (["1,234,567", "1,000"], [1234567.0, 1000.0]),
        (["0,125", "1,234"], [0.125, 1.234]),
        (["1,234", "1234,5"], [1.234, 1234.5]),
    ],
)
def test_a_column_settles_it(numbers, cells, expected):
    found, said = numbers("a;b\n" + "".join(f"{cell};1\n" for cell in cells))
    assert (found["a"], said) == (expected, [])


def test_a_columns_own_cells_count_more_than_the_file(numbers):
    found, _ = numbers("a;b;c\n1,5;1.5;1\n2,5;2.25;2\n3,5;7.75;3\n4,5;7.5;4\n")
    assert found == {"a": [1.5, 2.5, 3.5, 4.5], "b": [1.5, 2.25, 7.75, 7.5], "c": [1, 2, 3, 4]}


def test_the_file_settles_what_a_column_leaves_open(numbers):
    found, said = numbers("a;b\n1,234;1,5\n2,345;2,5\n")
    assert (found["a"], said) == ([1.234, 2.345], [])
    found, said = numbers("a;b\n1,234;1.5\n2,345;2.5\n")
    assert (found["a"], said) == ([1234.0, 2345.0], [])
    found, said = numbers("a;b\n1.234;1,5\n950;2,5\n")
    assert (found["a"], said) == ([1234.0, 950.0], [])


def test_marks_that_stand_elsewhere_are_no_thousands(numbers):
    with pytest.raises(InputError, match=r"line 4, column 'a': '12\.34' is not a number"):
        numbers("a;b\n1.234,5;1\n1,5;1\n12.34;1\n")


def test_texts_stay_as_written(tmp_path):
    (tmp_path / "t").write_text("a;b\n1.234,50;1,234\n")
    with open_table(tmp_path / "t") as table:
        assert read_arrow(table).to_pydict() == {"a": ["1.234,50"], "b": ["1,234"]}


def test_one_mark_cannot_be_both(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2\n2,5;3\n")
    with pytest.raises(
        InputError, match=r"cannot stand between thousands too\. Choose both"
    ) as error:
        open_table(tmp_path / "t.csv", thousands=",")
    assert (error.value.advice.kind, error.value.advice.value) == ("decimal", ".")

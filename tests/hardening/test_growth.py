"""Four times as much takes about four times the work, of whatever there is more."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

import refold
from refold import REF, CreasedREF, ModelFileError, drift, explain, report
from refold.decisions.thresholds import Calibration
from refold.export import to_onnx, to_sql
from refold.judgement import Judgement, answers
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.files import KINDS
from refold.tabular import InputError, TrainingSelection, open_table, read_training
from tests.growth import assert_linear

pytestmark = pytest.mark.growth


def normal(rows, columns):
    return np.random.default_rng(0).normal(size=(rows, columns))


def frame(rows, columns):
    return pd.DataFrame(normal(rows, columns), columns=[f"c{k}" for k in range(columns)])


# ---- model files -----------------------------------------------------------------------------


def refused(raw):
    with pytest.raises(ModelFileError):
        from_bytes(raw, KINDS)


@pytest.mark.parametrize("repeats", [1, 2, 1000])
def test_keys_of_a_model_file(repeats):
    def keys(n):
        members = ",".join(f'"{k % (n // repeats)}":0' for k in range(n))
        return f'{{"format":{{{members}}}}}'.encode()

    assert_linear(refused, keys, 2_000)


def test_unknown_members_of_a_model_file():
    def members(n):
        document = json.loads(to_bytes(REF(n_iter=1).fit(normal(9, 1)), KINDS, "0"))
        return json.dumps({**{f"k{k}": 0 for k in range(n)}, **document}).encode()

    assert_linear(refused, members, 2_000)


@pytest.mark.parametrize("piece", ["[", "[]", "1,", '"', '"\\"', "1", "\\", " ", '","', ':"'])
def test_characters_of_a_model_file(piece):
    assert_linear(refused, lambda n: b'{"a":' + piece.encode() * n, 20_000)


@pytest.mark.parametrize(
    "model",
    [REF(n_iter=5), REF(engine="sketch", n_bins=16, n_iter=2, n_jobs=1)],
    ids=["exact", "sketch"],
)
def test_columns_of_a_valid_model_file(model):
    def file(n):
        return to_bytes(model.fit(frame(20, n)), KINDS, "0")

    assert_linear(lambda raw: from_bytes(raw, KINDS), file, 300)


def test_rows_of_a_valid_model_file():
    def file(n):
        model = CreasedREF(n_creases=2, n_levels=1, n_init=10**6)
        return to_bytes(model.partial_fit(normal(n, 2)), KINDS, "0")

    assert_linear(lambda raw: from_bytes(raw, KINDS), file, 2_000)


# ---- dataframes ------------------------------------------------------------------------------


def test_named_columns_to_predict():
    def given(n):
        return REF(n_iter=1).fit(frame(5, n)), frame(5, n)

    assert_linear(lambda given: given[0].predict(given[1]), given, 2_000)


def test_named_columns_to_fit():
    assert_linear(REF(n_iter=1).fit, lambda n: frame(5, n), 1_000)


@pytest.mark.parametrize("wrong", ["order", "names", "twice"])
def test_named_columns_that_are_refused(wrong):
    def given(n):
        other = frame(5, n)
        if wrong == "order":
            other = other[other.columns[::-1]]
        else:
            other.columns = [f"d{k // 2 if wrong == 'twice' else k}" for k in range(n)]
        return REF(n_iter=1).fit(frame(5, n)), other

    def predict(given):
        with pytest.raises(ValueError, match=r"Out of place|should match|more than once"):
            given[0].predict(given[1])

    assert_linear(predict, given, 1_000)


# ---- tables ----------------------------------------------------------------------------------


def reads(path, **wanted):
    def work(content):
        path.write_text(content)
        with suppress(InputError), open_table(path) as table:
            read_training(table, TrainingSelection(**wanted))

    return work


@pytest.mark.parametrize("cell", ["1", "a", "", "1,5;2", "?", '"1"'])
def test_columns_of_a_table(cell, tmp_path):
    def wide(n):
        row = ",".join([cell] * (n - 1) + ["1"])
        return ",".join(f"c{k}" for k in range(n)) + f"\n{row}\n{row}\n"

    # From 2,000 columns on they are read in another way: both sizes are beyond.
    assert_linear(reads(tmp_path / "t.csv"), wide, 2_500)


@pytest.mark.parametrize("value", ["{}", "a{}", "1e{}", '"{}\n"'])
def test_rows_with_values_of_their_own(value, tmp_path):
    def long(n):
        return "a,b\n" + "".join(f"{value.format(k)},1\n" for k in range(n))

    assert_linear(reads(tmp_path / "t.csv"), long, 2_000)


def test_targets_of_a_table(tmp_path):
    def long(n):
        return "a,b\n" + "".join(f"{k},1\n" for k in range(n))

    assert_linear(reads(tmp_path / "t.csv", target_column="a", target="1.0"), long, 4_000)


@pytest.mark.parametrize("before", ["", "a,b\n1,"], ids=["names", "cells"])
@pytest.mark.parametrize(
    ("piece", "size"),
    [("x", 10**5), ('"', 10**5), ("\\", 10**5), ("é", 10**5), (",", 5_000), ("a\tb|", 5_000)],
)
def test_one_long_line(before, piece, size, tmp_path):
    assert_linear(reads(tmp_path / "t.csv"), lambda n: f"{before}{piece * n}\n1,2\n", size)


# ---- what is said of rows ----------------------------------------------------------------------

CALIBRATED = REF(n_iter=5, alpha=0.05).fit(normal(300, 3))


def judged(n, columns=3):
    return normal(n, columns) * 3.0


@pytest.mark.parametrize(
    ("work", "size"),
    [
        (lambda X: explain(CALIBRATED, X), 50),
        (lambda X: drift(CALIBRATED, X), 20_000),
        (lambda X: report.describe(CALIBRATED, X), 5_000),
        (lambda X: answers(Judgement.of(CALIBRATED, X, explained=True), 3), 10_000),
    ],
    ids=["explain", "drift", "report", "answers"],
)
def test_rows_that_are_judged(work, size):
    assert_linear(work, judged, size)


@pytest.mark.parametrize(
    ("work", "size"),
    [
        (lambda g: explain(*g), 100),
        (lambda g: explain(*g, reasons=3), 100),
        (lambda g: drift(*g), 100),
        (lambda g: report.describe(*g), 60),
        (lambda g: report.describe(*g, reasons=10**6), 60),
        (lambda g: answers(Judgement.of(*g, explained=True), 3), 1_000),
        (lambda g: answers(Judgement.of(*g, explained=True), g[1].shape[1]), 300),
    ],
    ids=["explain", "reasons", "drift", "report", "long report", "answers", "many reasons"],
)
def test_columns_that_are_judged(work, size):
    def given(n):
        table = frame(30, n)
        return REF(n_iter=3).fit(table), table * 3.0

    assert_linear(work, given, size)


@pytest.mark.parametrize(
    ("export", "size"),
    [(to_onnx, 5_000), (lambda model: to_sql(model, "readings", "duckdb", reasons=3), 10)],
    ids=["onnx", "sql"],
)
def test_columns_that_are_exported(export, size):
    assert_linear(export, lambda n: REF(n_iter=2).fit(frame(10, n)), size)


def test_rows_of_a_calibration():
    assert_linear(
        lambda d: Calibration.of(d, None, "held-out").p_values(d),
        lambda n: normal(n, 1)[:, 0] ** 2,
        20_000,
    )


def test_p_values_to_select_from():
    assert_linear(
        lambda p: refold.select(p, 0.1), lambda n: np.random.default_rng(0).random(n), 20_000
    )

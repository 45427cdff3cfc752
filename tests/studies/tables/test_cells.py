"""What is measured, and what becomes of methods that fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from refold.studies.measured import MeasuredCell
from refold.studies.run import CellStore
from refold.studies.tables.cells import TableJob, TableStudy, run_cell
from refold.studies.tables.methods import METHODS, TableMethod, TableModel
from refold.studies.tables.suite import TableTask, tables
from tests.studies.tables.made import write_tables

JOB = TableJob("clean-orders", "one-hot-REF", 0)
DONE = MeasuredCell("done", {"auroc typo": 0.5, "false_alarms": 0.1})


@pytest.fixture
def task():
    """Rows whose number is their score: normal ones 0 to 9, a typo of 5.5, spikes of 20 and 4."""
    test = pd.DataFrame({"a": [*map(str, range(10)), "5.5", "20", "4"], "b": "x"})
    kinds = ("normal",) * 10 + ("typo", "spike", "spike")
    return TableTask(test[:9], test, kinds, (None,) * 10 + ("b", "a", "a"))


def method(**trained):
    def learn(train, seed, alpha):
        return TableModel(**{"score": lambda rows: rows["a"].to_numpy(dtype=float)} | trained)

    return TableMethod("a", "here", learn, "none")


def test_measures_of_a_small_hand_made_case(task):
    judge = method(
        reject=lambda rows: rows["a"].to_numpy() > 7, blame=lambda rows: ["a"] * len(rows)
    )
    measures = run_cell(judge, task, 0).measures
    assert measures["auroc typo"] == 0.6  # above 0 to 5
    assert measures["auroc spike"] == pytest.approx((1.0 + 0.45) / 2)  # 20 above all; 4 ties with 4
    assert (measures["named typo"], measures["named spike"]) == (0.0, 1.0)
    assert measures["false_alarms"] == 0.2
    assert min(measures["fit_seconds"], measures["score_seconds"]) >= 0


def test_reasons_are_asked_for_wrong_rows_alone(task):
    seen = []
    run_cell(method(blame=lambda rows: seen.append(rows) or ["a"] * len(rows)), task, 0)
    assert [rows["a"].tolist() for rows in seen] == [[5.5, 20.0, 4.0]]


def test_no_reasons_are_no_measure(task):
    assert not [name for name in run_cell(method(), task, 0).measures if name.startswith("named")]


def test_the_threshold_is_cross_fitted_where_no_rate_can_be_asked_for(task):
    # The 9.5th smallest of 0 to 8 is beyond all of them: 8. Only 9 is above.
    assert run_cell(method(), task, 0).measures["false_alarms"] == 0.1


def test_methods_are_given_the_table_as_they_want_it(task):
    seen = []

    def learn(train, seed, alpha):
        seen.append((train["a"].tolist(), seed, alpha))
        return TableModel(lambda rows: np.zeros(len(rows)), lambda rows: np.zeros(len(rows), bool))

    for reading in ("typed", "texts"):
        assert run_cell(TableMethod("a", "here", learn, "", reading), task, 3).outcome == "done"
    assert seen == [(list(range(9)), 3, 0.05), ([str(i) for i in range(9)], 3, 0.05)]


def test_an_error_is_recorded(task):
    def refuse(train, seed, alpha):
        raise ValueError("column 'b'\n holds text")

    cell = run_cell(replace(method(), learn=refuse), task, 0)
    assert cell == MeasuredCell("failed", {}, "ValueError: column 'b' holds text")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_a_failure(task, bad):
    cell = run_cell(method(score=lambda rows: np.full(len(rows), bad)), task, 0)
    assert (cell.outcome, cell.note) == ("failed", "ValueError: 13 scores are not finite.")


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    write_tables(tmp_path / "tables")
    return lambda: CellStore(tmp_path / "cells", TableStudy(tables(), 9.0))


@pytest.mark.parametrize(
    "cell", [DONE, MeasuredCell.failed(ValueError("no")), MeasuredCell.too_long(9.0)]
)
def test_every_outcome_is_kept(store, cell):
    store().write(JOB, cell)
    assert store().read(JOB) == cell


@pytest.mark.parametrize("cell", [replace(DONE, measures={}), replace(DONE, outcome="failed")])
def test_a_cell_that_contradicts_itself_is_not_read(store, cell):
    store().write(JOB, cell)
    assert store().read(JOB) is None


def test_a_cell_of_other_settings_or_data_is_not_read(store, tmp_path, monkeypatch):
    store().write(JOB, DONE)
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, JOB.method, replace(METHODS[JOB.method], settings="others"))
        assert store().read(JOB) is None
    assert store().read(JOB) == DONE
    write_tables(tmp_path / "tables", n=300)
    assert store().read(JOB) is None

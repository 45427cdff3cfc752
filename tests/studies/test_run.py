"""Jobs run in processes of their own, once each; some hang, some crash."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from refold.studies.run import Study, run

ROOT = Path(__file__).parents[2]


class SquareJob(NamedTuple):
    number: int


@dataclass(frozen=True)
class SquareCell:
    square: int | None
    process: int = 0


class Squares(Study[SquareJob, SquareCell]):
    """Zero takes for ever, one crashes, two is an error."""

    def __init__(self, time_limit=None):
        self.time_limit = time_limit

    def settings(self, job):
        return []

    def compute(self, job):
        if job.number == 0:
            time.sleep(1e6)
        if job.number == 1:
            os._exit(3)
        if job.number == 2:
            raise ArithmeticError("not two")
        if job.number < 0:  # so many tenths of the machine's memory; no page of it is touched
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            try:
                return SquareCell(np.empty(-job.number * memory // 10, np.uint8).nbytes * 0)
            except MemoryError:
                return SquareCell(None)
        return SquareCell(job.number**2, os.getpid())

    def read(self, **stored):
        return SquareCell(**stored)


class Forgiving(Squares):
    def stopped(self, error):
        return SquareCell(None, -1 if isinstance(error, TimeoutError) else -2)


@pytest.fixture(autouse=True)
def _tests_can_be_imported_by_processes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def jobs(*numbers):
    return [SquareJob(number) for number in numbers]


def test_results_are_in_the_order_of_the_jobs_and_nothing_runs_twice(tmp_path):
    seen = []
    first = run(Squares(), jobs(5, 3, 4, 5), tmp_path, n_jobs=2, progress=lambda *n: seen.append(n))
    assert list(first) == jobs(5, 3, 4)
    assert [cell.square for cell in first.values()] == [25, 9, 16]
    assert os.getpid() not in {cell.process for cell in first.values()}
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    more = run(Squares(), jobs(6, 3, 5), tmp_path, progress=lambda *n: seen.append(n))
    assert seen[4:] == [(2, 3), (3, 3)]
    assert {job: more[job] for job in jobs(3, 5)} == {job: first[job] for job in jobs(3, 5)}


def test_what_was_finished_before_an_error_is_kept(tmp_path):
    with pytest.raises(ArithmeticError, match="not two"):
        run(Squares(), jobs(3, 4, 2), tmp_path)
    assert {path.stem for path in tmp_path.rglob("*.json")} == {"3", "4"}


def test_the_study_says_what_becomes_of_jobs_that_hang_or_crash(tmp_path):
    found = run(Forgiving(time_limit=2.0), jobs(0, 1, 3), tmp_path, n_jobs=2)
    assert [cell.process for cell in found.values()][:2] == [-1, -2]
    assert found[SquareJob(3)].square == 9
    seen = []
    run(Forgiving(time_limit=2.0), jobs(0, 1, 3), tmp_path, progress=lambda *n: seen.append(n))
    assert seen == [(3, 3)]


def test_without_a_word_from_the_study_a_crash_is_an_error(tmp_path):
    with pytest.raises(Exception, match="Abnormal termination"):
        run(Squares(), jobs(1), tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_no_process_takes_more_than_its_share_of_the_memory(tmp_path):
    done = run(Squares(), jobs(-6, -2), tmp_path, n_jobs=2)
    assert [cell.square for cell in done.values()] == [None, 0]

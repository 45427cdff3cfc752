"""Cells are read as they were written, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from refold.studies.run import CellStore, Study


class MadeJob(NamedTuple):
    name: str
    number: int


@dataclass(frozen=True)
class MadeCell:
    values: list[float]


class MadeStudy(Study[MadeJob, MadeCell]):
    version = 1

    def settings(self, job):
        return [self.version]

    def compute(self, job):
        raise AssertionError("a store keeps cells; it computes none")

    def read(self, values):
        return MadeCell(values)


JOB, CELL = MadeJob("abs L1/D", 0), MadeCell([93.1, 0.1 + 0.2])


@pytest.fixture
def store(tmp_path):
    store = CellStore(tmp_path, MadeStudy())
    store.write(JOB, CELL)
    return store


def test_gives_back_what_was_written(store):
    assert store.read(JOB) == CELL
    assert store.finished([JOB, JOB._replace(number=1)]) == {JOB: CELL}
    assert [path for path in store.folder.rglob("*") if path.is_file()] == [store.path(JOB)]


def test_every_job_has_a_file_of_its_own(store):
    names = ["a/b", "a b", "a-b", "a%2Fb", "a, b", "γ = 0.1", "η = 0.1"]
    paths = {store.path(MadeJob(name, 0)) for name in names}
    assert len(paths) == len(names)
    assert {path.parents[1] for path in paths} == {store.folder}


@pytest.mark.parametrize("kept", [0, 1, 30, -3])
def test_ignores_a_file_that_is_cut_off(store, kept):
    path = store.path(JOB)
    path.write_bytes(path.read_bytes()[:kept])
    assert store.read(JOB) is None


@pytest.mark.parametrize("text", ["[]", "{}", "1", '{"fingerprint": 1}', "\xff"])
def test_ignores_what_is_no_cell(store, text):
    store.path(JOB).write_bytes(text.encode("latin-1"))
    assert store.read(JOB) is None


def test_ignores_a_cell_with_other_fields(store):
    path = store.path(JOB)
    path.write_text(path.read_text().replace("values", "others"))
    assert store.read(JOB) is None


def test_ignores_a_cell_of_another_version_of_refold(store, monkeypatch):
    monkeypatch.setattr("refold.studies.run.__version__", "99")
    assert store.read(JOB) is None


def test_ignores_a_cell_of_other_settings(store, monkeypatch):
    monkeypatch.setattr(MadeStudy, "version", 2)
    assert store.read(JOB) is None


def test_ignores_the_cell_of_another_job_in_its_place(store):
    other = JOB._replace(number=1)
    store.path(JOB).rename(store.path(other))
    assert store.read(other) is None


def test_leaves_nothing_behind_when_writing_fails(tmp_path, monkeypatch):
    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        CellStore(tmp_path, MadeStudy()).write(JOB, CELL)
    assert not any(path.is_file() for path in Path(tmp_path).rglob("*"))

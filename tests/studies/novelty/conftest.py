"""Where the tests find ADBench's data, and one run of the command."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from refold.studies.download import DataError
from refold.studies.novelty.suite import ADBENCH
from tests.studies.conftest import refold
from tests.tables import beside_the_checkout

# A run that takes no longer than the command's start.
OPTIONS = ("--sets", "wine,Hepatitis", "--methods", "REF,kNN-5,LOF", "--seeds", "3")


@pytest.fixture(scope="session")
def adbench():
    """Let refold find three small sets: REFOLD_DATA, beside the repository, or the network."""
    with beside_the_checkout():
        try:
            ADBENCH.fetch(["wine", "Hepatitis", "Waveform"])
        except DataError:
            pytest.skip("ADBench's data is neither in REFOLD_DATA nor can it be downloaded")
        yield


def write_task(folder, name, rng, **changed):
    """Write a task that says which rows to learn from."""
    folder.mkdir(parents=True, exist_ok=True)
    test = np.concatenate([rng.normal(size=(30, 3)), rng.normal(6.0, 1.0, (10, 3))])
    arrays = {"train": rng.normal(size=(60, 3)), "test": test, "test_labels": np.arange(40) >= 30}
    np.savez(folder / f"{name}.npz", **arrays | changed)


class Run(NamedTuple):
    folder: Path
    output: str


@pytest.fixture(scope="session")
def whole_run(adbench, tmp_path_factory):
    """One run without a break."""
    folder = tmp_path_factory.mktemp("benchmark")
    done = refold("benchmark", *OPTIONS, "--jobs", "2", "--out", folder)
    assert done.returncode == 0, done.stderr
    return Run(folder, done.stdout)

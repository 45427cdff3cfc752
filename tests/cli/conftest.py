"""The command as a subprocess, a table of normal parts, and a model of it."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import refold as library
from tests.warm import REFOLD, command

NAMES = ("torque", "speed", "heat")


@pytest.fixture(scope="session")
def refold():
    def run(*arguments, **keywords):
        # A limit of a process is that of the one that is started.
        program = REFOLD if "preexec_fn" in keywords else command()
        line = [str(program), *map(str, arguments)]
        done = subprocess.run(line, capture_output=True, check=False, **keywords)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def rows():
    return np.random.default_rng(0).normal([75, 300, 20], [2, 5, 1], size=(200, 3)).round(3)


def as_csv(rows, names=NAMES, separator=",", end="\n", decimal="."):
    lines = [separator.join(names)]
    lines += [separator.join(str(cell).replace(".", decimal) for cell in row) for row in rows]
    return end.join(lines) + end


@pytest.fixture(scope="session")
def parts(tmp_path_factory, rows):
    """model.json, learned from normal.csv; in new.csv the rows 17 and 40 are odd."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "normal.csv").write_text(as_csv(rows))
    new = np.random.default_rng(1).normal([75, 300, 20], [2, 5, 1], size=(60, 3)).round(3)
    new[16, 0] = 99.5
    new[39, 1] = 500.0
    (folder / "new.csv").write_text(as_csv(new))
    model = library.REF(alpha=0.01).fit(rows)
    model.feature_names_in_ = np.array(NAMES, dtype=object)
    library.save(model, folder / "model.json")
    return folder

"""The author's data for tests, and one run of the command for all that look at its files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from refold.paper.data import DataError, load_dataset

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def data():
    """Let refold find the author's data: REFOLD_DATA, beside the repository, or the network."""
    with pytest.MonkeyPatch.context() as patch:
        if "REFOLD_DATA" not in os.environ and BESIDE.is_dir():
            patch.setenv("REFOLD_DATA", str(BESIDE))
        try:
            load_dataset("iris")
        except DataError:
            pytest.skip("the author's data is neither in REFOLD_DATA nor can it be downloaded")
        yield


@pytest.fixture(scope="session")
def command(data):
    """Run ``refold`` as a user would."""

    def run(*arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        line = [Path(sys.executable).with_name("refold"), *map(str, arguments)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def default_run(command, tmp_path_factory):
    """All tables and figures in the default setting."""
    out = tmp_path_factory.mktemp("default")
    command("reproduce", "--setting", "default", "--out", out)
    return out

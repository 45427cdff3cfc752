"""Where the tests find ADBench's data, and the command as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from refold.benchmark.data import fetch
from refold.experiments.download import DataError
from tests.conftest import BESIDE

REFOLD = Path(sys.executable).with_name("refold")


@pytest.fixture(scope="session")
def adbench():
    """Let refold find two small sets: REFOLD_DATA, beside the repository, or the network."""
    with pytest.MonkeyPatch.context() as patch:
        if "REFOLD_DATA" not in os.environ and BESIDE.is_dir():
            patch.setenv("REFOLD_DATA", str(BESIDE))
        try:
            fetch(["wine", "Hepatitis"])
        except DataError:
            pytest.skip("ADBench's data is neither in REFOLD_DATA nor can it be downloaded")
        yield


def refold(*arguments, **keywords):
    line = [REFOLD, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, **keywords)

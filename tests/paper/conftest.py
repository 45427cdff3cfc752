"""One run of the command for all tests that look at its files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


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

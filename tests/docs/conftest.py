"""The site, built once."""

import subprocess
import sys

import pytest

from tests.docs.pages import ROOT


@pytest.fixture(scope="session")
def site():
    """Build the site as make docs does; what has not changed since the last time is kept."""
    folder = ROOT / "build" / "docs"
    options = ("--fail-on-warning", "--keep-going", "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return folder

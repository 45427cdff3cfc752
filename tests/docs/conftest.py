"""The site, built once."""

import fcntl
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site as make docs does, in whichever worker asks first; the other waits for it."""
    folder = ROOT / "build" / "docs"
    shared = tmp_path_factory.getbasetemp().parent
    with (shared / "site-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "site-built").exists():
            options = ("--fail-on-warning", "--keep-going", "--quiet")
            done = subprocess.run(
                [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder)],
                capture_output=True,
                text=True,
                check=False,
                timeout=900,
            )
            assert done.returncode == 0, done.stderr
            (shared / "site-built").touch()
    return folder

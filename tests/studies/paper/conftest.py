"""One run of the command for all tests that look at its files."""

from __future__ import annotations

import pytest

from tests.studies.conftest import refold


@pytest.fixture(scope="session")
def reproduce(paper_data):
    """Run ``refold reproduce`` as a user would."""

    def run(*arguments):
        done = refold("reproduce", *arguments)
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="session")
def default_run(reproduce, tmp_path_factory):
    """All tables and figures in the default setting."""
    out = tmp_path_factory.mktemp("default")
    reproduce("--setting", "default", "--out", out)
    return out

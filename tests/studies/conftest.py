"""The commands as a user runs them, and a machine without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pooch
import pytest

REFOLD = Path(sys.executable).with_name("refold")


def refold(*arguments, **keywords):
    line = [REFOLD, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, **keywords)


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No network and an empty cache."""

    def fail(*args, **kwargs):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    monkeypatch.setattr("requests.get", fail)

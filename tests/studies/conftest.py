"""The commands as a user runs them, and a machine without a network."""

from __future__ import annotations

import os
import subprocess

import pooch
import pytest

from tests.warm import command


def refold(*arguments, env=None, **keywords):
    """Run the command; with `env` it has these variables, and no data but theirs."""
    if env is not None:  # what else is set stays: coverage follows the command by it
        env = {name: os.environ[name] for name in os.environ if name != "REFOLD_DATA"} | env
    line = [command(), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=env, **keywords)


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No network and an empty cache."""

    def fail(*args, **kwargs):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    monkeypatch.setattr("requests.get", fail)

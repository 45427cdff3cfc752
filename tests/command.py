"""The command ``refold`` within this process, so that what it calls can be watched."""

import sys

import pytest

from refold.cli import app


def run_in_process(monkeypatch, *arguments, code=0):
    """Run a command; it must end with the code, or with any if that is None."""
    monkeypatch.setattr(sys, "argv", ["refold", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        app()
    ended = left.value.code or 0
    assert code is None or ended == code
    return ended

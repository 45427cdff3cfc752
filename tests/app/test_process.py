"""refold app as a process: started, opened, told to stop."""

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import pytest

from tests.app.running import running
from tests.command import run_in_process
from tests.waiting import wait_until


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_told_to_and_leaves_nothing(tmp_path, files, number):
    with running(files / "parts.csv", TMPDIR=str(tmp_path)) as (process, address):
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        wait_until(lambda: b"parts.csv" in opener.open(address, timeout=60).read())
        assert len(list(tmp_path.iterdir())) == 1
        assert (files / "parts.csv").exists()
        process.send_signal(number)
        assert process.wait(60) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_it_ends_at_once_while_something_is_under_way(tmp_path, files):
    with running(TMPDIR=str(tmp_path)) as (process, address):
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=60) as answer:
            page, text = answer.url, answer.read().decode()
        version = re.search(r'name="version" value="([^"]*)"', text)[1]
        origin = {"Origin": address.partition("/?")[0]}
        typed = urllib.parse.urlencode({"sample": "cases", "version": version}).encode()
        form = urllib.request.Request(f"{page}table/sample", typed, origin)
        opener.open(form, timeout=60).read()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_browser_is_started_with_an_address_that_opens_once(tmp_path, files):
    """Others see what it is started with: it is not the address that was printed."""
    script, seen = tmp_path / "browser", tmp_path / "seen"
    script.write_text(f'#!/bin/sh\necho "$1" > {seen}.part\nmv {seen}.part {seen}\n')
    script.chmod(0o755)
    with running(opens_browser=True, BROWSER=f"{script} %s") as (_, printed):
        wait_until(seen.exists)
        address = seen.read_text().strip()
        assert address != printed
        assert "Which rows are normal?" in visited(address)
        with pytest.raises(urllib.error.HTTPError, match=r"401"):
            visited(address)
        assert "Which rows are normal?" in visited(printed)


def visited(address):
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    return opener.open(address, timeout=60).read().decode()


def test_a_table_that_is_not_there_is_said(tmp_path, monkeypatch, capsys):
    run_in_process(monkeypatch, "app", tmp_path / "gone.csv", "--no-browser", code=2)
    assert "gone.csv" in capsys.readouterr().err


def test_a_port_that_is_none_is_said(monkeypatch, capsys):
    run_in_process(monkeypatch, "app", "--port", 99999, code=2)
    assert "not a port" in capsys.readouterr().err


def test_the_command_has_help():
    command = [sys.executable, "-c", "from refold.cli import app; app()", "app", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "--no-browser" in said
    assert "refold app good-parts.xlsx" in said

"""What refold serve refuses before it serves."""

import json
import socket

import numpy as np
import pytest

import refold
from tests.command import run_in_process


@pytest.fixture
def model(tmp_path):

    refold.save(
        refold.REF().fit(np.random.default_rng(0).normal(size=(50, 2))), tmp_path / "m.json"
    )
    return tmp_path / "m.json"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "--token"),
        (["--host", "example.com"], "--insecure"),
        (["--token", "short"], "16"),
        (["--port", "99999"], "not a port"),
        (["--webhook", "example.org"], "not an address such as https://example.org/hook"),
        (["--webhook", "https://example.org", "--webhook-format", "xml"], "json, slack, teams"),
        (["--webhook", "https://example.org", "--no-drift"], "--no-drift"),
        (["--webhook-secret-file", "none.txt"], "Give --webhook too"),
        (["--webhook", "https://a.org", "--webhook-secret-file", "none.txt"], "No such file"),
    ],
)
def test_it_says_what_is_wrong(model, arguments, said, monkeypatch, capsys):
    run_in_process(monkeypatch, "serve", model, *arguments, code=2)
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(model, monkeypatch, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run_in_process(monkeypatch, "serve", model, "--port", port, code=2)
    said = json.loads(capsys.readouterr().err)  # a line of the log
    assert said["event"] == "not started"
    assert "--port" in said["problem"]


def test_two_models_of_one_name_are_refused(model, monkeypatch, capsys):
    run_in_process(monkeypatch, "serve", model, model, code=2)
    assert "name=file" in capsys.readouterr().err


def test_a_file_that_is_no_model_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "m.json").write_text("{}")
    run_in_process(monkeypatch, "serve", tmp_path / "m.json", code=2)
    assert "m.json" in capsys.readouterr().err

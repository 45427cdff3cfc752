"""Nothing that a user's file contains steers the terminal; for machines it stays as it is."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess

import numpy as np
import pytest

import refold as library
from tests.warm import command

# Clear the screen in two ways, set the title, go back, turn the writing round, forge a line.
EVIL = "h\x1b[2J\x9b2J\x1b]0;x\x07\x7f\x08\u202eé\u2028\nError: all is lost"
NAMES = [EVIL, f"speed{EVIL}", "heat"]
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and tables whose names and cells are hostile."""
    folder = tmp_path_factory.mktemp("evil")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    model = library.REF(alpha=0.02).fit(rows)
    model.feature_names_in_ = np.array(NAMES, dtype=object)
    library.save(model, folder / "model.json")
    new = rng.normal(2.0, size=(100, 3))
    new[16] = 30.0
    write(folder / "new.csv", [*NAMES, f"kind{EVIL}"], [(*row, EVIL) for row in new])
    bad = [[1.0, 2.0, 3.0], [1.0, f"x{EVIL}", 3.0]]
    write(folder / "bad.csv", NAMES, bad * 5)
    write(folder / "other.csv", [f"other{EVIL}"], [[1.0], [2.0]])
    return folder


def write(path, names, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def on_a_terminal(*arguments, folder):
    """Return what a person sees, on both streams."""
    ours, theirs = pty.openpty()
    plain = {**os.environ, "TERM": "dumb", "COLUMNS": "400"}
    line = [str(command()), *arguments]
    with subprocess.Popen(
        line, stdout=theirs, stderr=subprocess.PIPE, cwd=folder, env=plain
    ) as run:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 2**16):
                seen += part
        except OSError:  # how a terminal says that it was left
            pass
        finally:
            os.close(ours)
        said = run.stderr.read()
    return run.returncode, (seen.replace(b"\r\n", b"\n") + said).decode()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("score", "model.json", "new.csv"), 0),
        (("explain", "model.json", "new.csv", "--row", "17"), 0),
        (("inspect", "model.json"), 0),
        (("limits", "model.json", "new.csv"), 0),
        (("drift", "model.json", "new.csv"), 0),
        (("fit", "new.csv", "-o", "m.json"), 0),
        (("report", "model.json", "new.csv", "-o", f"{EVIL}.html"), 0),
        (("fit", "bad.csv", "-o", "m.json", "--columns", f'"x{EVIL}"'), 2),
        (("score", "model.json", "other.csv"), 2),
        (("score", "model.json", EVIL), 2),
        (("inspect", "model.json", f"--{EVIL}"), 2),
        ((EVIL,), 2),
    ],
)
def test_nothing_steers_the_terminal(arguments, code, folder):
    found, seen = on_a_terminal(*arguments, folder=folder)
    assert found == code, seen
    assert not STEERS.findall(seen)
    assert "\n".join(line for line in seen.splitlines() if line.startswith("Error: all")) == ""
    assert r"\u001b[2J" in seen or r"\x1b[2J" in seen


def test_documents_for_machines_say_the_same_in_other_letters(folder):
    _, seen = on_a_terminal("inspect", "model.json", "--json", folder=folder)
    assert not STEERS.findall(seen)
    assert [feature["name"] for feature in json.loads(seen)["features"]] == NAMES


def test_tables_for_machines_are_not_altered(refold, folder):
    done = refold("score", "model.json", "new.csv", cwd=folder)
    header, *_ = csv.reader(io.StringIO(done.stdout, newline=""))
    assert header[:4] == [*NAMES, f"kind{EVIL}"]
    assert done.stdout.count(EVIL.split("\n")[0]) > 100

"""``refold report``, run as a person runs it."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

import refold
from refold.report import describe
from tests.warm import REFOLD, command


def run(*arguments, folder):
    return subprocess.run(
        [command(), *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model and a table; its columns are in another order."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    normal = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    refold.save(refold.REF(alpha=0.02).fit(normal), folder / "model.json")
    new = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    new.loc[3, "b"] = 30.0
    new["serial"] = [f"S-{i}" for i in range(60)]
    new[["serial", "c", "b", "a"]].to_csv(folder / "new.csv", index=False)
    return folder


def test_the_page_says_what_the_model_says(folder):
    done = run("report", "model.json", "new.csv", "--json", "--id-column", "serial", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    model, new = refold.load(folder / "model.json"), pd.read_csv(folder / "new.csv")
    report = describe(model, new[["a", "b", "c"]])
    assert (said["report"], said["rows"], said["judged"]) == ("report.html", 60, 60)
    assert (said["outliers"], said["rate"]) == (report.rejected, report.rate)
    assert said["expected"]["interval"] == list(report.expected.interval)
    assert (said["selected"], said["drift"]) == (report.selected, report.drift.verdict)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<title>new.csv</title>" in page
    assert '<th scope="row" data-label="Row">S-3</th>' in page
    saved = json.loads((folder / "model.json").read_text(encoding="utf-8"))["created"]
    assert f"{saved} by refold {refold.__version__}" in page


def test_rows_are_counted_from_one_and_outliers_can_fail(folder):
    options = ("-o", "page.html", "--title", "Line <4>", "--worst", "1", "--fail-on-outlier")
    done = run("report", "model.json", "new.csv", *options, folder=folder)
    assert done.returncode == 1
    assert "of 60 rows" in done.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<title>Line &lt;4&gt;</title>" in page
    assert page.count('data-label="Row">') == 1
    assert 'data-label="Row">4</th>' in page


def test_incidents_have_the_times_and_groups_of_the_file(folder):
    new = pd.read_csv(folder / "new.csv").assign(machine=np.where(np.arange(60) % 2, "M1", "M2"))
    new["at"] = pd.date_range("2026-03-04", periods=60, freq="10min").strftime("%d.%m.%Y %H:%M")
    new.loc[[11, 13, 15], "a"] = 25.0
    new.to_csv(folder / "timed.csv", index=False)
    options = ("--time", "at", "--by", "machine", "--gap", "30min", "-o", "timed.html", "--json")
    done = run("report", "model.json", "timed.csv", *options, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    said = max(json.loads(done.stdout)["incidents"], key=lambda one: one["outliers"])
    assert (said["rows"], said["group"]) == ([12, 14, 16], "machine M1")
    assert said["text"].startswith("2026-03-04 01:50–02:30, machine M1: a ")
    assert said["text"] in (folder / "timed.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("model.json", "none.csv"), "none.csv: No such file"),
        (("model.json", "empty.csv"), "no rows"),
        (("model.json", "other.csv"), "there is no column 'b', 'c', which the model needs"),
        (("model.json", "bad.csv"), "line 3, column 'b'"),
        (("new.csv", "new.csv"), "new.csv"),
        (("model.json", "new.csv", "--id-column", "nr"), "there is no column 'nr'"),
        (("model.json", "new.csv", "--time", "when"), "there is no column 'when'"),
        (("model.json", "new.csv", "--time", "serial"), "'serial' holds no dates or numbers"),
        (("model.json", "new.csv", "--fdr", "2"), "fdr=2.0 is not a rate"),
        (("model.json", "gaps.csv"), "None of the 2 rows has a value"),
        (("model.json", "new.csv", "-o", "nowhere/page.html"), "There is no folder nowhere"),
        (("model.json", "new.csv", "-o", "page.pdf"), "a report is a page: name it .html"),
    ],
)
def test_bad_input_is_a_sentence_and_no_page(folder, arguments, message):
    (folder / "empty.csv").write_text("a,b,c\n")
    (folder / "other.csv").write_text("a,d\n1,2\n")
    (folder / "bad.csv").write_text("a,b,c\n1,2,3\n1,x,3\n")
    (folder / "gaps.csv").write_text("a,b,c\n,,\n,,\n")
    before = sorted(folder.iterdir())
    out = () if "-o" in arguments else ("-o", "refused.html")
    done = run("report", *arguments, *out, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_the_demo_ends_with_a_page(tmp_path):
    done = subprocess.run(
        [REFOLD, "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "country 'Italy' never occurs where" in done.stdout
    assert done.stdout.rstrip().endswith("report.html")
    assert "P2-0008" in (tmp_path / "report.html").read_text(encoding="utf-8")

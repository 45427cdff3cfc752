"""``refold feedback``: what was wrong is said, and the model file has it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import refold as library


@pytest.fixture
def folder(tmp_path):
    """model.json, a Detector; odd.csv, as ``refold score`` writes it, with a machine never seen."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"machine": rng.choice(list("ABC"), 300), "torque": rng.normal(75, 3, 300).round(2)}
    )
    rows.to_csv(tmp_path / "normal.csv", index=False)
    library.save(library.Detector().fit(rows), tmp_path / "model.json")
    odd = pd.DataFrame({"machine": ["Z"], "torque": [75.0], "distance": [9.0], "label": [-1]})
    odd.to_csv(tmp_path / "odd.csv", index=False)
    pd.DataFrame({"machine": ["A"], "torque": [200.0]}).to_csv(tmp_path / "far.csv", index=False)
    return tmp_path


def test_it_does_what_the_library_does_and_says_so(refold, folder):
    done = refold("feedback", "model.json", "--accept", "odd.csv", "--note", "new", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1 row accepted; it is normal now. Note: new",
        "The model is in model.json.",
    ]
    model = library.load(folder / "model.json")
    odd = pd.read_csv(folder / "odd.csv")[["machine", "torque"]]
    assert model.predict(odd) == [1]
    again = library.Detector().fit(pd.read_csv(folder / "normal.csv")).accept(odd)
    np.testing.assert_array_equal(model.score_samples(odd), again.score_samples(odd))


def test_the_log_is_listed_and_taken_back_by_number(refold, folder):
    before = json.loads((folder / "model.json").read_text())
    refold("feedback", "model.json", "--accept", "odd.csv", cwd=folder)
    refold("feedback", "model.json", "--reject", "far.csv", "-o", "second.json", cwd=folder)
    listed = refold("feedback", "second.json", "--list", cwd=folder).stdout.splitlines()
    assert [line.partition(" ")[0] for line in listed] == ["1.", "2."]
    assert listed[1].endswith(": 1 row rejected; it is an outlier.")
    assert len(library.load(folder / "model.json").feedback_) == 1
    assert "Feedback: 1 row accepted, 1 row rejected" in (
        refold("inspect", "second.json", cwd=folder).stdout
    )
    done = refold("feedback", "second.json", "--undo", "1", cwd=folder)
    assert done.stdout.startswith("Taken back, of ")
    refold("feedback", "second.json", "--undo", "-1", cwd=folder)
    after = json.loads((folder / "second.json").read_text())
    for document in (before, after):
        for name in ("created", "sha256"):
            del document[name]
    assert after == before


def test_a_document_for_machines_has_it_all(refold, folder):
    done = refold("feedback", "model.json", "--reject", "far.csv", "--tune", "--json", cwd=folder)
    document = json.loads(done.stdout)
    (entry,) = document["feedback"]
    assert (entry["kind"], entry["rows"], entry["after"]["labels"]) == ("rejected", 1, [-1])
    assert document["threshold"] == library.load(folder / "model.json").threshold_


def test_models_of_numbers_take_it_too(refold, folder):
    rows = pd.read_csv(folder / "normal.csv")[["torque"]]
    for name, X in (("named.json", rows), ("plain.json", rows.to_numpy())):
        library.save(library.CreasedREF(n_creases=8).fit(X), folder / name)
    done = refold("feedback", "named.json", "--accept", "far.csv", cwd=folder)
    assert done.stdout.startswith("1 row accepted"), done.stderr
    (folder / "x0.csv").write_text("x0\n90\n")
    done = refold("feedback", "plain.json", "--accept", "x0.csv", cwd=folder)
    assert done.stdout.startswith("1 row accepted"), done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--undo", "1"], "There is no feedback to undo"),
        (["--tune"], "No row was rejected yet"),
        (["--accept", "empty.csv"], "empty.csv: Nothing is observed in line 3"),
        (["--accept", "other.csv"], "there is no column 'machine'"),
        (["--accept", "none.csv"], "none.csv has column names but no rows"),
        (["--accept", "normal.csv", "--times", "100"], "30,000 rows of feedback"),
        (["--accept", "odd.csv", "-o", "odd.csv"], "which is read"),
        (["--accept", "-", "--reject", "-"], "Standard input"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_file_stays(refold, folder, arguments, said):
    (folder / "empty.csv").write_text("machine,torque\nA,75\n,\n")
    (folder / "other.csv").write_text("torque\n75\n")
    (folder / "none.csv").write_text("machine,torque\n")
    before = (folder / "model.json").read_bytes()
    done = refold("feedback", "model.json", *arguments, cwd=folder)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert (folder / "model.json").read_bytes() == before

"""``refold score`` as a gate: exit codes, incidents and a summary that a pipeline reads."""

import json

import numpy as np
import pandas as pd
import pytest

from refold import REF


@pytest.fixture(scope="module")
def folder(refold, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    rng = np.random.default_rng(0)

    def table(rows):
        return pd.DataFrame(
            {
                "at": pd.date_range("2026-03-04", periods=rows, freq="10min"),
                "machine": rng.choice(["M1", "M17"], rows),
                "vibration": rng.normal(2.3, 0.1, rows).round(3),
                "load": rng.normal(50, 5, rows).round(1),
            }
        )

    table(1_000).to_csv(folder / "good.csv", index=False)
    table(300).to_csv(folder / "normal.csv", index=False)
    broken = table(300)
    fault = (broken["machine"] == "M17") & broken.index.isin(range(100, 160))
    broken.loc[fault, "vibration"] += 1
    broken.to_csv(folder / "broken.csv", index=False)
    fitted = refold(
        "fit", "good.csv", "-o", "model.json", "--alpha", 0.01, "--ignore", "at", cwd=folder
    )
    assert fitted.returncode == 0, fitted.stderr
    return folder


def test_normal_rows_pass_and_a_fault_does_not(refold, folder):
    run = ["score", "model.json"]
    passed = refold(*run, "normal.csv", "--gate", "-o", "out.csv", cwd=folder)
    assert passed.returncode == 0
    assert "--gate: passed; " in passed.stderr
    failed = refold(*run, "broken.csv", "--gate", "-o", "out.csv", cwd=folder)
    assert failed.returncode == 1
    assert "--gate: failed; " in failed.stderr
    assert len(pd.read_csv(folder / "out.csv")) == 300  # what fails is written all the same
    for condition, code in (("--max-outliers=50%", 0), ("--max-outliers=3", 1)):
        assert refold(*run, "broken.csv", condition, "-o", "o.csv", cwd=folder).returncode == code
    for times, code in (("1e9", 0), ("5", 1)):
        done = refold(*run, "broken.csv", "--fail-beyond", times, "-o", "o.csv", cwd=folder)
        assert done.returncode == code


def test_the_summary_has_the_gate_and_the_incidents(refold, folder):
    done = refold(
        *("score", "model.json", "broken.csv", "--time", "at", "--by", "machine"),
        *("--gate", "--summary", "summary.json", "-o", "out.csv"),
        cwd=folder,
    )
    assert done.returncode == 1
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["passed"] is False
    assert summary["gate"][0]["condition"] == "--gate"
    largest = max(summary["incidents"], key=lambda one: len(one["rows"]))
    broken = pd.read_csv(folder / "broken.csv")
    fault = broken.index[(broken["machine"] == "M17") & broken.index.isin(range(100, 160))]
    assert set(fault + 1) <= set(largest["rows"])  # rows of files are counted from 1
    assert (largest["group"], largest["columns"][0]) == ("machine M17", "vibration")
    assert largest["begin"] <= broken["at"][fault[0]]
    assert largest["text"] in done.stderr
    scored = pd.read_csv(folder / "out.csv")
    rows = sorted(row for one in summary["incidents"] for row in one["rows"])
    assert rows == (np.flatnonzero(scored["label"] == -1) + 1).tolist()


def test_rows_out_of_order_are_said(refold, folder):
    broken = pd.read_csv(folder / "broken.csv")
    broken[::-1].to_csv(folder / "backwards.csv", index=False)
    done = refold(
        "score", "model.json", "backwards.csv", "--time", "at", "-o", "out.csv", cwd=folder
    )
    assert done.returncode == 0
    assert "line 3 is earlier than the row before it" in done.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--max-outliers", "many"], "12 nor a share such as 3%"),
        (["--fail-beyond", "0"], "is not above 0"),
        (["--time", "when"], "there is no column 'when'"),
        (["--time", "machine"], "'machine' holds no dates or numbers"),
        (["--gap", "90min"], "rows have no time"),
        (["--summary", "model.json"], "model.json"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(refold, folder, options, sentence):
    before = (folder / "model.json").read_bytes()
    done = refold("score", "model.json", "broken.csv", "-o", "never.csv", *options, cwd=folder)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
    assert not (folder / "never.csv").exists()
    assert (folder / "model.json").read_bytes() == before


def test_a_gate_by_chance_needs_a_rate(refold, folder):
    good = pd.read_csv(folder / "good.csv")[["vibration", "load"]]
    REF().fit(good).save(folder / "ref.json")
    done = refold("score", "ref.json", "normal.csv", "--gate", "-o", "o.csv", cwd=folder)
    assert done.returncode == 2
    assert "no false alarm rate to compare with" in done.stderr

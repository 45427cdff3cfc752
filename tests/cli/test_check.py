"""``refold check``: a table for people, JSON, a page, and an exit code."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"heat [C]": rng.normal(20, 2, 200), "part": np.arange(200), "gear": 5})
    frame.loc[41, "heat [C]"] = 9999.0
    frame.to_csv(tmp_path / "parts.csv", index=False)
    return tmp_path / "parts.csv"


def test_people_read_a_table_with_rows_from_one_and_options_to_type(refold, table):
    done = refold("check", table)
    assert done.returncode == 0
    said = " ".join(done.stdout.replace("│", " ").split())
    assert "3 things to look at in 200 rows and 3 columns:" in said
    assert "heat [C] 9999 in row 42 is far from all others: the next is" in said
    assert "--roles part=number" in said


def test_machines_read_json_with_rows_from_one(refold, table):
    done = refold("check", table, "--json", "--fail-on-finding")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [found["kind"] for found in document["findings"]] == [
        *("absurd-cell", "running-number", "constant"),
    ]
    assert document["findings"][0]["rows"] == [42]
    assert document["findings"][0]["message"].startswith("heat [C] 9999 in row 42 ")


def test_columns_are_ignored_and_nothing_is_no_failure(refold, table):
    done = refold("check", table, "--ignore", "part,gear,heat [C]")
    assert done.returncode == 2
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=200)})
    frame.to_csv(table, index=False)
    done = refold("check", table, "--fail-on-finding")
    assert (done.returncode, done.stdout) == (0, "Nothing was noticed in 200 rows and 1 column.\n")


def test_a_page_is_written_but_never_over_the_table(refold, table, tmp_path):
    done = refold("check", table, "--html", tmp_path / "page.html")
    assert done.returncode == 0
    assert "in row 42 is far" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert refold("check", table, "--html", table).returncode == 2


def test_a_rate_that_needs_more_rows_is_said(refold, table):
    found = json.loads(refold("check", table, "--alpha", "0.001", "--json").stdout)["findings"]
    assert found[0]["kind"] == "too-few-rows"
    assert refold("check", table, "--alpha", "2").returncode == 2


def test_an_unreadable_cell_stops_if_asked_to(refold, tmp_path):
    cells = [f"{k % 9}.5" for k in range(300)]
    cells[8] = "broken"
    pd.DataFrame({"a": cells}).to_csv(tmp_path / "t.csv", index=False)
    assert "in row 9 of the table" in refold("check", tmp_path / "t.csv", "--json").stdout
    done = refold("check", tmp_path / "t.csv", "--bad-cells", "error")
    assert (done.returncode, "'broken' in row 9" in done.stderr) == (2, True)


def test_seven_findings_are_shown_and_all_on_request(refold, tmp_path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(np.repeat(rng.normal(size=(500, 9)), 2, axis=1)).add_prefix("v")
    path = tmp_path / "wide.csv"
    wide.to_csv(path, index=False)
    first = refold("check", path).stdout
    assert "2 less important ones (duplicate-column 2) are not shown: --all shows them." in first
    assert "less important ones" not in refold("check", path, "--all").stdout
    assert len(json.loads(refold("check", path, "--json").stdout)["findings"]) == 9

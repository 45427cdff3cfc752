"""Tables that packages bring, measured: on a few of them, and on one whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from refold.studies.tables.packaged import PackagedResults, packaged_tables
from tests.tables import packaged_file


def test_tables_are_read_as_texts_from_the_folder_of_a_package():
    found = dict(packaged_tables(["plotly", "no_such_package"]))
    tips = found["plotly/tips.csv.gz"]
    assert len(tips) == len(pd.read_csv(packaged_file("plotly/tips.csv.gz"))) == 244
    assert all(isinstance(cell, str) for cell in tips["total_bill"])


@pytest.fixture(scope="module")
def results():
    """Two columns say the same, a third is a number: what is swapped among the two is seen."""
    rng = np.random.default_rng(0)
    letter = rng.choice(list("ABCD"), 1200)
    table = pd.DataFrame(
        {
            "letter": letter,
            "again": [f"the {each}" for each in letter],
            "size": rng.normal(50.0, 5.0, 1200).round(2).astype(str),
        }
    )
    found = PackagedResults()
    found.add("made", table)
    found.add("short", table[["letter"]][:150])
    return found


def test_rates_faults_and_reasons_are_counted(results):
    assert list(results.rates) == [500]
    assert results.rates[500][0] <= 0.04
    assert results.caught["spike"] == results.caught["unseen"] == [1.0]
    assert results.right["spike"] == results.right["unseen"] == [1.0]
    # A third of the swaps are of the number, three quarters of the others give another letter.
    assert 0.4 <= results.caught["swapped"][0] <= 0.75


def test_a_table_without_a_model_is_named_with_the_reason(results):
    assert "needs at least 99 rows" in results.refused["short"]


def test_the_page_has_a_line_for_each_band_kind_and_finding(results):
    said = results.markdown()
    assert "| from 500 | 1 | " in said
    assert "| spike | 1 | 100 % | 100 % |" in said
    for kind, times in results.findings.items():
        assert f"| {kind} | {times} |" in said

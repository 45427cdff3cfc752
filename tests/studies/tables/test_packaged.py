"""Tables that packages bring, measured: on a few of them, and on one whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from refold.studies.tables.packaged import Tally, packaged_tables
from tests.tables import packaged_file


def test_tables_are_read_as_texts_from_the_folder_of_a_package():
    found = dict(packaged_tables(["plotly", "no_such_package"]))
    tips = found["plotly/tips.csv.gz"]
    assert len(tips) == len(pd.read_csv(packaged_file("plotly/tips.csv.gz"))) == 244
    assert all(isinstance(cell, str) for cell in tips["total_bill"])


@pytest.fixture(scope="module")
def tally():
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
    found = Tally()
    found.add("made", table)
    found.add("short", table[["letter"]][:150])
    return found


def test_rates_faults_and_reasons_are_counted(tally):
    assert list(tally.rates) == [500]
    assert tally.rates[500][0] <= 0.04
    assert tally.caught["spike"] == tally.caught["unseen"] == [1.0]
    assert tally.right["spike"] == tally.right["unseen"] == [1.0]
    # A third of the swaps are of the number, three quarters of the others give another letter.
    assert 0.4 <= tally.caught["swapped"][0] <= 0.75


def test_a_table_without_a_model_is_named_with_the_reason(tally):
    assert "needs at least 99 rows" in tally.refused["short"]


def test_the_page_has_a_line_for_each_band_kind_and_finding(tally):
    said = tally.markdown()
    assert "| from 500 | 1 | " in said
    assert "| spike | 1 | 100 % | 100 % |" in said
    for kind, times in tally.findings.items():
        assert f"| {kind} | {times} |" in said

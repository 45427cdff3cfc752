"""A table that is judged part by part gives the report of the whole."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, Detector
from refold.judgement import Judgement
from refold.report import ReportedTable, describe, render

ROWS = 3000
NAMES = [f"part {k}" for k in range(ROWS)]


@pytest.fixture
def new(rng):
    table = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["heat", "flow", "level"])
    table["machine"] = rng.choice(["A", "B"], ROWS, p=[0.999, 0.001])
    table.loc[::100, "heat"] += 9.0
    table.loc[7] = [np.nan, np.nan, np.nan, None]
    return table


@pytest.fixture(params=["numbers", "any columns"])
def model(request, rng):
    normal = pd.DataFrame(rng.normal(size=(2000, 3)), columns=["heat", "flow", "level"])
    if request.param == "numbers":
        return REF(alpha=0.05).fit(normal)
    return Detector(alpha=0.05, method="ref").fit(normal.assign(machine="A"))


def in_parts(model, new, size, **how):
    table, columns = ReportedTable(model, **how), [*model.feature_names_in_]
    for begin in range(0, ROWS, size):
        some = slice(begin, begin + size)
        table.add(Judgement.of(model, new[columns][some]), NAMES[some])
    return table


@pytest.mark.parametrize("size", [77, 1000, ROWS])
def test_parts_give_the_page_of_the_whole(model, new, size):
    whole = describe(model, new[[*model.feature_names_in_]], row_names=NAMES, worst=5)
    parts = describe(model, in_parts(model, new, size, worst=5), worst=5)
    empty = 0 if isinstance(model, Detector) else 1  # a Detector judges it
    assert (parts.rows, parts.pictured, parts.empty) == (ROWS, ROWS, empty)
    assert render(parts) == render(whole)


def test_of_many_rows_all_are_counted_and_some_are_drawn(model, new):
    whole = describe(model, in_parts(model, new, ROWS))
    some = [describe(model, in_parts(model, new, size, pictured=200)) for size in (70, 999)]
    for report in some:
        assert report.pictured == 200
        for fact in ("rows", "empty", "rejected", "selected", "interval", "expected", "groups"):
            assert repr(getattr(report, fact)) == repr(getattr(whole, fact))
        assert [row.name for row in report.worst] == [row.name for row in whole.worst]
        assert report.drift.to_dict() == whole.drift.to_dict()
        page = render(report)
        assert "Pictures are drawn from 200 rows, taken at random" in page
        assert "Of 3,000 rows, 200 rows taken at random were looked through." in page
    # However the table is divided, the same rows are drawn.
    np.testing.assert_array_equal(*(report.distances.counts for report in some))
    assert "taken at random" not in render(whole)


def test_only_names_of_rows_that_are_kept_are_kept(model, new):
    table = in_parts(model, new, 100, worst=3, pictured=50)
    kept, names = table.pictured()
    assert len(kept) == len(names) == 50
    assert len(table._names) == len(table.worst_names) == table.rejected
    numbers = [int(name.removeprefix("part ")) for name in names]
    expected = -model.score_samples(new[[*model.feature_names_in_]].iloc[numbers].fillna(0.0))
    full = ~np.isnan(kept.rows).any(axis=1)
    np.testing.assert_allclose(kept.distances[full], expected[full])

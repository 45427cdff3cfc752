"""Associations between columns: against SciPy, and what they must say of known tables."""

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins
from scipy.stats.contingency import association

from refold import Detector
from refold.columns.conversion import to_table
from refold.columns.table import NumberColumn
from refold.report import describe
from refold.report.parts import associations_of


def of_frame(frame):
    table = to_table(frame)
    return associations_of(dict(zip(table.names, table.columns, strict=True)))


def test_they_are_cramers_v_of_scipy_where_there_are_many_rows():
    rng = np.random.default_rng(0)
    site = rng.choice(["a", "b", "c"], 9000)
    line = np.where(rng.random(9000) < 0.6, site, rng.choice(["a", "b", "c", "d"], 9000))
    found = of_frame(pd.DataFrame({"site": site, "line": line}))
    v = association(pd.crosstab(site, line).to_numpy(), method="cramer")
    assert found.values[0, 1] == pytest.approx(v, abs=0.01)
    assert found.strongest[0][2] == found.values[0, 1]


def test_numbers_texts_and_dates_are_compared():
    rng = np.random.default_rng(0)
    size = rng.normal(size=4000)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.argsort(np.argsort(size)), "h")
    frame = pd.DataFrame(
        {
            "size": size,
            "day": day,
            "kind": np.where(size > 0, "big", "small"),
            "noise": rng.random(4000),
        }
    )
    found = of_frame(frame)
    assert set(found.names) == {"size", "day", "kind"}
    assert found.values.min() > 0.9
    assert np.array_equal(found.values, found.values.T)


def test_chance_is_no_association():
    rng = np.random.default_rng(0)
    columns = {f"x{k}": NumberColumn(rng.normal(size=300)) for k in range(8)}
    columns["one value"] = NumberColumn(np.ones(300))
    columns["nothing"] = NumberColumn(np.full(300, np.nan))
    assert associations_of(columns).names == ()


def test_wide_and_tiny_tables_are_no_trouble():
    rng = np.random.default_rng(0)
    base = rng.normal(size=50_000)
    wide = {f"x{k}": NumberColumn(base + 0.1 * k * rng.normal(size=50_000)) for k in range(80)}
    assert len(associations_of(wide).names) == 12
    for rows in (0, 1, 2):
        cells = {name: column.take(np.arange(rows)) for name, column in wide.items()}
        assert np.isfinite(associations_of(cells).values).all()


def test_a_report_says_which_columns_belong_together():
    penguins = load_penguins()
    found = describe(Detector(alpha=0.05).fit(penguins), penguins).associations
    pairs = {frozenset(pair[:2]) for pair in found.strongest[:3]}
    assert frozenset({"species", "island"}) in pairs
    assert frozenset({"species", "flipper_length_mm"}) in pairs

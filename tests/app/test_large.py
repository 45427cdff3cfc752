"""A hundred thousand new rows: pages stay quick, and small."""

import numpy as np
import pandas as pd
import pytest

from tests.app.conftest import parts

pytestmark = pytest.mark.slow


def test_a_hundred_thousand_rows_are_shown_page_by_page(visitor, files, tmp_path):
    table = parts(100_000, seed=2)
    table.loc[::5000, "torque"] = 91.5
    table.to_parquet(tmp_path / "many.parquet")
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    assert not visitor.put("/check", tmp_path / "many.parquet").bad
    assert visitor.state.checked.table.rows == 100_000
    paths = ("show=all", "show=all&page=3999", "show=all&text=K-0042", "sort=row", "group=0")
    columns = [f"show=all&sort=column-{k}&down={k % 2}" for k in range(6)]
    for path in (*paths, *columns):
        assert len(visitor.page(f"/check?{path}")) < 60_000
    visitor.page("/check/rows/99999")
    news = visitor.post("/check/rate", rate=0)
    assert not news.bad
    assert visitor.state.checked.rejected >= 20


def wide_table(rows, seed, odd=0):
    """Return 30 columns of every kind; in `odd` of the rows one number is far out."""
    rng = np.random.default_rng(seed)
    mixed = np.random.default_rng(9).normal(size=(18, 18))  # the same in all tables
    numbers = 0.3 * rng.normal(size=(rows, 18)) @ mixed + rng.normal(size=(rows, 18))
    numbers[rng.choice(rows, odd, replace=False), rng.integers(0, 18, odd)] += 12.0
    table = pd.DataFrame(numbers.round(4)).add_prefix("m")
    for k in range(8):
        table[f"kind{k}"] = rng.choice(list("ABCDE"), rows)
    for k in range(2):
        hours = pd.to_timedelta(rng.integers(0, 9000, rows), "h")
        table[f"day{k}"] = (pd.Timestamp("2026-01-01") + hours).strftime("%d.%m.%Y %H:%M")
        table[f"code{k}"] = [f"K-{v:06d}" for v in rng.integers(0, 999_999, rows)]
    return table


def test_thirty_columns_are_sorted_by_and_all_that_is_odd_is_in_a_group(visitor, tmp_path):
    wide_table(5000, 1).to_parquet(tmp_path / "learn.parquet")
    wide_table(100_000, 2, odd=5000).to_parquet(tmp_path / "new.parquet")
    visitor.put("/table", tmp_path / "learn.parquet")
    visitor.post("/learn")
    assert not visitor.put("/check", tmp_path / "new.parquet").bad
    checked = visitor.state.checked
    assert 5000 <= checked.rejected < 10_000
    assert checked.grouped == checked.blamed == checked.rejected
    for k in range(30):
        visitor.page(f"/check?show=all&sort=column-{k}&down={k % 2}")

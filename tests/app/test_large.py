"""A hundred thousand new rows: pages stay quick, and small."""

import time

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
    began = time.monotonic()
    paths = ("show=all", "show=all&page=3999", "show=all&text=K-0042", "sort=row", "group=0")
    for path in paths:
        assert len(visitor.page(f"/check?{path}")) < 60_000
    visitor.page("/check/rows/99999")
    assert time.monotonic() - began < 20  # some tenths of a second each, on a busy machine
    news = visitor.post("/check/rate", rate=0)
    assert not news.bad
    assert visitor.state.checked.rejected >= 20

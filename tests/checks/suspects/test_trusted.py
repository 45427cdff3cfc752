"""Suspects beside trusted rows: the share of good rows in the list is what was asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refold import suspects


def drawn(rng, n, bad=0):
    """Skewed, dependent columns; the last `bad` rows break the dependence."""
    x = rng.exponential(size=n)
    rows = np.column_stack([x, x + rng.normal(0, 0.2, n), rng.standard_t(4, n)])
    if bad:
        rows[-bad:, 1] += rng.choice([-1, 1], bad) * rng.uniform(1.5, 6.0, bad)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3])
def test_the_false_discovery_rate_holds_at_any_contamination(share):
    """By simulation: the mean share over many draws, within three standard errors."""
    level, n, false, power = 0.2, 200, [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, int(1000 * share)])
        bad = int(share * n)
        trusted, doubtful = drawn(rng, 630), drawn(rng, n, bad)
        found = suspects(doubtful, trusted=trusted, fdr=level, reasons=1, n_jobs=1).rows
        wrong = np.count_nonzero(found < n - bad)
        false.append(wrong / max(len(found), 1))
        power.append((len(found) - wrong) / max(bad, 1))
    error = np.std(false) / np.sqrt(len(false))
    assert np.mean(false) <= level + 3 * error
    if share >= 0.1:
        assert np.mean(power) > 0.4


def test_without_a_rate_the_list_is_as_long_as_asked_for_and_says_how_rare_rows_are():
    rng = np.random.default_rng(0)
    found = suspects(drawn(rng, 200, 20), 5, trusted=drawn(rng, 300))
    p_values = [suspect.p_value for suspect in found]
    assert len(found) == 5
    assert p_values == sorted(p_values)
    assert min(p_values) >= 1 / 201  # a third of the trusted rows was learned from
    assert "compared with 300 trusted ones" in found.note


def test_a_clump_that_trusted_rows_do_not_have_is_found():
    rng = np.random.default_rng(0)
    doubtful = drawn(rng, 300)
    doubtful[:60] = [2.0, 6.0, 0.0] + 0.01 * rng.normal(size=(60, 3))
    found = suspects(doubtful, trusted=drawn(rng, 300), fdr=0.1)
    assert np.isin(np.arange(60), found.rows).all()
    assert "clump" not in found.note


def test_mixed_tables_are_compared_by_name():
    def table(n, seed):
        rng = np.random.default_rng(seed)
        return pd.DataFrame({"m": rng.choice(["A", "B"], n), "t": rng.normal(size=n)})

    doubtful = table(100, 1)[["t", "m"]]
    doubtful.loc[[3, 4, 5], "m"] = "Z"
    found = suspects(doubtful, trusted=table(300, 0), fdr=0.2)
    assert {3, 4, 5} <= set(found.rows.tolist())
    assert {s.row: s.reasons[0].feature for s in found}[3] == "m"
    with pytest.raises(ValueError, match=r"There is no column 'm'"):
        suspects(doubtful[["t"]], trusted=table(300, 0))


def test_nothing_stands_out_where_nothing_is_wrong():
    rng = np.random.default_rng(3)
    found = suspects(drawn(rng, 50), trusted=drawn(rng, 200), fdr=0.01)
    assert len(found) == 0
    assert str(found).startswith("0 of 50 rows")
    assert len(found.to_frame()) == 0


def test_too_few_trusted_rows_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"trusted has 20 rows.*at least 30"):
        suspects(drawn(rng, 50), trusted=drawn(rng, 20), fdr=0.1)
    with pytest.raises(ValueError, match=r"fdr=2 is not a rate"):
        suspects(drawn(rng, 50), trusted=drawn(rng, 60), fdr=2)

"""Training rows that look least like the rest: which, in which order, and why."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from refold import REF, suspects
from tests.tables import adbench_files, load_adbench, real_table


def parts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "machine": rng.choice(["A", "B", "C"], n),
            "torque": rng.normal(75, 2, n).round(2),
            "code": [f"K-{k:04d}" for k in rng.integers(0, 9999, n)],
        }
    )


def with_faults():
    table = parts()
    table.loc[40, "torque"] = 750.0
    table.loc[120, "machine"] = "Z"
    table.loc[200, "code"] = "k 12/x"
    return table


def test_of_numbers_the_rank_is_that_of_the_mean_over_all_levels_of_folding():
    """Against REF itself: its distance over all levels is that mean."""
    X = np.random.default_rng(0).standard_t(3, size=(400, 5))
    far = -REF(levels="all", max_gain=400).fit(X).score_samples(X)
    found = suspects(X, 20)
    np.testing.assert_array_equal(np.sort(found.rows), np.sort(np.argsort(-far)[:20]))
    np.testing.assert_allclose([s.score for s in found], far[found.rows], rtol=2e-2)
    assert [s.rank for s in found] == list(range(1, 21))


def test_faults_of_every_kind_come_first_with_the_column_that_is_wrong():
    found = suspects(with_faults(), 3)
    blamed = {suspect.row: suspect.reasons[0].feature for suspect in found}
    assert blamed == {40: "torque", 120: "machine", 200: "code"}


def test_what_a_closed_column_never_had_comes_before_the_tails_of_numbers():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_t(3, size=(2000, 6)), columns=list("abcdef"))
    table["shift"] = rng.choice(["early", "late"], 2000)
    table.loc[[5, 6, 7], "shift"] = ["eraly", "lste", None]  # each alone among the others
    assert {5, 6, 7} == set(suspects(table, 10).rows[:3].tolist())


def test_reasons_are_told_as_if_the_row_had_not_been_there():
    said = str(suspects(with_faults(), 3))
    assert "machine 'Z' is in no other row" in said
    top = {s.row: s.reasons[0] for s in suspects(with_faults(), 3)}[40]
    assert max(high for _, high in top.normal) < 90.0  # its own 750 is not normal


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "records"])
def test_any_kind_of_table_gives_the_same_list(kind):
    table = with_faults()
    given = {
        "pandas": lambda: table,
        "polars": lambda: pl.from_pandas(table),
        "arrow": lambda: pl.from_pandas(table).to_arrow(),
        "records": lambda: table.to_dict("records"),
    }[kind]()
    found, expected = suspects(given, 10), suspects(table, 10)
    assert found.to_dict() == expected.to_dict()


def test_the_order_of_rows_does_not_matter():
    table, order = with_faults(), np.random.default_rng(1).permutation(300)
    found = suspects(table.iloc[order].reset_index(drop=True), 10)
    assert order[found.rows].tolist() == suspects(table, 10).rows.tolist()


def test_rows_without_any_value_are_not_judged():
    X = np.random.default_rng(0).normal(size=(100, 3))
    X[7] = np.nan
    table = parts()
    table.loc[5] = [None, None, None]
    assert 7 not in suspects(X, 100).rows
    assert len(suspects(X, 100)) == 99
    assert 5 not in suspects(table, 300).rows


def test_the_list_says_what_it_is_not():
    found = suspects(with_faults(), 3)
    assert "nothing says that they are wrong" in str(found)
    assert "clump of them, pass as normal" in found.note


def test_forms_for_programs_agree_with_the_list():
    found = suspects(with_faults(), 5)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [entry["row"] for entry in document["suspects"]] == found.rows.tolist()
    for backend in ("pandas", "polars", "pyarrow"):
        frame = found.to_frame(backend)
        assert list(np.asarray(frame["row"])) == found.rows.tolist()
    assert [s.row for s in found[1:3]] == found.rows[1:3].tolist()


def test_cells_cannot_write_into_a_page():
    table = parts()
    table.loc[3, "machine"] = "<script>alert(1)</script>"
    page = suspects(table, 2)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("n", [2, 3, 6, 30])
def test_few_rows_can_be_asked_about_too(n):
    found = suspects(np.random.default_rng(0).normal(size=(n, 2)))
    assert sorted(found.rows) == list(range(n))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 0}, "budget=0: it is how many rows you would look at"),
        ({"budget": 1.5}, "budget=1.5"),
        ({"reasons": 0}, "reasons=0: at least one column"),
        ({"fdr": 0.1}, "needs trusted rows: compared with itself, every table has its oddest"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(given, said):
    with pytest.raises(ValueError, match=said):
        suspects(parts(), **given)


def test_one_absurd_wind_speed_among_thousands_comes_first():
    found = suspects(pd.read_csv(real_table("weather-ewr.csv.gz")), 3)
    assert (found[0].reasons[0].feature, found[0].reasons[0].value) == ("wind_speed", 1048.36058)


@pytest.mark.slow
def test_on_real_anomalies_more_than_a_third_of_the_first_are_bad():
    """21 sets with 5 % of real anomalies, two draws each, the oddest hundredth of the rows."""
    shares = [found for file in adbench_files() for found in map(bad_share, [file] * 2, [0, 1])]
    if not shares:
        pytest.skip("ADBench is neither in REFOLD_DATA nor beside the checkout")
    assert np.mean(shares) > 1 / 3


def bad_share(file, seed):
    """Return the share of anomalies in the list of a table that has 5 % of them."""
    X, anomaly = load_adbench(file)
    rng = np.random.default_rng(seed)
    good, bad = (rng.permutation(np.flatnonzero(rows)) for rows in (~anomaly, anomaly))
    n = min(2500, int(len(good) / 0.95), int(len(bad) / 0.05))
    n_bad = max(round(0.05 * n), 1)
    rows = rng.permutation(np.concatenate([good[: n - n_bad], bad[:n_bad]]))
    found = suspects(X[rows], max(n // 100, 1), reasons=1)
    return np.isin(rows[found.rows], bad).mean()


@pytest.mark.parametrize("trusted", [False, True])
def test_a_column_to_be_ignored_is_as_if_it_were_not_there(trusted):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"heat": rng.normal(size=300), "depth": rng.normal(size=300)})
    table.loc[7, "heat"] = 40.0
    other = table.assign(operator=rng.choice(["A", "B"], 300))
    good = table.drop(index=7) if trusted else None
    more = None if good is None else other.drop(index=7)
    without = suspects(table, 5, trusted=good)
    found = suspects(other, 5, trusted=more, roles={"operator": "ignore"})
    assert found.rows.tolist() == without.rows.tolist()


def test_a_value_that_several_suspects_share_is_counted_in_the_whole_table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "transmission": rng.choice(["auto", "manual"], 400),
            "fuel": rng.choice(["petrol", "diesel"], 400),
            "power": rng.normal(100.0, 10.0, 400).round(1),
        }
    )
    table.loc[[10, 50], "transmission"] = "–"
    table.loc[70, "fuel"] = "coal"
    said = {suspect.row: suspect.because[0] for suspect in suspects(table, 5)}
    assert "transmission '–' is rare (2 of 400 rows)" in said[10]
    assert "transmission '–' is rare (2 of 400 rows)" in said[50]
    assert "fuel 'coal' is in no other row" in said[70]


def test_rows_are_called_by_their_index_and_nothing_is_made_up_of_usual_ones():
    rng = np.random.default_rng(0)
    heat = rng.normal(50.0, 5.0, 100).round(1)
    table = pd.DataFrame({"heat": heat}, index=[f"P{k}" for k in range(100)])
    found = suspects(table, 60)
    assert [each.name for each in found] == [f"P{row}" for row in found.rows]
    assert str(found).startswith(f"1. row P{found.rows[0]}: ")
    assert found[-1].because == ["no value stands out; no other row is more unusual"]

"""When groups or a trend matter: every bound, against pandas and a test of a proportion."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from refold.base.words import percent
from refold.columns.table import DateColumn, NumberColumn, Table, TextColumn
from refold.models.detector.context_findings import groups_matter, trend_matters


def texts(codes):
    return TextColumn([f"G{k}" for k in range(int(np.max(codes)) + 1)], np.asarray(codes))


def table_of(**columns):
    made = {
        name: NumberColumn(c) if isinstance(c, np.ndarray) else c for name, c in columns.items()
    }
    return Table(list(made), list(made.values()), len(next(iter(made.values()))))


def grouped(groups, each, spread=0.2, seed=0):
    """Rows of groups whose levels are far apart, evenly inside of one range."""
    rng = np.random.default_rng(seed)
    codes = np.tile(np.arange(groups), each)
    level = np.linspace(-2.0, 2.0, groups)[codes]
    return codes, level + spread * rng.normal(size=len(codes))


class Seen:
    """Says of a share of rows that they are outliers, and remembers the rows."""

    def __init__(self, share=0.0):
        self.share, self.table = share, None

    def __call__(self, table):
        self.table = table
        return np.arange(table.rows) < round(self.share * table.rows)


@pytest.mark.parametrize(
    ("groups", "each", "without", "said"),
    [
        (8, 25, 0, True),  # eight groups are enough, and 200 rows
        (8, 25, 1, False),
        (7, 40, 0, False),
        (30, 8, 0, True),  # a group has eight rows at least
        (30, 7, 0, False),
    ],
)
def test_groups_matter_from_so_many_on(groups, each, without, said):
    codes, values = grouped(groups, each)
    values[:without] = np.nan
    found = groups_matter(table_of(site=texts(codes), y=values), Seen())
    assert (found is not None) == said


@pytest.mark.parametrize(("seen", "said"), [(0.0, True), (0.45, True), (0.5, False), (1.0, False)])
def test_groups_matter_if_fewer_than_half_of_the_faults_are_seen(seen, said):
    codes, values = grouped(10, 60)
    found = groups_matter(table_of(site=texts(codes), y=values), Seen(seen))
    assert (found is not None) == said
    if found is not None:
        assert (found.kind, found.column, found.values) == ("groups", "site", ("y",))


@pytest.mark.parametrize(("share", "said"), [(0.499, True), (0.501, False)])
def test_groups_matter_if_numbers_are_spread_half_as_much_within_them(share, said):
    codes, noise = grouped(10, 100, spread=1.0)
    noise -= np.linspace(-2.0, 2.0, 10)[codes]
    noise -= (np.bincount(codes, noise) / 100)[codes]
    between = np.linspace(-1.0, 1.0, 10)[codes]
    between /= between.std()
    within = noise / np.sqrt((noise**2).sum() / (1000 - 10))
    # The pooled standard deviation is `share` of that of all rows.
    values = between * np.sqrt(1.0 - share**2 * 990 / 1000) + within * share
    assert np.isclose(values.var(), 1.0)
    found = groups_matter(table_of(site=texts(codes), y=values), Seen())
    assert (found is not None) == said


@pytest.mark.parametrize("seed", range(6))
def test_faults_are_six_standard_deviations_of_the_group_off_and_inside_the_range(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 25, 330 if seed < 3 else 1500)
    spread = np.exp(rng.normal(size=25))[codes] * 0.1
    frame = pd.DataFrame({"g": codes, "y": rng.uniform(-3.0, 3.0, 25)[codes]})
    frame["y"] += spread * rng.normal(size=len(codes))
    frame.loc[::17, "y"] = np.nan
    for group, known in ((3, 1), (4, 2)):  # nothing, and hardly anything, is known of a spread
        frame.loc[np.flatnonzero(codes == group)[known:], "y"] = np.nan
    seen = Seen()
    row = np.arange(len(frame)) * 1.0
    found = groups_matter(table_of(g=texts(codes), y=frame["y"].to_numpy(), row=row), seen)
    assert found is not None
    large = frame.groupby("g")["g"].transform("size") >= 8
    spread = frame["y"].where(large).groupby(frame["g"]).transform("std")
    off = 6.0 * spread.where(frame["y"].notna())
    rows = np.flatnonzero(off.notna())
    if len(rows) > 300:
        rows = rows[np.linspace(0, len(rows) - 1, 300).astype(int)]
    y, off = frame["y"].to_numpy()[rows], off.to_numpy()[rows]
    low, high = frame["y"].quantile([0.01, 0.99])
    moved = np.where(y + off <= high, y + off, y - off)
    inside = (low <= moved) & (moved <= high)
    assert seen.table["row"].values.tolist() == rows[inside].tolist()
    np.testing.assert_allclose(seen.table["y"].values, moved[inside])


@pytest.mark.parametrize(("fitting", "said"), [(30, True), (29, False)])
def test_faults_are_looked_at_if_a_tenth_of_them_fits_into_the_range(fitting, said):
    codes = np.repeat(np.arange(10), 30)
    level = np.where(codes < 5, -1.0, 1.0)
    # Of one group the spread is small enough for a fault to stay inside.
    wide = np.tile([-1.0, 1.0], 150)
    values = level + np.where(codes == 0, 0.1, 0.5) * wide
    if fitting == 29:
        values[0] = np.nan
    found = groups_matter(table_of(site=texts(codes), y=values), Seen())
    assert (found is not None) == said


def test_the_group_and_the_number_that_differ_most_are_named():
    codes, values = grouped(10, 60)
    other = (codes * 7 + np.arange(600) // 100) % 10
    wide = values + 0.3 * np.random.default_rng(1).normal(size=600)
    table = table_of(other=texts(other), site=texts(codes), wide=wide, y=values, wider=2.0 * wide)
    found = groups_matter(table, Seen())
    assert (found.column, found.values) == ("site", ("y",))
    again = table_of(site=texts(codes), y=values, same=values.copy())
    assert groups_matter(again, Seen()).values == ("y",)  # of equal ones the first


@pytest.mark.parametrize(("before", "said"), [(99, True), (100, False)])
def test_a_hundred_columns_of_each_kind_are_looked_at(before, said):
    codes, values = grouped(8, 30)
    same, still = texts(np.zeros(240, dtype=int)), np.zeros(240)
    many_texts = {f"t{k}": same for k in range(before)}
    many_numbers = {f"n{k}": still for k in range(before)}
    for others in (many_texts, many_numbers):
        found = groups_matter(table_of(**others, site=texts(codes), y=values), Seen())
        assert (found is not None) == said


class Judge:
    """A model that calls some of the rows outliers that it is given."""

    def __init__(self, odd):
        self.odd = odd

    def __call__(self, names):
        self.names = names
        return self

    def fit(self, table):
        self.first = table
        return self

    def predict(self, table):
        self.last = table
        return np.where(np.arange(table.rows) < self.odd, -1, 1)


def timed(n, *, times=None, gaps=0, **numbers):
    seconds = 86_400.0 * np.arange(n) if times is None else times
    seconds[n - gaps :] = np.nan
    column = DateColumn(seconds, has_date=True, has_clock=False)
    return table_of(time=column, row=np.arange(n) * 1.0, **numbers)


@pytest.mark.parametrize("n", range(200, 2001, 60))
def test_a_trend_matters_if_surely_more_than_asked_for_are_outliers_at_the_end(n):
    last, table = n // 10, timed(n)
    shares = [binomtest(k, last).proportion_ci(1.0 - 2e-3, "exact").low for k in range(last + 1)]
    least = next(k for k, low in enumerate(shares) if low > 1.5 * 0.05)
    least = max(least, int(3 * 0.05 * last) + 1)
    said = [trend_matters(table, Judge(odd)) for odd in (0, least - 1, least, last)]
    assert [each is not None for each in said] == [False, False, True, True]


def test_the_last_tenth_by_time_is_judged_by_what_was_before_it():
    rng = np.random.default_rng(0)
    order = rng.permutation(3000)
    judge = Judge(150)
    found = trend_matters(timed(3000, times=86_400.0 * order, gaps=500), judge)
    assert (found.kind, found.column, found.values) == ("trend", "time", ("row",))
    known = np.arange(2500)[np.argsort(order[:2500])]
    some = known[np.linspace(0, 2499, 2000).astype(int)]
    assert judge.names == ["row"] == judge.first.names
    assert judge.first["row"].values.tolist() == some[:1800].tolist()
    assert judge.last["row"].values.tolist() == some[1800:].tolist()
    assert f"calls {percent(0.75, 2)} of the last tenth outliers" in found.message


@pytest.mark.parametrize(
    ("n", "gaps", "times", "said"),
    [
        (200, 0, 200, True),
        (201, 1, 200, True),
        (200, 1, 200, False),  # too few rows have a time
        (240, 0, 20, True),
        (240, 0, 19, False),  # too few times
    ],
)
def test_a_trend_needs_rows_and_times(n, gaps, times, said):
    seconds = 86_400.0 * (np.arange(n) * times // n)
    found = trend_matters(timed(n, times=seconds, gaps=gaps), Judge(n))
    assert (found is not None) == said


def test_a_time_of_the_day_has_no_trend():
    clock = DateColumn(60.0 * np.arange(400), has_date=False, has_clock=True)
    assert trend_matters(table_of(clock=clock, y=np.arange(400.0)), Judge(400)) is None


def test_the_number_whose_median_has_moved_most_in_its_quartiles_is_named():
    rng = np.random.default_rng(0)
    base, late = rng.normal(size=(3, 1000)), np.arange(1000) >= 900
    columns = {
        "little": 100.0 * (base[0] + 1.0 * late) + 1e4,
        "most": 1e-6 * (base[1] - 4.0 * late),
        "some": 10.0 * (base[2] + 3.0 * late),
        "never at the end": np.where(late, np.nan, 5.0),
        "only at the end": np.where(late, 5.0, np.nan),
        "still": np.zeros(1000),
    }
    days = DateColumn(86_400.0 * np.arange(1000), has_date=True, has_clock=False)
    found = trend_matters(table_of(day=days, **columns), Judge(100))
    assert found.values == ("most",)
    half = {"a": columns["little"], "b": columns["some"], "c": np.where(late, np.nan, 1.0)}
    assert trend_matters(table_of(day=days, **half), Judge(100)).values == ("b",)
    nothing = table_of(day=days, gone=np.full(1000, np.nan))
    assert trend_matters(nothing, Judge(100)) is None

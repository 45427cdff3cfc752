"""Errors put into real clean tables are found, and clean tables have little to say."""

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from refold import check
from tests.tables import DATA, adbench_files, load_adbench, real_table

ROWS = 1000


def packaged_tables():
    """Normal rows in an order that means nothing."""
    for load, kind in (
        *((datasets.load_iris, 1), (datasets.load_wine, 1), (datasets.load_breast_cancer, 1)),
    ):
        found = load(as_frame=True)
        yield load.__name__, found.data[found.target == kind]
    yield "load_diabetes", datasets.load_diabetes(as_frame=True, scaled=False).data
    for name in ("clean-flights.csv.gz", "airports.csv", "planes.csv"):
        yield name, pd.read_csv(real_table(name))


def other_tables():
    if not adbench_files():
        pytest.skip("ADBench is neither in REFOLD_DATA nor beside the checkout")
    for file in adbench_files():
        X, anomaly = load_adbench(file)
        if X.shape[1] <= 40:
            yield file.stem, pd.DataFrame(X[~anomaly]).add_prefix("v")
    for path in sorted((DATA / "tables").glob("clean-*.csv.gz")):
        yield path.name, pd.read_csv(path, low_memory=False)


@pytest.fixture(
    scope="module",
    params=[packaged_tables, pytest.param(other_tables, marks=pytest.mark.slow)],
    ids=["packaged", "others"],
)
def tables(request):
    mixed = ((name, t.sample(frac=1, random_state=0)[:ROWS]) for name, t in request.param())
    return {name: table.reset_index(drop=True) for name, table in mixed}


def measured(table, said):
    """Columns of numbers that vary, and of which nothing is said."""
    for name in table.columns:
        column = table[name]
        if column.dtype.kind not in "if" or name in said:
            continue
        values = column.dropna()
        if values.nunique() >= 12 and values.value_counts().iloc[0] <= len(values) / 2:
            yield name


def absurd(x, rng):
    low, high = np.nanquantile(x, (0.1, 0.9))
    rows = rng.choice(np.flatnonzero(~np.isnan(x)), 1)
    x[rows] = np.nanmax(x) + 30 * (high - low)
    return rows


def sentinel(x, rng):
    rows = np.sort(rng.choice(np.flatnonzero(~np.isnan(x)), max(4, len(x) // 50), replace=False))
    beyond = [value for value in (-999.0, -99999.0, -9999999.0) if abs(value) > np.nanmax(abs(x))]
    x[rows] = beyond[0]
    return rows


def other_unit(x, rng):
    span = np.nanmax(x) / np.nanmin(x) if np.nanmin(x) > 0 else np.inf
    factors = [factor for factor in (1000.0, 25.4, 10.0, 2.2046) if span < factor ** (2 / 3)]
    if not factors:
        return None
    there = np.flatnonzero(~np.isnan(x))
    rows = np.sort(rng.choice(there, max(8, len(x) // 8), replace=False))
    x[rows] *= factors[rng.integers(len(factors))]
    return rows


def drift(x, rng):
    if len(x) < 100:
        return None
    x[int(len(x) * rng.uniform(0.4, 0.7)) :] += np.nanstd(x)
    return ()


INJECTED = {
    "absurd-cell": absurd,
    "sentinel": sentinel,
    "mixed-units": other_unit,
    "drift": drift,
}


@pytest.mark.parametrize("kind", INJECTED)
def test_nine_of_ten_injected_errors_are_found_in_their_column_and_rows(tables, kind):
    found = []
    for seed, table in enumerate(tables.values()):
        rng = np.random.default_rng(seed)
        some = table.iloc[:, :8]
        columns = list(measured(some, {f.column for f in check(some)}))
        for name in rng.permutation(columns)[:2].tolist():
            x = some[name].to_numpy(dtype=float).copy()
            rows = INJECTED[kind](x, rng)
            if rows is not None:
                said = check(some.assign(**{name: x})).of(kind, name)
                found.append(any(each.rows in ((), tuple(rows[:100])) for each in said))
    assert len(found) >= 5
    assert np.mean(found) >= 0.9


def test_running_numbers_are_found_in_every_table(tables):
    for table in tables.values():
        numbers = np.arange(len(table)) + 4711
        assert check(table.iloc[:, :5].assign(part=numbers)).of("running-number", "part")


def test_rows_in_no_order_have_no_drift_and_hardly_any_second_unit(tables):
    said = [check(table).of(kind) for table in tables.values() for kind in ("drift", "mixed-units")]
    assert sum(map(len, said)) <= len(tables) / 4

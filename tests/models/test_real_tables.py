"""Rates, few rows and single-column faults on real tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from refold import REF, CreasedREF
from tests.tables import adbench_files, load_adbench, real_table

ALPHA = 0.05
TABLES = (
    *("natural-credit-g", "natural-attrition", "natural-hypothyroid", "natural-churn"),
    *("natural-creditdata", "clean-taxis", "clean-flights", "clean-airports", "weather-ewr"),
)


def numbers(data):
    """The normal rows of a table, its columns of numbers without gaps."""
    if "row_is" in data:
        data = data[data.row_is == "normal"]
    data = data.select_dtypes("number")
    return data.dropna(axis=1, thresh=int(0.9 * len(data))).dropna().to_numpy(float)


def of_class(loaded, label):
    return loaded.data[loaded.target == label]


SHIPPED = {
    "wine": lambda: of_class(load_wine(), 0),
    "wine 2": lambda: of_class(load_wine(), 1),
    "benign": lambda: of_class(load_breast_cancer(), 1),
    "iris": lambda: load_iris().data,
    "diabetes": lambda: load_diabetes(scaled=False).data,
    "digits": lambda: of_class(load_digits(), 0),
    "penguins": lambda: numbers(pd.read_csv(real_table("penguins.csv")).dropna()),
}


def table(name):
    if name in SHIPPED:
        return SHIPPED[name]()
    return numbers(pd.read_csv(real_table(f"{name}.csv.gz")))


def split(X, seed, n):
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[:n]], X[order[n : n + 1500]]


def rejected(model, X):
    return float((model.predict(X) == -1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("make", [CreasedREF, REF], ids=["creased", "ref"])
def test_rates_hold(make):
    means = {}
    for name in (*SHIPPED, *TABLES):
        X = table(name)
        n = 35 if name.startswith("wine") else min(int(0.6 * len(X)), 1000)
        splits = 20 if n < 300 else 5
        pairs = [split(X, seed, n) for seed in range(splits)]
        rates = [rejected(make(alpha=ALPHA).fit(train), new) for train, new in pairs]
        print(f"{name:20s} {X.shape} n={n} mean {np.mean(rates):.3f} worst {max(rates):.3f}")
        means[name] = np.mean(rates)
        assert len(pairs[0][1]) < 100 or max(rates) < 0.15
        assert 0.02 <= means[name] <= 0.08
    assert 0.035 <= np.mean([*means.values()]) <= 0.065


@pytest.mark.parametrize("make", [CreasedREF, REF], ids=["creased", "ref"])
def test_penguins_keep_the_rate(make):
    data = pd.read_csv(real_table("penguins.csv")).dropna().select_dtypes("number")
    train = data.sample(frac=0.7, random_state=8)
    model = make(alpha=ALPHA).fit(train)
    assert rejected(model, data.drop(train.index)) <= 0.1  # 38 of 103 once were
    assert rejected(model, train) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 35, 50, 100, 200])
def test_few_rows_keep_the_rate_on_average(n):
    rates = []
    for name in (*SHIPPED, *TABLES):
        X = table(name)
        if len(X) >= n + 30:
            pairs = [split(X, seed, n) for seed in range(3)]
            rates += [rejected(CreasedREF(alpha=ALPHA).fit(a), b) for a, b in pairs]
    assert 0.03 <= np.mean(rates) <= 0.07


@pytest.mark.slow
def test_one_column_beyond_its_range_is_caught_and_named():
    if not adbench_files():
        pytest.skip("ADBench is neither in REFOLD_DATA nor beside the checkout")
    caught, despite, named = [], [], []
    for file in adbench_files():
        X, anomaly = load_adbench(file)
        rng = np.random.default_rng(0)
        normal = rng.permutation(X[~anomaly])
        n = min(len(normal) // 2, 2500)
        train, new = normal[:n], normal[n : n + 100]
        span = np.ptp(train, axis=0)
        columns = rng.permutation(np.flatnonzero(span > 0))[:6]
        model = CreasedREF(alpha=ALPHA).fit(train)
        faults = {}
        for column in columns:
            rows = new.copy()
            rows[:, column] = train[:, column].max() + 0.25 * span[column]
            faults[column] = rows
        caught.append(np.mean([rejected(model, rows) for rows in faults.values()]))
        named.append(
            np.mean(
                [
                    (model.scorer().attribution(rows[:20]).parts.argmax(axis=1) == column).mean()
                    for column, rows in faults.items()
                ]
            )
        )
        column = columns[0]
        absurd = train.copy()
        absurd[0, column] += 1000 * span[column]
        despite.append(rejected(CreasedREF(alpha=ALPHA).fit(absurd), faults[column]))
        print(f"{file.stem} {train.shape} {caught[-1]:.3f} {despite[-1]:.3f} {named[-1]:.3f}")
    assert np.mean(caught) >= 0.92
    assert np.mean(despite) >= 0.82  # one column each: 85 % on average over more of them
    assert np.mean(named) >= 0.95


def test_thirty_columns_of_benign_cases():
    X = SHIPPED["benign"]()
    train, new = split(X, 0, 250)
    model = CreasedREF(alpha=ALPHA).fit(train)
    shares = []
    for column in range(30):
        rows = new.copy()
        rows[:, column] = train[:, column].max() + 0.25 * np.ptp(train[:, column])
        shares.append(rejected(model, rows))
    assert np.mean(shares) >= 0.95

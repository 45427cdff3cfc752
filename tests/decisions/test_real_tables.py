"""``REF(alpha=)`` on real tables: the rate is met, and few rows do not blind it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from refold import REF
from tests.tables import adbench_normals, real_table


def rejected(train, new):
    return np.mean(REF(alpha=0.05).fit(train).predict(new) == -1)


def test_the_penguins_with_their_three_years():
    penguins = pd.read_csv(real_table("penguins.csv")).dropna().select_dtypes("number")
    trained = [penguins.sample(frac=0.7, random_state=seed) for seed in range(12)]
    rates = [rejected(train, penguins.drop(train.index)) for train in trained]
    assert 0.04 <= np.mean(rates) <= 0.06
    assert max(rates) <= 0.15


def test_thirty_five_wines_tell_others_apart():
    wines = load_wine()
    one, others = wines.data[wines.target == 1], wines.data[wines.target != 1]
    orders = [np.random.default_rng(seed).permutation(len(one)) for seed in range(12)]
    caught = [rejected(one[order[:35]], others) for order in orders]
    false = [rejected(one[order[:35]], one[order[35:]]) for order in orders]
    assert np.mean(caught) >= 0.41
    assert 0.02 <= np.mean(false) <= 0.08
    assert REF(alpha=0.05).fit(one[:35]).threshold_ < 10  # rounded up, at the last level: 105,970


def tables():
    for data in (load_iris(), load_wine(), load_breast_cancer(), load_digits()):
        yield data.data[data.target == 1] if len(data.data) > 150 else data.data
    for name in ("1_ALOI", "19_landsat", "23_mammography"):
        yield adbench_normals(name)
    penguins = pd.read_csv(real_table("penguins.csv")).dropna()
    yield penguins.select_dtypes("number").to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [20, 35, 50, 100, 200])
def test_few_rows_keep_the_rate(rows):
    rates = []
    for X in tables():
        if len(X) < rows + 30:
            continue
        orders = [np.random.default_rng(seed).permutation(len(X)) for seed in range(20)]
        rates.append(np.mean([rejected(X[o[:rows]], X[o[rows : rows + 1000]]) for o in orders]))
    assert 0.03 <= np.mean(rates) <= 0.07
    assert max(rates) <= 0.09

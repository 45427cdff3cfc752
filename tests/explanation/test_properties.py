"""On many real tables: what holds of the explanation of every row, whatever is wrong with it."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from refold import Detector, incidents
from refold.explanation import times_limit
from refold.judgement import Judgement
from tests.tables import of_tables, packaged_file, real_table

PACKAGED = [
    *("plotly/tips.csv.gz", "plotly/gapminder.csv.gz", "plotly/iris.csv.gz"),
    *("vega_datasets/seattle-weather.csv", "vega_datasets/cars.json"),
]
TABLES = [
    *PACKAGED,
    *of_tables(
        *("penguins.csv", "weather-ewr.csv.gz", "clean-flights.csv.gz", "planes.csv"),
        *("airports.csv", "clean-adult_c.csv.gz", "clean-airports.csv.gz", "clean-taxis.csv.gz"),
        *("clean-congress.csv.gz", "natural-attrition.csv.gz", "natural-churn.csv.gz"),
        *("natural-credit-g.csv.gz", "natural-creditdata.csv.gz", "natural-hypothyroid.csv.gz"),
        *("natural-mushroom.csv.gz", "natural-nsl_kdd.csv.gz"),
    ),
]
NAME = re.compile(r"(?:^|_|\b)(?:id|key|uuid|zip|\w+_(?:no|nr|id))$", re.IGNORECASE)


def read(name):
    if name not in PACKAGED:
        return pd.read_csv(real_table(name))
    path = packaged_file(name)
    return pd.read_json(path) if path.suffix == ".json" else pd.read_csv(path)


def with_faults(rows, train, rng):
    """One cell of each row is wrong: too large, of another sign, a text that nobody wrote."""
    rows = rows.astype(object)
    for i in range(len(rows)):
        k = int(rng.integers(rows.shape[1]))
        cell, column = rows.iat[i, k], train.iloc[:, k]
        if isinstance(cell, str):
            wrong = [
                f"{cell}x",
                cell.swapcase(),
                "Zorro",
                column.iat[int(rng.integers(len(train)))],
            ]
            rows.iat[i, k] = wrong[rng.integers(4)]
        elif isinstance(cell, (int, float)) and cell == cell and not isinstance(cell, bool):
            spread = float(pd.to_numeric(column, errors="coerce").std())
            rows.iat[i, k] = [cell * 10, -cell, cell + 6 * spread, None][rng.integers(4)]
    return rows


@pytest.fixture(scope="module", params=TABLES)
def explained(request):
    table = read(request.param).sample(frac=1.0, random_state=3).reset_index(drop=True)
    if "row_is" in table:
        table = table[table["row_is"] == "normal"].drop(columns="row_is").reset_index(drop=True)
    half = min(len(table) // 2, 1500)
    train, rest = table[:half], table[half : half + 150].reset_index(drop=True)
    model = Detector(alpha=0.05).fit(train)
    new = pd.concat([rest.astype(object), with_faults(rest[:80], train, np.random.default_rng(0))])
    new = new.reset_index(drop=True)
    return model, train, new, list(model.explain(new))


def outliers(explained):
    found = [row for row in explained[3] if row.label == -1]
    assert found
    return found


def test_shares_add_up_to_no_more_than_all_and_the_lead_has_most(explained):
    for row in outliers(explained):
        shares = [reason.share for reason in row.reasons]
        assert sum(shares) <= 1.0 + 1e-9
        assert shares == sorted(shares, reverse=True)
        percents = [int(found) for found in re.findall(r"(\d+) % of the distance", row.text(50))]
        assert sum(percents) <= 100


def test_a_row_has_a_lead_or_is_an_outlier_only_by_a_combination(explained):
    for row in outliers(explained):
        lead = row.reasons[0]
        assert row.sentence()
        assert row.text().startswith(f"row {row.row}: outlier; {row.sentence()}\n")
        if len(row.combination) == 1 and row.combination[0].view:  # odd by itself
            assert row.sentence() == row.combination[0].sentence()
        elif row.together:
            assert "only together" in row.sentence()
        else:
            assert lead.share >= 0.1 or any(reason.novel for reason in row.reasons)
            assert row.sentence() == lead.sentence()


def test_what_is_expected_is_not_what_there_is(explained):
    for row in outliers(explained):
        for reason in row.reasons:
            assert reason.expected is None or reason.expected != reason.value


def test_what_is_proposed_is_expected_and_normal(explained):
    model, _, new, _ = explained
    for row in outliers(explained):
        of = {reason.feature: reason for reason in row.reasons}
        for cell in row.changes:
            expected = of[cell.feature].expected
            if expected is not None:
                assert cell.value == pytest.approx(expected, rel=0.05)
        if row.changes:
            mended = new.iloc[[row.row]].assign(**{c.feature: c.value for c in row.changes})
            assert model.predict(mended) == 1


def test_nobody_is_told_to_be_somebody_else(explained):
    _, train, _, _ = explained
    for row in outliers(explained):
        for cell in row.changes:
            assert not NAME.search(cell.feature)
            if isinstance(cell.value, str):
                assert train[cell.feature].nunique() <= 0.05 * len(train) + 1


def test_a_reason_is_at_least_one_percent_and_a_normal_row_has_none(explained):
    model, _, new, rows = explained
    for row in rows:
        assert all(reason.share >= 0.01 or reason.novel for reason in row.first(50))
        if row.label == 1:
            assert row.first(50) == row.to_dict()["reasons"] == []
            assert row.sentence() == ""
    found = Judgement.of(model, new)
    assert (found.reasons(3)[found.labels != -1] == -1).all()


def test_a_value_that_nobody_has_seen_is_not_what_another_is_rare_beside(explained):
    _, train, _, _ = explained
    seen = {name: set(train[name].dropna().astype(str)) for name in train}
    for row in outliers(explained):
        lead, roles = row.reasons[0], {reason.feature: reason.role for reason in row.reasons}
        if lead.view == "beside" and roles[lead.beside[0].feature] == "category":
            assert str(lead.beside[0].value) in seen[lead.beside[0].feature]


def test_no_sentence_has_a_pattern_or_a_number_that_nobody_reads(explained):
    for row in outliers(explained):
        said = re.sub(r"'[^']*'", "", row.text(50).replace("o'clock", ""))
        assert not re.search(r"\de[+−-]?\d", said)
        assert not re.search(r"[9Aa]\+|\bAa+\b", said)


def test_how_far_is_worded_as_rows_are_ordered(explained):
    worst_first = sorted(outliers(explained), key=lambda row: -row.distance)
    said = [times_limit(row.distance, row.threshold) for row in worst_first]
    assert all(far in row.text() for far, row in zip(said, worst_first, strict=True))
    numbers = [
        math.inf if far.startswith("more than") else float(far.removesuffix(" × the limit"))
        for far in said
        if far != "just beyond the limit"
    ]
    assert numbers == sorted(numbers, reverse=True)


def test_an_incident_of_one_row_says_what_its_explanation_says(explained):
    model, _, new, rows = explained
    alone = [one for one in incidents(model, new, gap=1) if one.outliers == 1]
    for one in alone:
        row = rows[one.worst]
        assert one.text.endswith(times_limit(row.distance, row.threshold))
        unknown = row.together and not row.combination
        assert (one.columns == ()) == unknown == ("unusual only together" in one.text)
        if one.columns:
            assert one.columns[0] == (row.combination or row.reasons)[0].feature


def test_inside_and_outside_are_what_the_sentence_says(explained):
    for row in outliers(explained):
        for reason in row.first(50):
            if reason.normal and not reason.missing and not isinstance(reason.value, str):
                beyond = " normal value, " in reason.sentence()
                held = reason.normal[0][0] <= reason.value <= reason.normal[-1][1]
                assert beyond != held
                assert ("inside its normal range" in str(reason)) == reason.inside


def test_every_explanation_is_json(explained):
    for row in explained[3]:
        assert json.loads(json.dumps(row.to_dict(), allow_nan=False))["row"] == row.row

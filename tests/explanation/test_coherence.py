"""On real tables: what an explanation says is true, and no two sentences contradict each other."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from refold import REF, CreasedREF, explain
from tests.tables import real_table

from .sentences import Reader

MODELS = {
    "REF": lambda: REF(alpha=0.05),
    "REF, T = 1": REF,
    "REF, L2": lambda: REF(alpha=0.05, distance="l2"),
    "REF, sketch": lambda: REF(alpha=0.05, engine="sketch"),
    "CreasedREF": lambda: CreasedREF(alpha=0.05),
    "CreasedREF without a box": lambda: CreasedREF(alpha=0.05, box=0.0),
}


def of_file(name, rows):
    def load():
        table = pd.read_csv(real_table(name)).select_dtypes("number").astype(float)
        table = table[table.notna().any(axis=1)].sample(frac=1.0, random_state=0)
        return table[:rows], table[rows : rows + 150]

    return load


def of_classes(load, rows):
    def load_classes():
        data = load(as_frame=True)
        usual = data.target == 1
        own, other = data.data[usual], data.data[~usual]
        return own[:rows], pd.concat([own[rows : rows + 60], other[:60]])

    return load_classes


def diabetes():
    table = load_diabetes(as_frame=True, scaled=False).data
    return table[:300], table[300:]


TABLES = {
    "penguins": of_file("penguins.csv", 200),
    "weather": of_file("weather-ewr.csv.gz", 1500),
    "flights": of_file("clean-flights.csv.gz", 1000),
    "taxis": of_file("clean-taxis.csv.gz", 1000),
    "attrition": of_file("natural-attrition.csv.gz", 600),
    "wines": of_classes(load_wine, 50),
    "breast cancer": of_classes(load_breast_cancer, 250),
    "diabetes": diabetes,
}


def disturbed(rows, train, rng):
    """Some values are moved, some are swapped between rows, one is missing."""
    rows = rows.to_numpy(copy=True)
    moved = rng.random(rows.shape) < 0.5 / rows.shape[1]
    rows[moved] += (rng.choice([-0.6, 0.3, 2.0], rows.shape) * np.ptp(train, axis=0))[moved]
    swapped = rng.random(rows.shape) < 0.5 / rows.shape[1]
    rows[swapped] = rows[rng.permutation(len(rows))][swapped]
    rows[0, 0] = np.nan
    return rows


ELSEWHERE = ("taxis", "attrition")  # no package brings them


def cases():
    for table in TABLES:
        for model in MODELS:
            marks = pytest.mark.slow if table in ELSEWHERE else ()
            yield pytest.param((table, model), marks=marks, id=f"{table}, {model}")


@pytest.fixture(scope="module", params=list(cases()))
def told(request):
    table, make = request.param
    train, new = TABLES[table]()
    model = MODELS[make]().fit(train)
    rows = disturbed(new, np.nan_to_num(train.to_numpy()), np.random.default_rng(1))
    rows = pd.DataFrame(rows, columns=train.columns)
    rows = rows[rows.notna().any(axis=1)].reset_index(drop=True)
    read = Reader(train.columns).read
    return model, train, rows, [read(one.text(4)) for one in explain(model, rows)]


def lines(told):
    _, _, rows, texts = told
    for i, text in enumerate(texts):
        for rank, said in enumerate(text.said):
            yield rows.iloc[i], rank, said


def labels(model, rows, columns):
    return model.predict(pd.DataFrame(rows, columns=columns)) if rows else np.array([])


def test_the_verdict_is_what_the_limit_says(told):
    model, _, rows, texts = told
    assert [text.outlier for text in texts] == (model.predict(rows) == -1).tolist()
    assert all((text.times > 1.0) == text.outlier for text in texts)
    times = -model.score_samples(rows) / model.threshold_
    for text, exact in zip(texts, times, strict=True):
        assert text.times == np.inf or text.times == pytest.approx(exact, rel=0.06, abs=0.001)


def test_every_outlier_has_a_reason_or_is_one_by_a_combination(told):
    model, _, rows, texts = told
    for one, text in zip(explain(model, rows), texts, strict=True):
        assert bool(one.sentence()) == text.outlier
        assert text.together == one.together
        if text.outlier and not text.together:
            assert text.said[0].percent >= 10 or len(one.reasons) == 1
        if text.together:
            assert all(reason.share < 0.1 for reason in one.reasons)


def test_what_leads_has_the_largest_share_and_shares_are_no_more_than_all(told):
    for text in told[3]:
        shares = [said.percent for said in text.said]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 100
        assert all(share >= 1 for share in shares)


def test_a_value_that_was_learned_is_not_blamed_alone(told):
    for row, _, said in lines(told):
        if not np.isnan(said.value):
            assert said.inside == (said.off is None and not said.between)
            assert said.inside == (said.holds(said.value) and not said.between)
        if said.inside and len(row) > 1 and said.beside:
            assert said.column not in said.beside
        for name, value in said.beside.items():
            assert value == pytest.approx(row[name], rel=1e-3)


def test_how_far_a_value_is_off_is_what_one_computes(told):
    for _, _, said in lines(told):
        if said.off is not None:
            end = said.normal[-1][1] if said.side == "above" else said.normal[0][0]
            assert said.off == pytest.approx(abs(said.value - end), rel=5e-4)  # four digits
            assert (said.value > end) == (said.side == "above")


def test_what_passes_outside_its_normal_range_is_said(told):
    model, _, rows, texts = told
    for one, text in zip(explain(model, rows), texts, strict=True):
        if one.label == 1:
            outside = [r.feature for r in one.reasons if not r.inside and not r.missing]
            assert set(text.all_the_same) == set(outside)
    for _, _, said in lines(told):
        if said.normal_from is not None:
            assert said.although_outside == (not said.holds(said.normal_from))


def test_what_is_expected_is_not_what_there_is_and_what_is_proposed_is_expected(told):
    for text in told[3]:
        for said in text.said:
            assert said.expected is None or said.expected != said.value
            if said.expected is not None and said.column in text.changes:
                assert text.changes[said.column] == pytest.approx(said.expected, rel=1e-3)


def test_values_that_are_named_are_normal(told):
    model, _, rows, texts = told
    changed = []
    for i, text in enumerate(texts):
        changes = [text.changes] if text.changes else []
        changes += [{s.column: s.normal_from} for s in text.said if s.normal_from is not None]
        changed += [{**rows.iloc[i], **change} for change in changes]
    assert (labels(model, changed, rows.columns) == 1).all()


def test_there_is_a_way_out_of_every_outlier_and_none_of_it_is_needless(told):
    model, _, rows, texts = told
    needless = []
    for i, text in enumerate(texts):
        named = any(said.normal_from is not None for said in text.said)
        ways = named + bool(text.changes) + text.many
        assert ways == text.outlier or (ways == 0 and "flight" in rows)  # nobody changes its name
        if len(text.changes) > 1:
            for kept in text.changes:
                fewer = {name: v for name, v in text.changes.items() if name != kept}
                needless.append({**rows.iloc[i], **fewer})
    assert (labels(model, needless, rows.columns) == -1).mean() > 0.95 or not needless


def test_the_normal_range_is_what_was_learned(told):
    _, train, _, _ = told
    for _, _, said in lines(told):
        learned = train[said.column].dropna()
        slack = 1e-3 * np.abs(learned).max()
        low, high = said.normal[0][0], said.normal[-1][1]
        assert learned.min() - slack <= low <= high <= learned.max() + slack
        held = sum(learned.between(a - slack, b + slack).mean() for a, b in said.normal)
        assert held > 0.97 - 3 / len(learned)  # cells may be cut off
        if said.between:
            assert said.value not in learned.to_numpy()
        if said.expected is not None:
            assert low <= said.expected <= high
        if said.so_far is not None:
            slack = 1e-3 * abs(said.value)
            below, above = learned <= said.value + slack, learned >= said.value - slack
            far = min(below.mean(), above.mean())
            assert far == pytest.approx(said.so_far / 100, abs=0.03)


def test_many_changes_are_normal_too(told):
    model, _, rows, texts = told
    changes = [one.changes for one in explain(model, rows)]
    assert [len(cells) > 6 for cells in changes] == [text.many for text in texts]
    changed = [
        {**rows.iloc[i], **{cell.feature: cell.value for cell in cells}}
        for i, cells in enumerate(changes)
        if len(cells) > 6
    ]
    assert (labels(model, changed, rows.columns) == 1).all()

"""What a model takes as normal, as rules: true of the table, and the same through every format."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector, limits
from refold.base.errors import UserError
from refold.checks import learned_rules
from refold.decisions.rules_reading import read_rules
from tests.tables import real_table


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(real_table("penguins.csv"))


@pytest.fixture(scope="module")
def rules(table):
    return Detector().fit(table).rules_


def violations(table, rule):
    """Count the rows that violate a rule, by pandas."""
    cells, out = table[rule.column], pd.Series(False, index=table.index)
    if rule.min is not None:
        out |= (cells < rule.min) | (cells > rule.max)
    if rule.allowed is not None:
        out |= ~cells.isin(rule.allowed) & cells.notna()
    if rule.required:
        out |= cells.isna()
    for name, value in rule.when.items():
        out &= table[name] == value
    return int(out.sum())


def test_rules_hold_for_the_rows_that_they_were_learned_from(table, rules):
    assert {rule.column for rule in rules} == {*table.columns}
    assert all(violations(table, rule) == 0 for rule in rules)
    assert rules["body_mass_g"].min == table["body_mass_g"].min()
    assert set(rules["island"].allowed) == {*table["island"]}
    assert rules["species"].required
    assert not rules["sex"].required
    assert rules["sex"].support == table["sex"].notna().sum()
    [gentoo] = [rule for rule in rules if rule.when == {"species": "Gentoo"}]
    assert (gentoo.column, gentoo.allowed, gentoo.support) == ("island", ("Biscoe",), 124)


def test_false_alarms_are_those_of_rows_left_out(table, rules):
    for rule in rules:
        if rule.when or rule.min is None:
            continue
        cells = table[rule.column].dropna()
        outside = sum(
            not cells.drop(row).min() <= cells[row] <= cells.drop(row).max() for row in cells.index
        )
        assert rule.false_alarms == pytest.approx(outside / len(cells))


def test_values_that_one_row_has_are_false_alarms():
    rows = [{"part": "ABCDE"[k % 5] if k > 3 else f"new {k}"} for k in range(400)]
    rule = Detector(roles={"part": "category"}).fit(rows).rules_["part"]
    assert len(rule.allowed) == 9
    assert rule.false_alarms == pytest.approx(4 / 400)


def test_what_is_said_of_false_alarms_holds_on_new_rows():
    flights = pd.read_csv(real_table("clean-flights.csv.gz")).sample(frac=1.0, random_state=0)
    old, new = flights[:3000], flights[3000:]
    rules = Detector(n_jobs=1).fit(old).rules_
    asked = [rule for rule in rules if rule.min is None or not isinstance(rule.min, str)]
    asked = [rule for rule in asked if rule.format is None]
    said = sum(rule.false_alarms * rule.support for rule in asked)
    met = sum(violations(new, rule) for rule in asked)
    assert len([rule for rule in asked if rule.when]) > 10
    assert met <= 1.5 * said + 10


def test_formats_are_learned_of_codes():
    rng = np.random.default_rng(0)
    codes = [
        f"{a}{b}-{n:04d}"
        for a, b, n in zip(
            rng.choice([*"ABCDEF"], 400),
            rng.choice([*"XYZ"], 400),
            rng.integers(0, 9999, 400),
            strict=True,
        )
    ]
    model = Detector(roles={"code": "identifier"}).fit(
        pd.DataFrame({"code": codes, "x": rng.normal(size=400)})
    )
    assert model.rules_["code"].format == ("AA-9999",)
    again = Detector(roles={"code": "identifier"}, rules=model.rules_.to_dict()).fit(
        pd.DataFrame({"code": codes, "x": rng.normal(size=400)})
    )
    found = again.explain(pd.DataFrame({"code": ["AX-77"], "x": [0.0]}))[0]
    assert found.sentence() == "code 'AX-77' does not have the format you set, AA-9999"


def test_edited_rules_come_back(table, rules, tmp_path):
    assert tomllib.loads(rules.to_toml()) == json.loads(rules.to_json()) == rules.to_dict()
    given = tomllib.loads(rules.to_toml())
    given["body_mass_g"]["max"] = 6000.0
    model = Detector(rules=given, n_jobs=1).fit(table)
    assert [each.column for each in model.noticed_ if each.kind == "outside-rule"] == [
        "body_mass_g"
    ]
    odd = table[table["species"] == "Gentoo"].head(1).assign(island="Dream")
    assert model.explain(odd)[0].sentence().endswith("where species = Gentoo")
    heavy = table[table["body_mass_g"] > 6000.0]
    assert (model.predict(heavy) == -1).all()


def test_names_and_values_of_any_kind_are_written_as_toml():
    rows = [{'a "b".c\n=': "x\\y ü"[k % 3 :], "é": 1.5 + k % 4} for k in range(100)]
    rules = Detector().fit(rows).rules_
    assert tomllib.loads(rules.to_toml()) == rules.to_dict()
    assert read_rules(rules.to_dict())


def test_sql_counts_what_violates_each_rule(table, rules):
    duckdb = pytest.importorskip("duckdb")
    bad = table.assign(
        body_mass_g=table["body_mass_g"].where(table.index != 3, 99.0),
        island=table["island"].where(table.index > 1, "Dreem"),
        species=table["species"].where(table.index != 9, None),
    )
    with duckdb.connect() as connection:
        connection.register("birds", bad)
        found = dict(connection.execute(rules.to_sql("birds")).fetchall())
    assert found == {str(rule): violations(bad, rule) for rule in rules}
    assert sum(found.values()) >= 4
    for dialect in ("postgres", "sqlite", "snowflake", "bigquery"):
        assert rules.to_sql("birds", dialect).count("SELECT") == len(rules)


def test_sqlite_is_told_that_it_has_no_regular_expressions():
    codes = [{"code": f"A{k:03d}", "x": k % 7} for k in range(100)]
    rules = Detector(roles={"code": "identifier"}).fit(codes).rules_
    with pytest.raises(UserError, match="SQLite has no regular expressions: the format of 'code'"):
        rules.to_sql("t", "sqlite")


def test_a_pandera_schema_says_the_same(table, rules, monkeypatch):
    for name in ("PYARROW_IGNORE_TIMEZONE", "SPARK_LOCAL_IP"):  # set by what pandera imports
        monkeypatch.setenv(name, "")
    pandera = pytest.importorskip("pandera")
    scope = {}
    exec(rules.to_pandera(), scope)
    scope["schema"].validate(table)
    for bad in (
        table.assign(body_mass_g=99.0),
        table.assign(island="Dreem"),
        table.assign(species=None),
        table.assign(island="Dream"),  # no Gentoo lives there
    ):
        with pytest.raises(pandera.errors.SchemaError):
            scope["schema"].validate(bad)


def test_a_data_contract_has_what_the_standard_has_words_for(rules):
    contract = json.loads(rules.to_odcs("birds"))
    assert (contract["kind"], contract["apiVersion"]) == ("DataContract", "v3.1.0")
    [schema] = contract["schema"]
    by_name = {each["name"]: each for each in schema["properties"]}
    assert by_name["body_mass_g"]["logicalTypeOptions"] == {"minimum": 2700.0, "maximum": 6300.0}
    assert by_name["species"]["required"] is True
    [valid] = by_name["sex"]["quality"]
    assert valid["arguments"] == {"validValues": ["male", "female"]}
    assert "${object}" in schema["quality"][0]["query"]


def test_models_of_numbers_have_ranges_too():
    X = np.random.default_rng(0).normal(size=(300, 2)).round(1)
    for model in (REF(), CreasedREF()):
        rules = model.fit(X).rules_
        assert (rules["x1"].min, rules["x1"].max) == (X[:, 1].min(), X[:, 1].max())
        assert rules["x1"].support == 300


def test_numbers_that_are_judged_in_their_context_have_no_range():
    rows = [{"machine": "AB"[k % 2], "x": 10.0 * (k % 2) + k % 7, "y": k % 5} for k in range(200)]
    rules = learned_rules(Detector(by="machine").fit(rows))
    assert rules.left_out == ("x", "y")
    assert "Normal by what is expected in their context" in str(rules)


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_detection_limits_are_those_with_the_rules(method):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 2)).round(2), columns=["a", "b"])
    rules = {"a": {"direction": "high"}, "b": {"max": float(X["b"].max()) + 0.1}}
    found = limits(Detector(method=method, rules=rules, n_jobs=1).fit(X))
    plain = limits(Detector(method=method, n_jobs=1).fit(X))
    assert found["a"].down_50 is None
    assert plain["a"].down_50 is not None
    assert found["a"].up_90 is not None
    assert found["b"].up_90 < plain["b"].up_90 * 1.5

"""Which tables two models can be compared on, and what is said where there is little to say."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, Detector, compare
from refold.base.errors import UserError
from refold.checks import Comparer
from refold.checks._compare.unit_change import LearnedValues, unit_change
from refold.judgement import Judgement


@pytest.fixture
def rows(rng):
    return pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])


@pytest.fixture
def named(rows):
    return REF(alpha=0.05).fit(rows)


@pytest.fixture
def unnamed(rows):
    return REF(alpha=0.05).fit(rows.to_numpy() * 1.5)


def test_a_model_without_names_takes_the_columns_in_their_order(named, unnamed, rows):
    found = compare(named, unnamed, rows)
    before, after = named.predict(rows), unnamed.predict(rows.to_numpy())
    assert found.n_changed == np.count_nonzero(before != after) > 0


def test_a_table_of_another_width_is_no_order_of_columns(named, unnamed, rows):
    with pytest.raises(
        UserError, match="new was fitted without column names on 3 columns; X has 4"
    ):
        compare(named, unnamed, rows.assign(d=0.0))


def test_an_array_is_enough_where_both_models_have_the_same_columns(named, rows):
    other = REF(alpha=0.2).fit(rows)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = compare(named, other, rows.to_numpy())
    assert found.n_changed == compare(named, other, rows).n_changed > 0


def test_records_are_for_models_of_tables(named, rows):
    records = rows.to_dict("records")
    with pytest.raises(UserError, match="old is a REF, which takes no lists of records"):
        compare(named, Detector().fit(records), records)


def test_blocks_of_different_length_are_not_the_same_rows(named, rows):
    comparer = Comparer(named, named)
    with pytest.raises(ValueError, match="old judges 300 rows and new 299"):
        comparer.update(Judgement.of(named, rows), Judgement.of(named, rows[1:]))


def test_one_row_without_a_value_is_said_in_the_singular(named, rows):
    found = compare(named, named, rows[:1] * np.nan)
    assert found.headline() == "The only row is not judged by both models."


def test_other_distances_with_the_same_verdicts_are_no_change_of_verdict(named, rows):
    other = REF(alpha=0.05).fit(rows * 1.0001)
    found = compare(named, other, rows[:20] * 0.1)
    assert found.headline() == "No verdict changes: all 20 rows stay what they are."


def test_a_role_that_is_another_makes_the_column_differ(rng):
    table = pd.DataFrame({"a": rng.normal(size=300), "code": rng.integers(1, 4, 300).astype(str)})
    roles = ("category", "ignore")
    old, new = (Detector(roles={"code": role}).fit(table) for role in roles)
    (column,) = [each for each in compare(old, new, table).columns if each.name == "code"]
    assert column.differs
    assert column.remarks() == ["a category to old, ignored to new"]


def test_many_columns_in_other_units_are_counted_beyond_a_dozen(rng):
    X = rng.normal(5, 1, size=(300, 15))
    text = compare(REF(alpha=0.05).fit(X), REF(alpha=0.05).fit(X * 25.4), X).text(0)
    assert text.count("as mm are to inches") == 12
    assert "And 3 more such notes." in text
    assert "and 3 more columns that differ" in text


@pytest.mark.parametrize(
    ("factor", "offset", "said"),
    [
        (1.0, 273.15, "learned values of new are those of old + 273.15, as K are to °C"),
        (1.8, 32.0, "learned values of new are 1.8 × those of old + 32, as °F are to °C"),
        (1.0, -273.15, "learned values of new are those of old − 273.15, as °C are to K"),
    ],
)
def test_an_offset_is_said_with_its_sign(rng, factor, offset, said):
    old = np.sort(rng.normal(300, 5, 257))
    change = unit_change(LearnedValues(old, 500, 0), LearnedValues(factor * old + offset, 500, 0))
    assert str(change) == said


def test_a_large_factor_that_has_no_name_is_found_in_other_rows_of_the_column(rng):
    some, others = (np.sort(rng.lognormal(3, 0.1, 257)) for _ in range(2))
    change = unit_change(LearnedValues(some, 257, 0), LearnedValues(200.0 * others, 257, 0))
    assert (change.exact, change.like) == (False, "")
    assert change.factor == pytest.approx(200.0, rel=0.1)

"""Other units are seen from what two models remember, and other data is not taken for them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from refold import REF, CreasedREF, Detector, compare
from refold.checks._compare.unit_change import LearnedValues, unit_change
from tests.tables import real_table

MODELS = {
    "REF": lambda: REF(alpha=0.05),
    "REF, sketch": lambda: REF(engine="sketch"),
    "CreasedREF": lambda: CreasedREF(alpha=0.05),
    "Detector": lambda: Detector(),
    "Detector, ref": lambda: Detector(method="ref"),
}


def values(sample):
    """What a model remembers of a column, by the definition of a quantile."""
    shares = np.arange(257) / 256
    quantiles = np.quantile(np.asarray(sample, dtype=float), shares, method="inverted_cdf")
    return LearnedValues(quantiles, len(sample), 0.0)


def units_of(found):
    return {column.name: column.units for column in found.columns if column.units is not None}


@pytest.mark.parametrize("name", MODELS)
def test_a_column_in_cm_instead_of_mm_is_named_by_every_model(name):
    table = pd.read_csv(real_table("penguins.csv")).select_dtypes("number").dropna()
    other = table.assign(flipper_length_mm=table["flipper_length_mm"] / 10)
    found = compare(MODELS[name]().fit(table), MODELS[name]().fit(other), table)
    assert list(units_of(found)) == ["flipper_length_mm"]
    assert units_of(found)["flipper_length_mm"].factor == pytest.approx(0.1, rel=1e-3)
    assert "as cm are to mm" in str(found)


@pytest.mark.parametrize(
    ("convert", "factor", "offset", "like"),
    [
        (lambda c: 1.8 * c + 32, 1.8, 32.0, "as °F are to °C"),
        (lambda c: (c - 32) / 1.8, 1 / 1.8, -32 / 1.8, "as °C are to °F"),
        (lambda c: c + 273.15, 1.0, 273.15, "as K are to °C"),
        (lambda c: -c, -1.0, 0.0, "with the other sign"),
        (lambda c: 25.4 * c, 25.4, 0.0, "as mm are to inches"),
        (lambda c: 17 * c, 17.0, 0.0, ""),
        (lambda c: 1.07 * c - 3, 1.07, -3.0, ""),
    ],
)
def test_the_same_rows_in_other_units_are_told_exactly(convert, factor, offset, like):
    weather = pd.read_csv(real_table("weather-ewr.csv.gz"))["temp"].dropna()
    found = unit_change(values(weather), values(convert(weather)))
    assert (found.factor, found.offset) == pytest.approx((factor, offset), rel=1e-6, abs=1e-6)
    assert found.like == like
    assert found.exact or factor < 0  # quantiles of few rows are not symmetric


@pytest.mark.parametrize("digits", [6, 2])
def test_other_rows_in_other_units_are_told_too_even_rounded(digits):
    weather = (
        pd.read_csv(real_table("weather-ewr.csv.gz"))["temp"]
        .dropna()
        .sample(frac=1, random_state=0)
    )
    half = len(weather) // 2
    celsius = ((weather[half:] - 32) / 1.8).round(digits)
    found = unit_change(values(weather[:half]), values(celsius))
    assert found.like == "as °C are to °F"
    assert not found.exact


def test_other_units_are_told_where_the_season_has_changed_too():
    weather = pd.read_csv(real_table("weather-ewr.csv.gz"))
    spring, autumn = (weather[rows] for rows in (weather["month"] <= 6, weather["month"] > 6))
    celsius = autumn.assign(temp=((autumn["temp"] - 32) / 1.8).round(1))
    named = [name for name in weather.select_dtypes("number") if name not in ("year", "month")]
    found = {
        name: unit_change(values(spring[name].dropna()), values(celsius[name].dropna()))
        for name in named
    }
    assert {name for name, units in found.items() if units} == {"temp"}
    assert found["temp"].like == "nearly as °C are to °F"


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_halves_of_a_table_are_in_the_same_units(load):
    data = load().data
    for column in data.T:
        assert unit_change(values(column[::2]), values(column[1::2])) is None


def test_other_kinds_of_flowers_wines_and_cells_are_not_other_units():
    """Real differences, some large: petals of one iris are ten times as wide as another's."""
    pairs = [
        (column, values(data.data[data.target == a, k]), values(data.data[data.target == b, k]))
        for data in (load_iris(), load_wine(), load_breast_cancer())
        for a, b in itertools.combinations(np.unique(data.target), 2)
        for k, column in enumerate(data.feature_names)
    ]
    told = [column for column, old, new in pairs if unit_change(old, new) is not None]
    assert len(pairs) == 81
    assert told == ["petal width (cm)"]


@pytest.mark.parametrize("factor", [2.54, 1 / 2.54, 10.0, 25.4, 0.001])
def test_many_other_rows_tell_a_usual_conversion(factor):
    rng = np.random.default_rng(0)
    old, new = rng.normal(50, 5, size=(2, 5000))
    found = unit_change(values(old), values(factor * new))
    assert found.factor == pytest.approx(factor)
    assert found.like.startswith("as ")


@pytest.mark.parametrize("shift", [0.3, 1.0, 3.0])
def test_data_that_has_moved_is_not_in_other_units(shift):
    rng = np.random.default_rng(0)
    old, new = rng.normal(50, 5, size=(2, 2000))
    assert unit_change(values(old), values(new + 5 * shift)) is None


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100.0), st.integers(20, 400))
def test_the_way_back_is_the_inverse(seed, factor, rows):
    sample = np.random.default_rng(seed).gamma(2.0, size=rows)
    there = unit_change(values(sample), values(factor * sample))
    back = unit_change(values(factor * sample), values(sample))
    if there is None:
        assert abs(factor - 1.0) < 1e-8
        assert back is None
    else:
        assert there.factor == pytest.approx(factor, rel=1e-5)
        assert there.factor * back.factor == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e200, 1e307])
def test_very_small_and_very_large_values_do_no_harm(scale):
    sample = np.linspace(0.1, 1.0, 300) * scale
    for other in (sample, sample[::-1], -sample, np.full(300, scale), np.zeros(300)):
        unit_change(values(sample), values(other))  # a warning would be an error


def test_columns_that_are_mostly_zero_have_no_units():
    rng = np.random.default_rng(0)
    often, rarely = (
        np.where(rng.random(2000) < share, rng.random(2000), 0.0) for share in (0.9, 0.02)
    )
    assert unit_change(values(often), values(rarely)) is None
    assert unit_change(values(rarely), values(often)) is None


def test_a_constant_column_says_nothing_of_units():
    assert unit_change(values([5.0] * 50), values([127.0] * 50)) is None

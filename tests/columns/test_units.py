"""How units are converted, against the constants of SciPy."""

import numpy as np
import pytest
from scipy import constants as c

from refold.columns.units import CONVERSIONS, is_currency, is_unit

LITRE, KNOT, INCH_OF_MERCURY = 1e-3, c.nautical_mile / c.hour, 25.4 * c.mmHg
# How large each unit is, in one of its kind.
SIZES = {
    "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "inches": c.inch, "feet": c.foot,
    "miles": c.mile, "nautical miles": c.nautical_mile, "g": 1e-3, "kg": 1.0, "pounds": c.lb,
    "ounces": c.oz, "litres": LITRE, "gallons": c.gallon, "km/h": c.kmh, "mph": c.mph,
    "knots": KNOT, "m/s": 1.0, "seconds": 1.0, "minutes": c.minute, "hours": c.hour,
    "days": c.day, "weeks": c.week, "kJ": 1e3, "kcal": 1e3 * c.calorie_th, "kPa": 1e3,
    "hPa": 1e2, "psi": c.psi, "bar": c.bar, "inches of mercury": INCH_OF_MERCURY,
    "degrees": c.degree, "radians": 1.0, "millionths": 1e-6, "whole ones": 1.0,
    "m, or percent are to shares": 1.0, "kg, mm are to m, or ms to s": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("conversion", CONVERSIONS, ids=lambda each: f"{each.unit} {each.of}")
def test_numbers_in_another_unit_come_back(conversion):
    values = np.array([-40.0, 0.0, 36.6, 451.0])
    temperatures = {"K", "°C", "°F"}
    if {conversion.unit, conversion.of} <= temperatures:
        short = {"K": "Kelvin", "°C": "Celsius", "°F": "Fahrenheit"}
        expected = c.convert_temperature(values, short[conversion.unit], short[conversion.of])
    else:
        expected = values * SIZES[conversion.unit] / SIZES[conversion.of]
    np.testing.assert_allclose(conversion.back(values), expected, rtol=1e-5, atol=1e-9)


def test_only_powers_of_ten_move_the_point():
    moved = {each.unit for each in CONVERSIONS if each.decimal}
    assert moved == {"mm", "cm", "g", "millionths"}


@pytest.mark.parametrize(
    ("text", "spaced", "unit"),
    [
        ("kg", False, True),
        ("K", False, True),
        ("°C", False, True),
        ("m²", False, True),
        ("€", False, True),
        ("rooms", True, True),
        ("rooms", False, False),
        ("of the day", True, True),
        ("of the whole day", True, False),
        ("3rd", True, False),
        ("", True, False),
    ],
)
def test_units_stand_behind_numbers_words_behind_a_space(text, spaced, unit):
    assert is_unit(text, spaced=spaced) == unit


def test_currencies_have_a_sign_or_a_name():
    for text in ("$", "US$", "kr", "Fr.", "CHF"):
        assert is_currency(text)
    for text in ("", "No.", "ABCD$", "x"):
        assert not is_currency(text)

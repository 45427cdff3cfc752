"""Units and currencies: beside numbers, and how one is converted to another."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from refold._typing import Floats
from refold.columns.name_hints import word_set

_SYMBOLS = "$€£¥₹₽₩₺₪฿₫₴₦₱"
_CURRENCIES = word_set(
    "USD EUR GBP CHF JPY CNY RMB SEK NOK DKK ISK PLN CZK HUF RON INR BRL CAD AUD NZD ZAR MXN RUB "
    "TRY ILS KRW SGD HKD THB kr kr. Kr Kr. Rs Rs. zł Kč Ft Fr Fr. SFr SFr. Euro"
)
_CURRENCY = re.compile(rf"[A-Za-z]{{0,3}}[{_SYMBOLS}]")
# Units that are written without a space; others are only taken for one behind a space.
_UNITS = word_set(
    "kg g mg µg μg ug ng t lb lbs oz km m cm mm µm μm um nm mi ft in yd l L ml mL cl dl dL gal Hz "
    "kHz MHz GHz W kW MW GW Wh kWh MWh V mV kV A mA J kJ MJ cal kcal Pa hPa kPa MPa bar mbar psi "
    "K C F N kN Nm rpm mph kph kmh kmph kmpl kt kts kn dB dBm lx lm cd mol px B KB kB MB GB TB "
    "KiB MiB GiB kbps Mbps Gbps ppm ppb hp PS bhp cc CC ccm ha sqm sqft m2 m3 cm2 cm3 km2 ft2 ft3 "
    "x + pp bp yrs"
)
_SIGN = re.compile(r"[^\s0-9()]{0,8}[%‰°/²³Ωµμ\"″′][^\s0-9()]{0,8}")
_WORDS = re.compile(r"[^\W\d_][^\W\d_.%/°²³]{0,15}\.?(?: [^\W\d_]{1,12}){0,2}")
# Thousands, millions: without it a number beside them would mean something else.
SCALES = word_set("k K M B T m bn mn mio mrd Mio Mrd Mio. Mrd. million billion")


class Conversion(NamedTuple):
    """A value in `unit` is factor · (one in `of`) + offset."""

    factor: float
    offset: float
    unit: str
    of: str

    @property
    def decimal(self) -> bool:
        """Whether it moves the decimal point."""
        return self.offset == 0.0 and math.log10(self.factor).is_integer()

    def back(self, values: Floats) -> Floats:
        """Return numbers in `unit` as they are in `of`."""
        return (values - self.offset) / self.factor


CONVERSIONS = (
    Conversion(10.0, 0.0, "mm", "cm"),
    Conversion(100.0, 0.0, "cm", "m, or percent are to shares"),
    Conversion(1e3, 0.0, "g", "kg, mm are to m, or ms to s"),
    Conversion(1e6, 0.0, "millionths", "whole ones"),
    Conversion(25.4, 0.0, "mm", "inches"),
    Conversion(2.54, 0.0, "cm", "inches"),
    Conversion(12.0, 0.0, "inches", "feet"),
    Conversion(1 / 0.3048, 0.0, "feet", "m"),
    Conversion(1.609344, 0.0, "km", "miles"),
    Conversion(1.852, 0.0, "km", "nautical miles"),
    Conversion(1 / 0.45359237, 0.0, "pounds", "kg"),
    Conversion(28.349523125, 0.0, "g", "ounces"),
    Conversion(453.59237, 0.0, "g", "pounds"),
    Conversion(3.785411784, 0.0, "litres", "gallons"),
    Conversion(3.6, 0.0, "km/h", "m/s"),
    Conversion(1 / 0.44704, 0.0, "mph", "m/s"),
    Conversion(1.943844, 0.0, "knots", "m/s"),
    Conversion(7.0, 0.0, "days", "weeks"),
    Conversion(24.0, 0.0, "hours", "days"),
    Conversion(60.0, 0.0, "minutes", "hours"),
    Conversion(1440.0, 0.0, "minutes", "days"),
    Conversion(3600.0, 0.0, "seconds", "hours"),
    Conversion(86400.0, 0.0, "seconds", "days"),
    Conversion(4.184, 0.0, "kJ", "kcal"),
    Conversion(6.894757, 0.0, "kPa", "psi"),
    Conversion(14.503774, 0.0, "psi", "bar"),
    Conversion(33.863886, 0.0, "hPa", "inches of mercury"),
    Conversion(180 / math.pi, 0.0, "degrees", "radians"),
    Conversion(1.8, 32.0, "°F", "°C"),
    Conversion(1.0, 273.15, "K", "°C"),
    Conversion(1.8, -459.67, "°F", "K"),
)


def is_currency(text: str) -> bool:
    """Whether a text is the sign or the name of a currency.

    >>> is_currency("US$"), is_currency("kr"), is_currency("No.")
    (True, True, False)
    """
    return text in _CURRENCIES or bool(_CURRENCY.fullmatch(text))


def is_unit(text: str, *, spaced: bool) -> bool:
    """Whether a text behind a number is a unit or a currency.

    >>> is_unit("km/h", spaced=False), is_unit("rooms", spaced=True), is_unit("nd", spaced=False)
    (True, True, False)
    """
    if text in _UNITS or text in SCALES or is_currency(text) or _SIGN.fullmatch(text):
        return True
    return spaced and bool(_WORDS.fullmatch(text))

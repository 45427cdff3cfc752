"""Units and currencies beside numbers."""

from __future__ import annotations

import re

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


def is_currency(text: str) -> bool:
    """Whether a text is the sign or the name of a currency.

    Examples
    --------
    >>> from refold.columns.units import is_currency
    >>> is_currency("US$"), is_currency("kr"), is_currency("No.")
    (True, True, False)
    """
    return text in _CURRENCIES or bool(_CURRENCY.fullmatch(text))


def is_unit(text: str, *, spaced: bool) -> bool:
    """Whether a text behind a number is a unit or a currency.

    Examples
    --------
    >>> from refold.columns.units import is_unit
    >>> is_unit("km/h", spaced=False), is_unit("rooms", spaced=True), is_unit("nd", spaced=False)
    (True, True, False)
    """
    if text in _UNITS or text in SCALES or is_currency(text) or _SIGN.fullmatch(text):
        return True
    return spaced and bool(_WORDS.fullmatch(text))

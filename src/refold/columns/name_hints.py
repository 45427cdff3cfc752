"""What the name of a column says about its numbers."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|[0-9]+")
_LONGEST = 200
_CODES = word_set(
    "zip zipcode postal postcode postalcode plz phone telephone tel mobile fax code codes flight "
    "block precinct tract ean isbn issn iban bic upc gtin sku asin fips ssn vin cusip isin naics "
    "sic icd cpt hs guid uuid cik permno gvkey ticket barcode imei mac ip asn"
)
_IDS = word_set(
    "id ids ident identifier key idnum pidnum idno caseno uid pid cid gid sid oid uuid guid"
)
_ID_OF = re.compile(
    "(?:user|cust|customer|client|person|patient|race|driver|location|order|product|case|state|"
    "county|country|city|site|subject|station|store|shop|item|session|event|firm|company|school|"
    "class|house|household|family|child|emp|employee|staff|dept|group|team|player|game|match|trip|"
    "vendor|film|movie|book|cell|account|device|machine|sensor|record|row|sample|student|teacher|"
    "village|district|region|hh|ind|indiv|individual|worker|member)_?id"
)
# Codes if the whole name is this word.
_ALONE = word_set(
    "state statefip county country region district msa race ethnicity religion industry "
    "occupation occ nationality "
    "department dept firm sector location"
)
# What has a number that is a name: room number, lot no.
_NUMBERED = word_set(
    "serial part lot sample batch invoice order account customer case model room house phone "
    "flight train bus route policy license licence passport tax card item employee member patient "
    "tail"
)
_NUMBER = word_set("number no nr num nummer numero")
_MEASURED = word_set(
    "count counts num n number amount rate ratio length total sum avg average mean median min max "
    "size year years age price cost rating score minutes minute hours hour days day calls charge "
    "weight distance time duration pct percent percentage share qty quantity width height area "
    "level delay speed growth index per lines population density income freq frequency std var "
    "log sqrt change diff value"
)
_TIMES = word_set(
    "time timestamp timestamps date datetime created updated modified ts epoch unix when since "
    "zeit datum zeitstempel fecha hora heure temps started ended start end seen login"
)
_BIRTHS = word_set("birth birthday birthdate dob born geburt geburtsdatum geburtstag naissance")
_DURATIONS = word_set(
    "duration elapsed length runtime laptime lap took taken dauer laufzeit durée duree duración "
    "duracion interval wait waiting delay uptime downtime"
)
_ROWS = word_set("index idx row rows rownum rowname rownames rownumber obs unnamed seq")


def name_words(name: str) -> list[str]:
    """Return the words of a name in small letters.

    >>> name_words("PULocationID"), name_words("zip_code2")
    (['pu', 'location', 'id'], ['zip', 'code', '2'])
    """
    return [word.lower() for word in _WORD.findall(name[:_LONGEST])]


def says_code(name: str) -> bool:
    """Whether numbers so called are names of things: postcodes, flights, identifiers.

    >>> [says_code(name) for name in ("zip", "flight number", "flight_time", "number of flights")]
    [True, True, False, False]
    """
    parts = name_words(name)
    if says_identifier(name):
        return True
    numbered = len(parts) > 1 and parts[-1] in _NUMBER
    if numbered and (parts[-2] in _NUMBERED or parts[-2] in _CODES):
        return True
    if any(part in _MEASURED for part in parts):
        return False
    if any(part in _CODES or part.endswith("code") for part in parts):
        return True
    return len(parts) == 1 and parts[0] in _ALONE


def says_identifier(name: str) -> bool:
    """Whether the name says that values identify something."""
    parts = name_words(name)
    if not parts or any(part in _MEASURED for part in parts):
        return False
    return parts[-1] in _IDS or any(map(_ID_OF.fullmatch, parts)) or parts[0] == "id"


def says_time(name: str) -> bool:
    """Whether the name says that values are moments in time.

    >>> [says_time(name) for name in ("created_at", "at_bat")]
    [True, False]
    """
    parts = name_words(name)
    return any(part in _TIMES for part in parts) or parts[-1:] == ["at"]  # created at


def says_birth(name: str) -> bool:
    """Whether the name says that dates are those of births, not of records."""
    return any(part in _BIRTHS for part in name_words(name))


def says_duration(name: str) -> bool:
    """Whether the name says how long something takes."""
    return any(part in _DURATIONS for part in name_words(name))


def says_row(name: str) -> bool:
    """Whether the name says that values count or identify the rows."""
    parts = name_words(name)
    return not parts or name == "X" or parts[0] in _ROWS or says_identifier(name)

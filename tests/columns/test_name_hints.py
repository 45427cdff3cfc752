"""What the words of a name say."""

import pytest

from refold.columns.name_hints import (
    name_words,
    says_birth,
    says_code,
    says_duration,
    says_identifier,
    says_row,
    says_time,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flightNumber", ["flight", "number"]),
        ("IPAddress2", ["ip", "address", "2"]),
        ("größe_mm", ["gr", "öß", "e", "mm"]),
        ("", []),
        ("a " * 150, ["a"] * 100),  # of a long name the first 200 letters
    ],
)
def test_the_words_of_a_name(name, words):
    assert name_words(name) == words


NAMES = {
    "code": ["zip", "flight no", "lot number", "user_id", "state", "zipcode2", "barcode", "guid"],
    "no code": ["number", "state population", "no", "year", "zip count", "number of lots", "x", ""],
    "identifier": ["id", "ID", "customer_id", "customerid", "idOfRow", "row_uid", "sensorid"],
    "no identifier": ["idle", "id count", "paid", "customer", "valid", ""],
    "time": ["created_at", "timestamp", "date", "end", "at"],
    "no time": ["at_bat", "price", ""],
    "birth": ["date_of_birth", "DOB"],
    "no birth": ["birthrate", "created"],
    "duration": ["elapsed", "took ms", "lap_time_interval"],
    "no duration": ["lapse", "time"],
    "row": ["index", "row number", "X", "", "idx2", "machine_id"],
    "no row": ["x", "torque", "arrow", "in row"],
}


SAYS = {
    "code": says_code,
    "identifier": says_identifier,
    "time": says_time,
    "birth": says_birth,
    "duration": says_duration,
    "row": says_row,
}


@pytest.mark.parametrize("kind", SAYS)
def test_names_say_what_their_words_mean(kind):
    assert {name: SAYS[kind](name) for name in NAMES[kind]} == dict.fromkeys(NAMES[kind], True)
    others = NAMES[f"no {kind}"]
    assert {name: SAYS[kind](name) for name in others} == dict.fromkeys(others, False)

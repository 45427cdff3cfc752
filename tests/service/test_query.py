"""Whatever the address and headers of a request say, the answer is a sentence or verdicts."""

import re
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refold.service.errors import RequestError
from refold.service.requests import score_query

JSON = "application/json"
NUMBERS = st.integers(-10, 3000).map(str) | st.from_regex(r"[0-9+\-_. ]{0,30}", fullmatch=True)
WORDS = st.sampled_from(["short", "full", "error", "skip", "judge", "", "Full", "0"]) | st.text(
    max_size=10
)
NAMES = st.sampled_from(["reasons", "explain", "on_bad"]) | st.text(max_size=10)
QUERIES = st.lists(st.tuples(NAMES, NUMBERS | WORDS), max_size=5)


def asked(pairs):
    return "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs).encode()


@settings(max_examples=300)
@given(QUERIES)
@example([("reasons", "0" * 10 + "1000000")])
@example([("reasons", "9" * 4409)])
@example([("reasons", "٣")])
@example([("reasons", "1"), ("reasons", "2")])
def test_parameters_mean_what_they_say_or_are_refused(pairs):
    given_ = dict(pairs)
    right = (
        len(given_) == len(pairs)
        and given_.keys() <= {"reasons", "explain", "on_bad"}
        and re.fullmatch(r"0|[1-9]\d{0,2}|1000", given_.get("reasons", "3"), re.ASCII)
        and given_.get("explain", "short") in ("short", "full")
        and given_.get("on_bad", "error") in ("error", "skip", "judge")
    )
    if not right:
        with pytest.raises(RequestError, match=r"parameter|must be|twice") as caught:
            score_query(asked(pairs), JSON, None, None)
        assert caught.value.status == 400
        return
    found = score_query(asked(pairs), JSON, None, None)
    assert found.reasons == int(given_.get("reasons", "3")) <= 1000
    assert found.full == (given_.get("explain") == "full")
    assert found.on_bad == given_.get("on_bad", "error")


@settings(max_examples=200)
@given(
    st.binary(max_size=60),
    st.none() | st.text(max_size=30),
    st.none() | st.text(max_size=30),
    st.none() | st.text(max_size=10),
)
def test_any_query_and_any_header_is_understood_or_refused(query, kind, accept, encoding):
    refused = None
    try:
        score_query(query, kind, accept, encoding)
    except RequestError as error:
        refused = error
    if refused is not None:
        assert 400 <= refused.status < 500
        assert refused.message.isprintable()


@pytest.mark.parametrize(
    "value", ["0000000001000000", "9" * 4409, "007", "1e2", "%D9%A3", "", "+3"]
)
def test_a_number_of_reasons_that_is_none_is_refused_by_the_service(client, value):
    rows = [{"x0": 0.1, "x1": 0.2, "x2": 0.3}]
    answer = client.post(f"/v1/models/ref/score?reasons={value}", json=rows)
    assert answer.status_code == 400
    assert "0 to 1000" in answer.json()["error"]


def test_more_reasons_than_columns_are_all_columns(client):
    rows, csv = [{"x0": 9.0, "x1": 9.0, "x2": 9.0}], {"accept": "text/csv"}
    table = client.post("/v1/models/ref/score?reasons=1000", json=rows, headers=csv).text
    assert table.splitlines()[0].count("reason_") == 3

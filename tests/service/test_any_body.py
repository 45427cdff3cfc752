"""Whatever a body holds, the answer is verdicts or a sentence, and never a fault of the service."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CELLS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**308, -(10**309), 2**63, 10**400, 5e-324, 1.7e308])
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["Adelie", "Torgersen", "male", "NA", "2007", "1e5", "\ud800", "\x00", "−3"])
)
NESTED = CELLS | st.lists(CELLS, max_size=2)
NESTED |= st.dictionaries(st.text(max_size=3), CELLS, max_size=2)
TEXTS = ["species", "island", "sex"]
NUMBERS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"]
FLOATS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
SCALARS = st.none() | st.booleans() | st.text(max_size=12) | st.floats(-1e9, 1e9)
ALLOWED = st.fixed_dictionaries(dict.fromkeys(TEXTS, SCALARS) | dict.fromkeys(NUMBERS, FLOATS))
OTHERS = st.sampled_from([*TEXTS, *NUMBERS]) | st.text(max_size=3)
ROW = ALLOWED | st.builds(dict, ALLOWED, sex=CELLS, year=CELLS)
ROW |= st.dictionaries(OTHERS, NESTED, max_size=8)
BODIES = st.lists(ALLOWED, min_size=1, max_size=4) | st.lists(ROW | NESTED, max_size=4) | NESTED
ASKED = st.sampled_from(
    ["", "reasons=0", "explain=full", "on_bad=skip", "on_bad=judge&explain=full"]
)
ACCEPTED = st.sampled_from(["application/json", "application/x-ndjson", "text/csv"])
ANY_BYTES = st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8"))


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(BODIES, ASKED, ACCEPTED, st.sampled_from(["penguins", "penguins-ref"]))
def test_any_json(client, body, asked, accepted, name):
    sent = json.dumps(body).encode("utf-8", "surrogatepass")
    headers = {"content-type": "application/json", "accept": accepted}
    answer = client.post(f"/v1/models/{name}/score?{asked}", content=sent, headers=headers)
    assert answer.status_code in (200, 400, 406), answer.text
    if answer.status_code != 200:
        assert answer.json()["error"]
    elif accepted == "application/json":
        assert all(row["label"] in (1, -1, None) for row in answer.json()["rows"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=200)
    | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(
        [
            "application/json",
            "application/x-ndjson",
            "text/csv",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.arrow.file",
        ]
    ),
    ASKED,
)
def test_any_bytes(client, body, kind, asked):
    headers = {"content-type": kind}
    answer = client.post(f"/v1/models/penguins/score?{asked}", content=body, headers=headers)
    assert answer.status_code in (200, 400), answer.text

"""Rows that are judged by what is normal for their group."""

import refold

ROWS = [
    {"machine": "M3", "heat": 90.2},
    {"machine": "M3", "heat": 120.2},
    {"machine": "M-new", "heat": 120.2},
    {"machine": None, "heat": 120.2},
]


def test_one_row_and_many_have_the_labels_of_the_model(client, models):
    expected = refold.load(models["fleet"]).predict(ROWS).tolist()
    assert expected[:2] == [1, -1]
    many = client.post("/v1/models/fleet/score", json=ROWS).json()["rows"]
    alone = [client.post("/v1/models/fleet/score", json=[row]).json()["rows"][0] for row in ROWS]
    assert [row["label"] for row in many] == expected
    assert alone == many


def test_a_reason_names_the_group(client):
    found = client.post("/v1/models/fleet/score?explain=full", json=ROWS[1:2]).json()["rows"][0]
    assert "for machine M3" in str(found["reasons"])


def test_a_row_without_the_column_of_the_group_is_refused_by_name(client):
    answer = client.post("/v1/models/fleet/score", json=[{"heat": 90.0}])
    assert answer.status_code == 400
    assert answer.json()["column"] == "machine"


def test_a_cell_that_is_no_number_is_refused_by_row_and_column(client):
    answer = client.post("/v1/models/fleet/score", json=[ROWS[0], {"machine": "M1", "heat": "hot"}])
    assert answer.status_code == 400
    assert (answer.json()["row"], answer.json()["column"]) == (1, "heat")


def test_rows_are_watched_for_drift_against_what_was_expected(client_of):
    client = client_of(drift=True)
    client.post("/v1/models/fleet/score", json=[{"machine": "M9", "heat": 270.0}] * 50)
    assert client.get("/v1/models/fleet/drift").json()["rows"] == 50

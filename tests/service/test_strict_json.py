"""One rule for the cells of a request: JSON as its standard says, and the schema of a row."""

import json

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

import refold
from refold.service import ModelStore, create

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "torque": rng.normal(75, 2, 300).round(2),
            "angle": [f"{angle:.1f} mm" for angle in rng.normal(300, 9, 300)],
            "day": [f"2026-03-{day:02d}" for day in rng.integers(1, 28, 300)],
            "machine": rng.choice(["A", "B"], 300),
        }
    )
    file = tmp_path_factory.mktemp("bolts") / "bolts.json"
    refold.save(refold.Detector(alpha=0.05).fit(table), file)
    return file


@pytest.fixture(scope="module")
def bolts(model_file):
    with TestClient(create(ModelStore({"bolts": model_file}), log=lambda entry: None)) as client:
        yield client


GOOD = {"torque": 75.1, "angle": "300.5 mm", "day": "2026-03-12", "machine": "A"}
AT = "/v1/models/bolts/score"


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("torque", "abc", "'abc' is not a number"),
        ("torque", "75.1", "'75.1' is not a number"),
        ("torque", True, "true is not a number"),
        ("torque", 10**400, "too large"),
        ("angle", "abc", "'abc' is not a number"),
        ("angle", True, "true is not a text or number"),
        ("day", "yesterday", "'yesterday' is not a date"),
        ("day", False, "false is not a text or number"),
        ("machine", ["A"], "a list"),
        ("machine", 10**400, "too large"),
    ],
)
def test_a_cell_that_the_schema_does_not_allow_is_named_skipped_or_judged(
    bolts, model_file, column, cell, problem
):
    rows = [GOOD, {**GOOD, column: cell}, GOOD]
    answer = bolts.post(AT, json=rows)
    assert answer.status_code == 400
    assert (answer.json()["row"], answer.json()["column"]) == (1, column)
    assert problem in answer.json()["error"]
    found = bolts.post(f"{AT}?on_bad=skip", json=rows).json()["rows"]
    assert [row["label"] is None for row in found] == [False, True, False]
    assert problem in found[1]["problem"]
    alone = bolts.post(AT, json=[GOOD]).json()["rows"][0]
    assert found[0] == found[2] == alone
    judged = bolts.post(f"{AT}?on_bad=judge", json=rows)
    if "a list" in problem:
        assert judged.status_code == 400
    else:
        [label] = refold.load(model_file).predict([rows[1]])
        assert judged.json()["rows"][1]["label"] == label == (1 if cell == "75.1" else -1)


@pytest.mark.parametrize("kind", ["text/csv", "application/vnd.apache.arrow.stream"])
def test_other_formats_have_the_same_rule(bolts, kind):
    rows = pd.DataFrame([GOOD, {**GOOD, "day": "yesterday"}, GOOD])
    body = rows.to_csv(index=False).encode()
    if kind != "text/csv":
        import pyarrow as pa

        out = pa.BufferOutputStream()
        table = pa.Table.from_pandas(rows)
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
        body = out.getvalue().to_pybytes()
    sent = {"content": body, "headers": {"content-type": kind}}
    answer = bolts.post(AT, **sent)
    assert answer.status_code == 400
    assert (answer.json()["row"], answer.json()["column"]) == (1, "day")
    found = bolts.post(f"{AT}?on_bad=skip", **sent).json()["rows"]
    assert ["problem" in row for row in found] == [False, True, False]
    labels = [row["label"] for row in bolts.post(f"{AT}?on_bad=judge", **sent).json()["rows"]]
    assert labels == [1, -1, 1]


@pytest.mark.parametrize(
    "cell",
    ["1_000", "\uff11", "\u0663", "0x10", "1d5", "inf", "1e400", "true", "1 000", " 1 ", "NA", "-"],
)
def test_a_number_in_csv_is_one_whatever_is_done_with_those_that_are_none(client, cell):
    body = f"x0,x1,x2\n0.1,0.2,0.3\n{cell},0.5,x\n{cell},0.5,0.1\n".encode()
    kind = {"content-type": "text/csv"}
    at = "/v1/models/ref/score"
    strict = client.post(at, content=body.replace(b"x\n", b"0\n"), headers=kind)
    found = client.post(f"{at}?on_bad=skip", content=body, headers=kind).json()["rows"]
    assert "label" in found[0]
    assert found[1]["label"] is None
    if strict.status_code == 200:
        assert found[2] == strict.json()["rows"][2]
        assert "'x' is not a number" in found[1]["problem"]
    else:
        assert strict.json()["error"].partition("'x0': ")[2][:-1] in found[2]["problem"]


def test_a_column_of_true_and_false_is_one_in_csv_whatever_is_done_with_other_cells(client):
    body = b"x0,x1,x2\nfalse,0.2,0.3\nTrue,0.5,0.1\n"
    sent = {"headers": {"content-type": "text/csv"}}
    at = "/v1/models/ref/score"
    strict = client.post(at, content=body, **sent).json()["rows"]
    found = client.post(f"{at}?on_bad=skip", content=body + b"2,0,0\n", **sent).json()["rows"]
    assert found[:2] == strict
    assert "'2' is neither true nor false" in found[2]["problem"]


def test_what_the_schema_says_of_each_column_is_what_is_taken(bolts):
    row = bolts.get("/v1/models/bolts").json()["row"]["properties"]
    allowed = {name: set(column["type"]) for name, column in row.items()}
    assert allowed["torque"] == {"number", "null"}
    cells = {"number": 75, "string": "300.5 mm", "boolean": True, "null": None}
    for name, types in allowed.items():
        for kind, cell in cells.items():
            sent = {**GOOD, name: "2026-03-12" if (name, kind) == ("day", "string") else cell}
            status = bolts.post(AT, json=[sent]).status_code
            if kind not in types:
                assert status == 400, (name, kind)
            elif (name, kind) != ("day", "number"):  # a number that is no date is unreadable
                assert status == 200, (name, kind)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("on_bad", ["error", "skip", "judge"])
def test_words_that_are_no_json_are_refused_with_their_place(bolts, word, on_bad):
    body = json.dumps([GOOD, {**GOOD, "torque": 0}]).replace('"torque": 0', f'"torque": {word}')
    answer = bolts.post(f"{AT}?on_bad={on_bad}", content=body, headers=JSON)
    assert answer.status_code == 400
    assert (answer.json()["row"], answer.json()["column"]) == (1, "torque")
    assert word in answer.json()["error"]


def test_a_key_that_is_there_twice_is_refused_with_its_place(bolts):
    body = json.dumps([GOOD, GOOD]).replace('"machine"', '"torque": 80, "machine"')
    answer = bolts.post(AT, content=body, headers=JSON)
    assert (answer.status_code, answer.json()["column"]) == (400, "torque")
    columns = json.dumps({name: [cell] for name, cell in GOOD.items()})
    twice = columns.replace('"machine"', '"day": ["2026-03-13"], "machine"')
    answer = bolts.post(AT, content=twice, headers=JSON)
    assert (answer.status_code, answer.json()["column"]) == (400, "day")


def test_a_line_that_is_no_json_is_a_problem_of_its_row(bolts):
    lines = [json.dumps(GOOD), json.dumps(GOOD).replace("75.1", "NaN"), "{", json.dumps(GOOD)]
    sent = {"content": "\n".join(lines), "headers": {"content-type": "application/x-ndjson"}}
    answer = bolts.post(AT, **sent)
    assert (answer.status_code, answer.json()["row"]) == (400, 1)
    found = bolts.post(f"{AT}?on_bad=skip", **sent).json()["rows"]
    assert ["problem" in row for row in found] == [False, True, True, False]


@pytest.mark.parametrize("digits", [309, 400, 4300, 4301, 100_000])
def test_python_does_not_speak_to_clients(bolts, digits):
    for number in ("9" * digits, f"-{'9' * digits}", f"1e{digits}"):
        body = json.dumps([{**GOOD, "torque": 0}]).replace('"torque": 0', f'"torque": {number}')
        answer = bolts.post(AT, content=body, headers=JSON)
        assert (answer.status_code, answer.json()["column"]) == (400, "torque")
        assert not {"sys.", "int_max", "Error", "Expecting"} & set(answer.text.split())


@pytest.mark.parametrize("body", [b"[1 2]", b"{'a': 1}", b'["\xff"]', b"[" * 5000, b'[{"a" 1}]'])
def test_errors_of_json_say_where_in_our_words(bolts, body):
    text = bolts.post(AT, content=body, headers=JSON).json()["error"]
    assert "Expecting" not in text
    assert "delimiter" not in text
    assert "codec" not in text


def test_texts_that_cannot_be_written_in_utf8_are_judged(bolts):
    body = json.dumps([{**GOOD, "machine": "\ud800"}])
    for asked in (AT, f"{AT}?explain=full"):
        answer = bolts.post(asked, content=body, headers=JSON)
        assert answer.status_code == 200
        assert answer.json()["rows"][0]["label"] == -1
